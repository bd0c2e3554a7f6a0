package dev.minifloat.kernels;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Compiles every file of the catalog, and writes hashes, offsets, shared memory and registers into
 * it. What a kernel takes and what it promises is written by hand; so are a parameter's name and
 * type, which this checks against the PTX.
 *
 * <p>Run by the script {@code regenerate}, in the module's folder.
 */
final class Regenerate {
  private static final Path RESOURCES = Path.of("src/main/resources/dev/minifloat/kernels");

  private Regenerate() {}

  public static void main(String[] arguments) throws Exception {
    Path nvcc =
        CudaTools.nvcc()
            .orElseThrow(
                () -> new IOException("nvcc " + CudaTools.NVCC_RELEASE + " is not on the PATH"));
    Path ptxas =
        CudaTools.find("ptxas").orElseThrow(() -> new IOException("ptxas is not on the PATH"));
    KernelCatalog old;
    try (InputStream in = Files.newInputStream(RESOURCES.resolve("catalog.json"))) {
      old = CatalogReader.read(in);
    }
    KernelCatalog catalog = old;
    for (KernelFile file : old.files()) {
      if (arguments.length > 0 && !List.of(arguments).contains(file.path())) {
        continue;
      }
      Path path = RESOURCES.resolve(file.path());
      String text = CudaTools.compile(nvcc, file.source(), file.target(), file.version());
      Files.createDirectories(path.getParent());
      Files.writeString(path, text);
      Map<String, Integer> registers = Map.of();
      for (String device : file.assembledFor()) {
        Map<String, Integer> used = CudaTools.assemble(ptxas, path.toAbsolutePath(), device);
        registers = registers.isEmpty() ? used : registers;
      }
      // After each file, so that one that doesn't assemble loses nothing but itself.
      catalog = updated(catalog, file, text, registers);
      Files.writeString(
          RESOURCES.resolve("catalog.json"),
          CatalogWriter.write(catalog.files(), catalog.kernels()));
    }
  }

  private static KernelCatalog updated(
      KernelCatalog catalog, KernelFile file, String text, Map<String, Integer> registers)
      throws IOException {
    Ptx ptx = Ptx.parse(text);
    KernelFile hashed =
        new KernelFile(
            file.path(),
            file.source(),
            file.target(),
            file.version(),
            sha256(text.getBytes(StandardCharsets.UTF_8)),
            file.assembledFor());
    List<KernelEntry> kernels = new ArrayList<>();
    for (KernelEntry kernel : catalog.kernels()) {
      if (!kernel.file().path().equals(file.path())) {
        kernels.add(kernel);
        continue;
      }
      Ptx.Entry entry = ptx.entries().get(kernel.entry());
      if (entry == null) {
        throw new IOException(file.path() + " has no entry " + kernel.entry());
      }
      kernels.add(updated(kernel, hashed, entry, registers.get(kernel.entry())));
    }
    List<KernelFile> files =
        catalog.files().stream()
            .map(known -> known.path().equals(file.path()) ? hashed : known)
            .toList();
    return new KernelCatalog(files, kernels);
  }

  private static KernelEntry updated(
      KernelEntry kernel, KernelFile file, Ptx.Entry entry, int registers) throws IOException {
    List<KernelParameter> parameters = new ArrayList<>();
    if (kernel.parameters().size() != entry.sizes().size()) {
      throw new IOException(
          "%s has %d parameters in the catalog and %d in its PTX"
              .formatted(kernel.entry(), kernel.parameters().size(), entry.sizes().size()));
    }
    for (int i = 0; i < kernel.parameters().size(); i++) {
      KernelParameter parameter = kernel.parameters().get(i);
      if (parameter.type().byteSize() != entry.sizes().get(i)) {
        throw new IOException(
            "%s: parameter %s has %d bytes in the PTX, and a %s has %d"
                .formatted(
                    kernel.entry(),
                    parameter.name(),
                    entry.sizes().get(i),
                    parameter.type(),
                    parameter.type().byteSize()));
      }
      parameters.add(
          new KernelParameter(parameter.name(), parameter.type(), entry.offsets().get(i)));
    }
    return new KernelEntry(
        kernel.entry(),
        file,
        kernel.operation(),
        kernel.a(),
        kernel.b(),
        kernel.out(),
        kernel.scalings(),
        kernel.tile(),
        kernel.threads(),
        entry.shared(),
        kernel.dynamicShared(),
        registers,
        parameters,
        kernel.accumulator(),
        kernel.bound());
  }

  static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
