package dev.minifloat.cuda.sim.internal.driver;

import java.util.ArrayList;
import java.util.List;

/**
 * What a device says of itself. The figures of an architecture are those of a card that has it, as
 * NVIDIA publishes them (CUDA C++ Programming Guide, "Compute Capabilities"); the memory is as
 * large as whoever makes the driver wants it.
 *
 * @param architecture compute capability as one number: 89 for 8.9
 * @param memoryBytes global memory
 * @param multiprocessors streaming multiprocessors
 * @param threadsPerMultiprocessor threads that one holds
 * @param blocksPerMultiprocessor blocks that one holds
 * @param sharedPerMultiprocessor bytes of shared memory of one
 * @param sharedPerBlock bytes of shared memory that a block may opt in to
 * @param l2Bytes second-level cache
 * @param busBits width of the memory bus
 * @param clockKilohertz of the multiprocessors
 * @param memoryKilohertz of the memory
 * @param singleToDouble how many times faster F32 is than F64
 */
public record DeviceProperties(
    int architecture,
    long memoryBytes,
    int multiprocessors,
    int threadsPerMultiprocessor,
    int blocksPerMultiprocessor,
    int sharedPerMultiprocessor,
    int sharedPerBlock,
    int l2Bytes,
    int busBits,
    int clockKilohertz,
    int memoryKilohertz,
    int singleToDouble) {

  /** The architectures that there are properties of. */
  private static final List<Integer> ARCHITECTURES = List.of(80, 86, 89, 90, 100, 120);

  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  /** What devices are called: sm_90, and as PTX made for it alone names it, sm_90a. */
  public static List<String> kinds() {
    List<String> kinds = new ArrayList<>();
    for (int number : ARCHITECTURES) {
      kinds.add("sm_" + number);
      if (number >= 90) {
        kinds.add("sm_" + number + "a");
      }
      if (number >= 100) {
        kinds.add("sm_" + number + "f");
      }
    }
    return kinds;
  }

  /** The properties of one of {@link #kinds}. */
  public static DeviceProperties named(String kind, long memoryBytes) {
    return of(Integer.parseInt(kind.replaceAll("[^0-9]", "")), memoryBytes);
  }

  /**
   * The properties of an architecture.
   *
   * @throws IllegalArgumentException if the simulator doesn't know it
   */
  public static DeviceProperties of(int architecture, long memoryBytes) {
    return switch (architecture) {
      case 80 ->
          new DeviceProperties(
              80,
              memoryBytes,
              108,
              2048,
              32,
              164 * KIB,
              163 * KIB,
              40 * MIB,
              5120,
              1_410_000,
              1_215_000,
              2);
      case 86 ->
          new DeviceProperties(
              86,
              memoryBytes,
              82,
              1536,
              16,
              100 * KIB,
              99 * KIB,
              6 * MIB,
              384,
              1_695_000,
              9_751_000,
              32);
      case 89 ->
          new DeviceProperties(
              89,
              memoryBytes,
              128,
              1536,
              24,
              100 * KIB,
              99 * KIB,
              72 * MIB,
              384,
              2_520_000,
              10_501_000,
              64);
      case 90 ->
          new DeviceProperties(
              90,
              memoryBytes,
              132,
              2048,
              32,
              228 * KIB,
              227 * KIB,
              50 * MIB,
              5120,
              1_980_000,
              2_619_000,
              2);
      case 100 ->
          new DeviceProperties(
              100,
              memoryBytes,
              148,
              2048,
              32,
              228 * KIB,
              227 * KIB,
              126 * MIB,
              8192,
              1_965_000,
              3_996_000,
              2);
      case 120 ->
          new DeviceProperties(
              120,
              memoryBytes,
              170,
              1536,
              24,
              100 * KIB,
              99 * KIB,
              96 * MIB,
              512,
              2_407_000,
              14_001_000,
              64);
      default ->
          throw new IllegalArgumentException(
              "architecture: %d is none of %s".formatted(architecture, ARCHITECTURES));
    };
  }

  int major() {
    return architecture / 10;
  }

  int minor() {
    return architecture % 10;
  }

  String name() {
    return "Simulated sm_" + architecture;
  }

  /** Whether a device of this kind runs code for a {@code .target}. */
  boolean runs(String target) {
    int wanted = Integer.parseInt(target.replaceAll("[^0-9]", ""));
    return switch (target.charAt(target.length() - 1)) {
      case 'a' -> wanted == architecture;
      case 'f' -> wanted / 10 == major() && wanted <= architecture;
      default -> wanted <= architecture;
    };
  }
}
