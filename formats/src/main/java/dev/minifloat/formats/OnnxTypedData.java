package dev.minifloat.formats;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The repeated fields of a {@code TensorProto} that can hold elements instead of {@code raw_data}:
 * first checked and counted, later decoded. Each may be packed (one field of many numbers),
 * unpacked (many fields of one), or both in turn.
 *
 * <p>{@code int32_data} holds one integer, variable in length, for each element of 8 or 16 bits or
 * of I32, with the bits of floating-point types in its low bits; of types narrower than a byte, for
 * each byte of packed elements.
 */
final class OnnxTypedData {
  static final int FLOAT_DATA = 4;
  static final int INT32_DATA = 5;
  static final int INT64_DATA = 7;
  static final int DOUBLE_DATA = 10;
  static final int UINT64_DATA = 11;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int field;
  private long count;
  private long first = -1;
  private boolean contiguous = true;
  private long min = Long.MAX_VALUE;
  private long max = Long.MIN_VALUE;

  /** Counts the elements of one field of one tensor. */
  OnnxTypedData(int field) {
    this.field = field;
  }

  /** Where the first element stands, or −1. */
  long first() {
    return first;
  }

  int field() {
    return field;
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Whether the bytes in the file are those of the tensor: one packed field of fixed width. */
  boolean isInline() {
    return contiguous && (field == FLOAT_DATA || field == DOUBLE_DATA);
  }

  private static int fixedWidth(int field) {
    return switch (field) {
      case FLOAT_DATA -> Integer.BYTES;
      case DOUBLE_DATA -> Long.BYTES;
      default -> 0;
    };
  }

  /** Reads over the current field of {@code in}. */
  void scan(ProtoReader in) {
    int width = fixedWidth(field);
    boolean packed = in.isLengthDelimited();
    contiguous &= packed && count == 0;
    if (width == 0) {
      forEachVarint(in, this::note);
    } else if (packed) {
      int length = in.skipBytes();
      if (length % width != 0) {
        throw in.error(length + " bytes of packed numbers are no multiple of " + width);
      }
      note(in, length, length / width);
    } else {
      note(in, width, 1);
      if (width == Integer.BYTES) {
        in.fixed32();
      } else {
        in.fixed64();
      }
    }
  }

  private void note(ProtoReader in, int length, int elements) {
    if (first < 0) {
      first = in.position() - (in.isLengthDelimited() ? length : 0);
    }
    count += elements;
  }

  private void note(long position, long value) {
    if (first < 0) {
      first = position;
    }
    count++;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }

  /** Takes one integer and where it stands. */
  private interface VarintSink {
    void accept(long position, long value);
  }

  private static void forEachVarint(ProtoReader in, VarintSink sink) {
    if (!in.isLengthDelimited()) {
      sink.accept(in.position(), in.varint());
      return;
    }
    in.enter();
    while (!in.atEnd()) {
      long position = in.position();
      sink.accept(position, in.rawVarint());
    }
    in.leave();
  }

  /**
   * Checks that what was scanned is what a tensor needs.
   *
   * @return what is wrong, or null
   */
  String check(StorageType type, long elements, long byteSize) {
    if (!holds(type)) {
      return name() + " can't hold " + type;
    }
    long needed =
        switch (field) {
          case FLOAT_DATA -> byteSize / Integer.BYTES;
          case INT32_DATA -> type.bits() < 8 ? byteSize : elements;
          default -> elements;
        };
    if (count != needed) {
      return name() + " has " + count + " numbers, and the shape needs " + needed;
    }
    long low = lowest(type);
    long high = highest(type);
    if (count > 0 && low < high && (min < low || max > high)) {
      return name()
          + " holds "
          + (min < low ? min : max)
          + ", which is outside "
          + low
          + " … "
          + high
          + ", the range of "
          + type;
    }
    return null;
  }

  private boolean holds(StorageType type) {
    return switch (type) {
      case F32, C64 -> field == FLOAT_DATA;
      case F64 -> field == DOUBLE_DATA;
      case I64 -> field == INT64_DATA;
      case U32, U64 -> field == UINT64_DATA;
      case U2, I2, U4, I4, BOOL, F4, F6_E2M3, F6_E3M2, U8, I8 -> field == INT32_DATA;
      case F8_E5M2, F8_E4M3, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ -> field == INT32_DATA;
      case I16, U16, F16, BF16, I32 -> field == INT32_DATA;
    };
  }

  private String name() {
    return switch (field) {
      case FLOAT_DATA -> "float_data";
      case INT32_DATA -> "int32_data";
      case INT64_DATA -> "int64_data";
      case DOUBLE_DATA -> "double_data";
      default -> "uint64_data";
    };
  }

  /** Bytes of packed elements and bit patterns may have been written as signed numbers. */
  private long lowest(StorageType type) {
    return switch (field) {
      case INT32_DATA -> type == StorageType.I32 ? Integer.MIN_VALUE : -(1L << (unit(type) - 1));
      default -> 0;
    };
  }

  /** Equal to {@link #lowest} where the field's own range is that of the type. */
  private long highest(StorageType type) {
    return switch (field) {
      case INT32_DATA ->
          switch (type) {
            case I32 -> Integer.MAX_VALUE;
            case I8, I16 -> (1L << (unit(type) - 1)) - 1;
            default -> (1L << unit(type)) - 1;
          };
      case UINT64_DATA -> type == StorageType.U32 ? 0xFFFF_FFFFL : 0;
      default -> 0;
    };
  }

  private static int unit(StorageType type) {
    return Math.max(8, type.bits());
  }

  /**
   * The elements of a field that {@link #check} has found good, as {@link StorageType} packs them.
   *
   * @param file the ONNX file, for messages
   * @param bytes all of it
   * @param tensor the tensor
   * @param source where its message is
   * @param arena owns the result
   */
  static MemorySegment decode(
      String file,
      MemorySegment bytes,
      TensorInfo tensor,
      OnnxTensor.Source.Typed source,
      Arena arena) {
    int field = source.field();
    MemorySegment target = arena.allocate(tensor.byteSize(), Long.BYTES);
    ProtoReader in =
        new ProtoReader(file, bytes.asSlice(source.message(), source.length()), source.message());
    in.about(tensor.name());
    int step =
        switch (field) {
          case FLOAT_DATA -> Integer.BYTES;
          case INT32_DATA -> unit(tensor.type()) / 8;
          default -> tensor.type().bits() / 8;
        };
    Cursor cursor = new Cursor(target, step);
    for (int next = in.nextField(); next != 0; next = in.nextField()) {
      if (next != field) {
        in.skip();
      } else if (fixedWidth(field) == 0) {
        forEachVarint(in, (_, value) -> cursor.put(value));
      } else if (in.isLengthDelimited()) {
        int length = in.skipBytes();
        cursor.copy(bytes, in.position() - length, length);
      } else {
        cursor.put(step == Integer.BYTES ? in.fixed32() : in.fixed64());
      }
    }
    return target.asReadOnly();
  }

  /** Fills a segment with numbers of one width. */
  private static final class Cursor {
    private final MemorySegment target;
    private final int step;
    private long at;

    Cursor(MemorySegment target, int step) {
      this.target = target;
      this.step = step;
    }

    void put(long value) {
      switch (step) {
        case Byte.BYTES -> target.set(ValueLayout.JAVA_BYTE, at, (byte) value);
        case Short.BYTES -> target.set(PackedElements.SHORT, at, (short) value);
        case Integer.BYTES -> target.set(PackedElements.INT, at, (int) value);
        default -> target.set(LONG, at, value);
      }
      at += step;
    }

    void copy(MemorySegment source, long from, int length) {
      MemorySegment.copy(source, from, target, at, length);
      at += length;
    }
  }
}
