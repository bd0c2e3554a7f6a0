package dev.minifloat.kernels;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Which kernels there are, what each takes and where its PTX lies: {@code catalog.json} beside this
 * class, which is checked against the PTX when this module is built.
 */
public final class KernelCatalog {
  private static final String RESOURCE = "catalog.json";

  private final List<KernelFile> files;
  private final List<KernelEntry> kernels;
  private final Map<String, List<KernelEntry>> byEntry = new HashMap<>();

  KernelCatalog(List<KernelFile> files, List<KernelEntry> kernels) {
    this.files = List.copyOf(files);
    this.kernels = List.copyOf(kernels);
    for (KernelEntry kernel : kernels) {
      byEntry.computeIfAbsent(kernel.entry(), _ -> new ArrayList<>()).add(kernel);
    }
  }

  /**
   * Reads the catalog of this module.
   *
   * @throws IllegalStateException if the module was built wrongly: the resource is absent, or isn't
   *     a catalog
   */
  public static KernelCatalog load() {
    try (InputStream in = resource(RESOURCE)) {
      return CatalogReader.read(in);
    } catch (IOException e) {
      throw new IllegalStateException("Can't read the catalog of kernels, " + RESOURCE, e);
    }
  }

  /**
   * The SHA-256 of the catalog, in hexadecimal digits: as the catalog has the hash of each file of
   * PTX, equal ones mean equal kernels.
   */
  public static String sha256() {
    try (InputStream in = resource(RESOURCE)) {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(in.readAllBytes());
      return HexFormat.of().formatHex(hash);
    } catch (IOException e) {
      throw new IllegalStateException("Can't read the catalog of kernels, " + RESOURCE, e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JDK has SHA-256", e);
    }
  }

  private static InputStream resource(String path) {
    InputStream in = KernelCatalog.class.getResourceAsStream(path);
    if (in == null) {
      throw new IllegalStateException(
          "The module dev.minifloat.kernels has no resource " + path + "; its jar is incomplete");
    }
    return in;
  }

  /** All files. */
  public List<KernelFile> files() {
    return files;
  }

  /** All kernels, in the order of the catalog. */
  public List<KernelEntry> kernels() {
    return kernels;
  }

  /**
   * The kernels of an operation that a device runs, for operands of given types and scalings: the
   * newest target first, then those made for the fewest types.
   *
   * @param capability of the device: 80 for 8.0, 89 for 8.9
   * @param types names of {@code DType}s of the operands and the result, in order; fewer for any
   * @param scalings of the operands; empty for any
   */
  public List<KernelEntry> find(
      Operation operation, int capability, List<String> types, List<String> scalings) {
    Objects.requireNonNull(operation, "operation");
    Objects.requireNonNull(types, "types");
    Objects.requireNonNull(scalings, "scalings");
    if (types.size() > 3) {
      throw new IllegalArgumentException(
          "types: " + types + " are more than two operands and a result have");
    }
    return kernels.stream()
        .filter(kernel -> kernel.operation() == operation)
        .filter(kernel -> refusal(kernel, capability, types, scalings).isEmpty())
        .sorted(
            Comparator.comparingInt((KernelEntry kernel) -> -kernel.file().target().capability())
                .thenComparingInt(KernelEntry::breadth))
        .toList();
  }

  /**
   * The kernels of an operation that {@link #find} leaves out, each with the reason, in the
   * catalog's order.
   */
  public Map<KernelEntry, String> refusals(
      Operation operation, int capability, List<String> types, List<String> scalings) {
    Map<KernelEntry, String> refusals = new LinkedHashMap<>();
    for (KernelEntry kernel : kernels) {
      if (kernel.operation() == operation) {
        refusal(kernel, capability, types, scalings).ifPresent(why -> refusals.put(kernel, why));
      }
    }
    return refusals;
  }

  private static Optional<String> refusal(
      KernelEntry kernel, int capability, List<String> types, List<String> scalings) {
    Target target = kernel.file().target();
    return target.runsOn(capability)
        ? kernel.refusal(types, scalings)
        : Optional.of("is for " + target.devices());
  }

  /**
   * The kernel of a name that a device runs, of the newest target if there are several.
   *
   * @throws IllegalArgumentException if there is none, saying whether the name or the device is the
   *     reason
   */
  public KernelEntry kernel(String entry, int capability) {
    List<KernelEntry> named = byEntry.get(Objects.requireNonNull(entry, "entry"));
    if (named == null) {
      throw new IllegalArgumentException("entry: there is no kernel " + entry);
    }
    Optional<KernelEntry> newest =
        named.stream()
            .filter(kernel -> kernel.file().target().runsOn(capability))
            .max(Comparator.comparingInt(kernel -> kernel.file().target().capability()));
    return newest.orElseThrow(
        () ->
            new IllegalArgumentException(
                "capability: %s is there for %s, and a device of sm_%d runs none of these"
                    .formatted(
                        entry,
                        named.stream().map(kernel -> kernel.file().target()).toList(),
                        capability)));
  }

  /**
   * The bytes of a PTX file, without a zero at their end.
   *
   * @throws IllegalStateException if the resource is absent
   * @throws IOException if it can't be read
   */
  public byte[] open(KernelFile file) throws IOException {
    try (InputStream in = resource(file.path())) {
      return in.readAllBytes();
    }
  }
}
