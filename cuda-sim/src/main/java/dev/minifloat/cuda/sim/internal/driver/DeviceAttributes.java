package dev.minifloat.cuda.sim.internal.driver;

/** Values of {@code CUdevice_attribute}, by its numbers in {@code cuda.h}. */
final class DeviceAttributes {
  private static final int LAST = 147;

  private DeviceAttributes() {}

  static int value(Device device, int attribute) {
    DeviceProperties of = device.properties();
    boolean hopper = of.architecture() >= 90;
    return switch (attribute) {
      case 1, 2, 3 -> 1024; // threads of a block; its extent along x and y
      case 4 -> 64; // a block's extent along z
      case 5 -> Integer.MAX_VALUE; // a grid's extent along x
      case 6, 7 -> 65535; // a grid's extent along y and z
      case 8 -> Function.DEFAULT_SHARED;
      case 9 -> 65536; // constant memory
      case 10 -> 32; // threads of a warp
      case 11 -> Integer.MAX_VALUE; // pitch of a copy
      case 12, 82 -> 65536; // registers of a block and of a multiprocessor
      case 13 -> of.clockKilohertz();
      case 14, 30 -> 512; // alignment of textures and surfaces
      case 15, 31, 78, 79, 80, 90, 95, 99 ->
          1; // overlap, concurrent kernels, priorities, caches, …
      case 16 -> of.multiprocessors();
      case 19, 83, 89 -> 0; // no mapped host memory, no managed memory
      case 33 -> device.ordinal() + 1; // PCI bus
      case 36 -> of.memoryKilohertz();
      case 37 -> of.busBits();
      case 38 -> of.l2Bytes();
      case 39 -> of.threadsPerMultiprocessor();
      case 40 -> 2; // copy engines
      case 41 -> 1; // unified addressing
      case 51 -> 32; // alignment of a texture's pitch
      case 75 -> of.major();
      case 76 -> of.minor();
      case 81 -> of.sharedPerMultiprocessor();
      case 85 -> device.ordinal();
      case 87 -> of.singleToDouble();
      case 97 -> of.sharedPerBlock();
      case 106 -> of.blocksPerMultiprocessor();
      case 111 -> 1024; // shared memory that the driver keeps of each block
      case 113 -> 1; // registration as read-only
      case 115 -> 1; // memory pools
      case 120, 127 -> hopper ? 1 : 0; // clusters, tensor maps
      case 126 -> hopper ? 4 : 1;
      default -> {
        if (attribute < 1 || attribute > LAST) {
          throw CuResult.INVALID_VALUE.because("a device has no attribute " + attribute);
        }
        yield 0;
      }
    };
  }
}
