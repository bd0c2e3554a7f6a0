package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;

/** The end of a bulk copy that lies in global memory. */
sealed interface GlobalSide {
  /** Bytes that it has in shared memory. */
  int bytes();

  /** Faults where it runs out of what is allocated. */
  void check(GlobalMemory memory);

  /** What a load brings, in shared memory's order from an offset there on. */
  byte[] read(GlobalMemory memory, int sharedOffset, boolean checkInitialized);

  /** Takes what a store brings, in shared memory's order from an offset there on. */
  void write(GlobalMemory memory, int sharedOffset, byte[] data);

  /** Bytes side by side. */
  record Run(long address, int bytes) implements GlobalSide {
    @Override
    public void check(GlobalMemory memory) {
      if (bytes > 0) {
        memory.require(address, 1).offset(address, bytes);
      }
    }

    @Override
    public byte[] read(GlobalMemory memory, int sharedOffset, boolean checkInitialized) {
      byte[] data = new byte[bytes];
      if (bytes > 0) {
        Allocation from = memory.require(address, 1);
        from.copyOut(from.offset(address, bytes), data, 0, bytes, checkInitialized);
      }
      return data;
    }

    @Override
    public void write(GlobalMemory memory, int sharedOffset, byte[] data) {
      if (bytes > 0) {
        Allocation to = memory.require(address, 1);
        to.copyIn(to.offset(address, bytes), data, 0, bytes);
      }
    }
  }

  /**
   * A box of a tensor (PTX ISA, "Tensors: Tiled mode"). What lies outside the tensor is filled when
   * it is loaded, and left out when it is stored.
   *
   * @param map the tensor
   * @param at the box's first element, by dimension
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Box(TensorMap map, int[] at) implements GlobalSide {
    /** A run of elements along dimension 0 that lie in the tensor. */
    private interface RowAction {
      void apply(int boxByte, long address, int bytes);
    }

    @Override
    public int bytes() {
      return map.boxBytes();
    }

    /** Visits the parts of the box's rows that lie in the tensor. */
    private void rows(RowAction action) {
      int elementBytes = map.type().bytes();
      int rowElements = map.taken(0);
      int rows = bytes() / (rowElements * elementBytes);
      int[] index = new int[map.rank()];
      for (int row = 0; row < rows; row++) {
        long address = map.address();
        boolean inside = true;
        for (int d = 1; d < map.rank(); d++) {
          long coordinate = (long) at[d] + (long) index[d] * map.elementStrides()[d];
          inside &= coordinate >= 0 && coordinate < map.dimensions()[d];
          address += coordinate * map.strides()[d - 1];
        }
        if (inside) {
          long first = Math.max(0, -(long) at[0]);
          long end = Math.min(rowElements, map.dimensions()[0] - at[0]);
          if (first < end) {
            int boxByte = (int) (row * (long) rowElements + first) * elementBytes;
            action.apply(
                boxByte,
                address + (at[0] + first) * elementBytes,
                (int) (end - first) * elementBytes);
          }
        }
        for (int d = 1; d < map.rank() && ++index[d] == map.taken(d); d++) {
          index[d] = 0;
        }
      }
    }

    @Override
    public void check(GlobalMemory memory) {
      rows((boxByte, address, bytes) -> memory.require(address, 1).offset(address, bytes));
    }

    @Override
    public byte[] read(GlobalMemory memory, int sharedOffset, boolean checkInitialized) {
      byte[] dense = new byte[bytes()];
      if (map.fillsNan()) {
        int size = map.type().bytes();
        for (int i = 0; i < dense.length; i++) {
          dense[i] = (byte) (map.type().nan() >>> (8 * (i % size)));
        }
      }
      rows(
          (boxByte, address, bytes) -> {
            Allocation from = memory.require(address, 1);
            from.copyOut(from.offset(address, bytes), dense, boxByte, bytes, checkInitialized);
          });
      return swizzled(dense, sharedOffset);
    }

    @Override
    public void write(GlobalMemory memory, int sharedOffset, byte[] data) {
      // The permutation is its own inverse.
      byte[] dense = swizzled(data, sharedOffset);
      rows(
          (boxByte, address, bytes) -> {
            Allocation to = memory.require(address, 1);
            to.copyIn(to.offset(address, bytes), dense, boxByte, bytes);
          });
    }

    private byte[] swizzled(byte[] dense, int sharedOffset) {
      if (map.swizzle() == TensorMap.Swizzle.NONE) {
        return dense;
      }
      byte[] permuted = new byte[dense.length];
      for (int i = 0; i < dense.length; i += 16) {
        int to = map.swizzle().apply(sharedOffset + i) - sharedOffset;
        System.arraycopy(dense, i, permuted, to, 16);
      }
      return permuted;
    }

    /** Faults if a box in shared memory can't begin at an offset. */
    void checkShared(int offset) {
      if (offset % 128 != 0) {
        throw new DeviceFault(
            DeviceFault.Kind.MISALIGNED,
            "a tensor's box at shared address 0x%x, which is no multiple of 128 bytes"
                .formatted(offset));
      }
    }
  }
}
