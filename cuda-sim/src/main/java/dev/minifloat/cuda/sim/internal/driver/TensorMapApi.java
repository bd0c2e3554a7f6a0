package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.exec.TensorMap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Tensor maps. The arguments are held to what CUDA's documentation of {@code
 * cuTensorMapEncodeTiled} says; what is written is the simulator's own encoding.
 */
final class TensorMapApi {
  private static final int MOST_RANK = 5;
  private static final long MOST_DIMENSION = 1L << 32;
  private static final long MOST_STRIDE = 1L << 40;
  private static final int MOST_BOX = 256;
  private static final int MOST_ELEMENT_STRIDE = 8;
  private static final int LAST_TYPE = 15;
  private static final int LAST_SWIZZLE = 6;
  private static final int LAST_PROMOTION = 3;
  private static final int MAP_ALIGN = 64;
  private static final int HOPPER = 90;

  private final Simulation simulation;

  TensorMapApi(Simulation simulation) {
    this.simulation = simulation;
  }

  private static void require(boolean holds, String text) {
    if (!holds) {
      throw CuResult.INVALID_VALUE.because(text);
    }
  }

  void cuTensorMapEncodeTiled(
      MemorySegment out,
      int type,
      int rank,
      MemorySegment globalAddress,
      MemorySegment globalDim,
      MemorySegment globalStrides,
      MemorySegment boxDim,
      MemorySegment elementStrides,
      int interleave,
      int swizzle,
      int promotion,
      int fill) {
    requireHopper();
    MemorySegment map = map(out);
    require(type >= 0 && type <= LAST_TYPE, "there is no data type %d".formatted(type));
    require(
        rank >= 1 && rank <= MOST_RANK,
        "a tensor of rank %s".formatted(Integer.toUnsignedString(rank)));
    require(interleave >= 0 && interleave <= 2, "there is no interleave %d".formatted(interleave));
    require(swizzle >= 0 && swizzle <= LAST_SWIZZLE, "there is no swizzle %d".formatted(swizzle));
    require(
        promotion >= 0 && promotion <= LAST_PROMOTION, "no L2 promotion %d".formatted(promotion));
    require(fill == 0 || fill == 1, "there is no fill %d".formatted(fill));
    require(interleave == 0 || rank >= 3, "interleaved layouts need a rank of 3 at least");
    requireSimulated(type, interleave, swizzle);
    TensorMap.Type element = TensorMap.Type.of(type);
    require(fill == 0 || element.isFloat(), "%s can't be filled with NaN".formatted(element));
    long address = globalAddress.address();
    require(address != 0 && address % 16 == 0, "globalAddress is 0x%x".formatted(address));
    TensorMap made =
        new TensorMap(
            element,
            address,
            dimensions(globalDim, rank),
            strides(globalStrides, globalDim, rank, element),
            box(boxDim, rank),
            elementStrides(elementStrides, rank),
            TensorMap.Swizzle.of(swizzle),
            fill == 1);
    requireInner(made);
    map.copyFrom(MemorySegment.ofArray(made.encode()));
  }

  /** What the documentation allows and the simulator doesn't have. */
  private static void requireSimulated(int type, int interleave, int swizzle) {
    if (TensorMap.Type.of(type) == null) {
      throw CuResult.NOT_SUPPORTED.because("packed data type " + type + " isn't simulated");
    }
    if (interleave != 0) {
      throw CuResult.NOT_SUPPORTED.because("interleaved layouts aren't simulated");
    }
    if (TensorMap.Swizzle.of(swizzle) == null) {
      throw CuResult.NOT_SUPPORTED.because("swizzle " + swizzle + " isn't simulated");
    }
  }

  private void requireHopper() {
    int architecture = simulation.current().device().properties().architecture();
    if (architecture < HOPPER) {
      throw CuResult.NOT_SUPPORTED.because("sm_" + architecture + " has no tensor maps");
    }
  }

  private static MemorySegment map(MemorySegment pointer) {
    MemorySegment map = Native.at(pointer, TensorMap.BYTES, "tensorMap");
    require(
        pointer.address() % MAP_ALIGN == 0,
        "tensorMap is 0x%x, which is no multiple of 64".formatted(pointer.address()));
    return map;
  }

  private static long[] dimensions(MemorySegment pointer, int rank) {
    long[] found = new long[rank];
    for (int d = 0; d < rank; d++) {
      found[d] = Native.getLong(pointer, d, "globalDim");
      require(
          found[d] >= 1 && found[d] <= MOST_DIMENSION,
          "globalDim[%d] is %d".formatted(d, found[d]));
    }
    return found;
  }

  private static long[] strides(
      MemorySegment pointer, MemorySegment globalDim, int rank, TensorMap.Type element) {
    long[] found = new long[rank - 1];
    long least = Native.getLong(globalDim, 0, "globalDim") * element.bytes();
    for (int d = 0; d < found.length; d++) {
      found[d] = Native.getLong(pointer, d, "globalStrides");
      require(
          found[d] > 0 && found[d] % 16 == 0 && found[d] < MOST_STRIDE,
          "globalStrides[%d] is %d; a multiple of 16 below 2^40 was expected"
              .formatted(d, found[d]));
      require(
          d > 0 || found[d] >= least,
          "globalStrides[0] is %d, and a row has %d bytes".formatted(found[d], least));
    }
    return found;
  }

  private static int[] box(MemorySegment pointer, int rank) {
    int[] found = new int[rank];
    for (int d = 0; d < rank; d++) {
      found[d] = Native.getInt(pointer, d, "boxDim");
      require(
          found[d] >= 1 && found[d] <= MOST_BOX,
          "boxDim[%d] is %s; 1 to 256 was expected"
              .formatted(d, Integer.toUnsignedString(found[d])));
    }
    return found;
  }

  private static int[] elementStrides(MemorySegment pointer, int rank) {
    int[] found = new int[rank];
    for (int d = 0; d < rank; d++) {
      found[d] = Native.getInt(pointer, d, "elementStrides");
      require(
          found[d] >= 1 && found[d] <= MOST_ELEMENT_STRIDE,
          "elementStrides[%d] is %s; 1 to 8 was expected"
              .formatted(d, Integer.toUnsignedString(found[d])));
    }
    // Without interleaving, dimension 0 has none.
    found[0] = 1;
    return found;
  }

  private static void requireInner(TensorMap map) {
    int bytes = map.box()[0] * map.type().bytes();
    require(
        bytes % 16 == 0, "a box's row has %d bytes, which is no multiple of 16".formatted(bytes));
    if (map.swizzle() == TensorMap.Swizzle.NONE) {
      return;
    }
    int span = map.swizzle().span();
    require(bytes <= span, "a box's row has %d bytes, the swizzle spans %d".formatted(bytes, span));
    if (bytes < span) {
      throw CuResult.NOT_SUPPORTED.because(
          "a box's row has %d bytes, the swizzle spans %d: rows with gaps aren't simulated"
              .formatted(bytes, span));
    }
  }

  void cuTensorMapReplaceAddress(MemorySegment tensorMap, MemorySegment globalAddress) {
    requireHopper();
    MemorySegment bytes = map(tensorMap);
    TensorMap map = TensorMap.decode(bytes.toArray(ValueLayout.JAVA_BYTE));
    require(map != null, "tensorMap was made by no cuTensorMapEncodeTiled");
    long address = globalAddress.address();
    require(address != 0 && address % 16 == 0, "globalAddress is 0x%x".formatted(address));
    byte[] replaced = map.withAddress(address).encode();
    bytes.copyFrom(MemorySegment.ofArray(replaced));
  }
}
