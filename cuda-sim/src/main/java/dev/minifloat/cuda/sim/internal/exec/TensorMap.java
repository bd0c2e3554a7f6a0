package dev.minifloat.cuda.sim.internal.exec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.zip.CRC32;

/**
 * What a tensor map says (CUDA Driver API, {@code cuTensorMapEncodeTiled}). On a device its 128
 * bytes are opaque; these are the simulator's own:
 *
 * <pre>
 *   0  mark, checksum of the rest          56  dimensions less one, 4 bytes each
 *   8  address                             76  box, 2 bytes each
 *  16  type, rank, swizzle, fill           86  element strides, 1 byte each
 *  24  strides in bytes, 8 bytes each
 * </pre>
 *
 * @param type the element's type
 * @param address of element 0 in global memory
 * @param dimensions the tensor's extents, the fastest first
 * @param strides bytes from one element to the next along dimension 1, 2 …
 * @param box extents of what a copy moves
 * @param elementStrides every how manieth element of the box it takes
 * @param swizzle how rows of the box are permuted in shared memory
 * @param fillsNan whether what lies outside the tensor is NaN, not zero
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record TensorMap(
    Type type,
    long address,
    long[] dimensions,
    long[] strides,
    int[] box,
    int[] elementStrides,
    Swizzle swizzle,
    boolean fillsNan) {

  public static final int BYTES = 128;

  private static final int MARK = 0x544D_4150;
  private static final int MOST_RANK = 5;
  private static final int ADDRESS = 8;
  private static final int KINDS = 16;
  private static final int STRIDES = 24;
  private static final int DIMENSIONS = 56;
  private static final int BOX = 76;
  private static final int ELEMENT_STRIDES = 86;

  /** {@code CUtensorMapDataType}, in its order. */
  public enum Type {
    UINT8(1, 0),
    UINT16(2, 0),
    UINT32(4, 0),
    INT32(4, 0),
    UINT64(8, 0),
    INT64(8, 0),
    FLOAT16(2, 0x7FFF),
    FLOAT32(4, 0x7FFF_FFFF),
    FLOAT64(8, 0x7FFF_FFFF_FFFF_FFFFL),
    BFLOAT16(2, 0x7FFF),
    FLOAT32_FTZ(4, 0x7FFF_FFFF),
    TFLOAT32(4, 0x7FFF_FFFF),
    TFLOAT32_FTZ(4, 0x7FFF_FFFF);

    private static final List<Type> ALL = List.of(values());

    private final int bytes;
    private final long nan;

    Type(int bytes, long nan) {
      this.bytes = bytes;
      this.nan = nan;
    }

    /** The type of a number in {@code cuda.h}; null if the simulator doesn't have it. */
    public static Type of(int number) {
      return number < ALL.size() ? ALL.get(number) : null;
    }

    public int bytes() {
      return bytes;
    }

    public boolean isFloat() {
      return nan != 0;
    }

    long nan() {
      return nan;
    }
  }

  /**
   * {@code CUtensorMapSwizzle}: which bits of a shared address are changed by those three above
   * them, so that a column of a tile lies in different banks.
   *
   * <pre>
   *   address bit     9 8 7   6 5 4   3 2 1 0
   *   128 bytes       a b c → ^ ^ ^                bits 4–6 ^= bits 7–9
   *    64 bytes         b c →   ^ ^                bits 4–5 ^= bits 7–8
   *    32 bytes           c →     ^                bit  4   ^= bit  7
   * </pre>
   */
  public enum Swizzle {
    NONE(16),
    BYTES_32(32),
    BYTES_64(64),
    BYTES_128(128);

    private static final List<Swizzle> ALL = List.of(values());

    private final int span;

    Swizzle(int span) {
      this.span = span;
    }

    /** The swizzle of a number in {@code cuda.h}; null if the simulator doesn't have it. */
    public static Swizzle of(int number) {
      return number < ALL.size() ? ALL.get(number) : null;
    }

    /** Bytes among which pieces of 16 change places. */
    public int span() {
      return span;
    }

    /** Where what would lie at a shared address lies. */
    public int apply(int address) {
      return address ^ ((address >>> 7 & span / 16 - 1) << 4);
    }
  }

  public int rank() {
    return dimensions.length;
  }

  /** Elements of the box along a dimension, as a copy takes them. */
  int taken(int dimension) {
    return (box[dimension] + elementStrides[dimension] - 1) / elementStrides[dimension];
  }

  /** Bytes of a box in shared memory. */
  public int boxBytes() {
    int count = type.bytes;
    for (int d = 0; d < rank(); d++) {
      count *= taken(d);
    }
    return count;
  }

  /** The same map of another tensor. */
  public TensorMap withAddress(long value) {
    return new TensorMap(type, value, dimensions, strides, box, elementStrides, swizzle, fillsNan);
  }

  /** Its 128 bytes. */
  @SuppressWarnings("EnumOrdinal") // stands in bytes that only this class reads
  public byte[] encode() {
    byte[] encoded = new byte[BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(encoded).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(ADDRESS, address);
    bytes.put(KINDS, (byte) type.ordinal());
    bytes.put(KINDS + 1, (byte) rank());
    bytes.put(KINDS + 2, (byte) swizzle.ordinal());
    bytes.put(KINDS + 3, (byte) (fillsNan ? 1 : 0));
    for (int d = 0; d < rank(); d++) {
      if (d > 0) {
        bytes.putLong(STRIDES + 8 * (d - 1), strides[d - 1]);
      }
      bytes.putInt(DIMENSIONS + 4 * d, (int) (dimensions[d] - 1));
      bytes.putShort(BOX + 2 * d, (short) box[d]);
      bytes.put(ELEMENT_STRIDES + d, (byte) elementStrides[d]);
    }
    bytes.putInt(4, checksum(encoded));
    bytes.putInt(0, MARK);
    return encoded;
  }

  private static int checksum(byte[] encoded) {
    CRC32 crc = new CRC32();
    crc.update(encoded, ADDRESS, BYTES - ADDRESS);
    return (int) crc.getValue();
  }

  /** The map of 128 bytes; null if they are none. */
  public static TensorMap decode(byte[] encoded) {
    ByteBuffer bytes = ByteBuffer.wrap(encoded).order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.getInt(0) != MARK || bytes.getInt(4) != checksum(encoded)) {
      return null;
    }
    int rank = Math.min(bytes.get(KINDS + 1), MOST_RANK);
    long[] dimensions = new long[rank];
    long[] strides = new long[rank - 1];
    int[] box = new int[rank];
    int[] elementStrides = new int[rank];
    for (int d = 0; d < rank; d++) {
      if (d > 0) {
        strides[d - 1] = bytes.getLong(STRIDES + 8 * (d - 1));
      }
      dimensions[d] = (bytes.getInt(DIMENSIONS + 4 * d) & 0xFFFF_FFFFL) + 1;
      box[d] = bytes.getShort(BOX + 2 * d);
      elementStrides[d] = bytes.get(ELEMENT_STRIDES + d);
    }
    return new TensorMap(
        Type.of(bytes.get(KINDS)),
        bytes.getLong(ADDRESS),
        dimensions,
        strides,
        box,
        elementStrides,
        Swizzle.of(bytes.get(KINDS + 2)),
        bytes.get(KINDS + 3) != 0);
  }
}
