package dev.minifloat.kernels;

import java.util.List;

/**
 * A PTX file.
 *
 * @param path its resource, relative to this package
 * @param source the CUDA file it is compiled from, relative to {@code src/main/cuda}
 * @param target the oldest device that runs it
 * @param version the lowest {@code .version} of PTX that has its instructions, such as 7.0; a
 *     driver refuses what is newer than itself
 * @param sha256 of its bytes, in hexadecimal digits
 * @param assembledFor the devices that ptxas makes code for without spilling a register
 */
public record KernelFile(
    String path,
    String source,
    Target target,
    String version,
    String sha256,
    List<String> assembledFor) {
  /** Copies the list. */
  public KernelFile {
    assembledFor = List.copyOf(assembledFor);
  }
}
