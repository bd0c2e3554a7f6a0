package dev.minifloat.cuda.mutation;

import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.KernelFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** The catalog's files, read once. */
final class KernelTexts {
  private final KernelCatalog catalog = KernelCatalog.load();
  private final Map<String, PtxFile> byText = new LinkedHashMap<>();

  KernelTexts() {
    for (KernelFile file : catalog.files()) {
      try {
        String text = new String(catalog.open(file), StandardCharsets.ISO_8859_1);
        byText.put(text, new PtxFile(file, text));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The file that has a text. */
  PtxFile file(String text) {
    PtxFile file = byText.get(text);
    if (file == null) {
      throw new IllegalArgumentException("a text that is none of the catalog's");
    }
    return file;
  }

  /** A kernel by its name, for whatever device. */
  KernelEntry entry(String kernel) {
    return catalog.kernels().stream()
        .filter(entry -> entry.entry().equals(kernel))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no kernel " + kernel));
  }

  /** The file of a kernel. */
  PtxFile fileOf(KernelEntry entry) {
    return byText.values().stream()
        .filter(file -> file.file().equals(entry.file()))
        .findFirst()
        .orElseThrow();
  }
}
