package dev.minifloat.cuda.internal.plan;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.cuda.internal.driver.Arguments;
import dev.minifloat.kernels.ParameterType;
import java.lang.foreign.MemorySegment;

/** The arguments of a launch in the backend's own terms: views, whole tensors, enums. */
public final class Parameters {
  private static final long WIDTH = rope("width");
  private static final long SEQUENCE = rope("sequence");
  private static final long DIMS = rope("dims");
  private static final long LOG2_BASE = rope("log2Base");
  private static final long INTERLEAVED = rope("interleaved");

  private final Arguments arguments;

  /** Gives what it is given to some arguments. */
  public Parameters(Arguments arguments) {
    this.arguments = arguments;
  }

  private static long rope(String member) {
    return ParameterType.ROPE.layout().byteOffset(groupElement(member));
  }

  /** A view. */
  public Parameters view(DeviceView view) {
    view.write(arguments.struct(ParameterType.VIEW), 0);
    return this;
  }

  /** A tensor map, as the driver has encoded it. */
  public Parameters tensorMap(MemorySegment encoded) {
    arguments.struct(ParameterType.TENSOR_MAP).copyFrom(encoded);
    return this;
  }

  /** A tensor to fill: its address and the number of its elements. */
  public Parameters whole(Whole out) {
    return pointer(out.address()).i64(out.count());
  }

  /** A device address. */
  public Parameters pointer(long address) {
    arguments.pointer(address);
    return this;
  }

  /** A 32-bit integer. */
  public Parameters i32(int value) {
    arguments.i32(value);
    return this;
  }

  /** A constant of an enum that kernels know. */
  public Parameters code(Enum<?> constant) {
    return i32(Codes.of(constant));
  }

  /** 1 for true. */
  public Parameters flag(boolean value) {
    return i32(value ? 1 : 0);
  }

  /** A 64-bit integer. */
  public Parameters i64(long value) {
    arguments.i64(value);
    return this;
  }

  /** An F32. */
  public Parameters f32(float value) {
    arguments.f32(value);
    return this;
  }

  /** A scale grid. */
  public Parameters grid(ScaleGrid grid) {
    Grids.write(grid, arguments.struct(ParameterType.GRID), 0);
    return this;
  }

  /**
   * How pairs are turned.
   *
   * @param width columns
   * @param sequence rows after which positions begin anew
   * @param dims columns that are turned
   * @param base the angle of pair p is position · base^(−2p / dims)
   * @param interleaved whether the columns of a pair are neighbours
   */
  public Parameters rope(long width, long sequence, long dims, float base, boolean interleaved) {
    MemorySegment rope = arguments.struct(ParameterType.ROPE);
    rope.set(JAVA_LONG, WIDTH, width);
    rope.set(JAVA_LONG, SEQUENCE, sequence);
    rope.set(JAVA_LONG, DIMS, dims);
    rope.set(JAVA_DOUBLE, LOG2_BASE, Math.log(base) / Math.log(2));
    rope.set(JAVA_INT, INTERLEAVED, interleaved ? 1 : 0);
    return this;
  }

  /** What follows a product. */
  public Parameters epilogue(Epilogue epilogue) {
    epilogue.write(arguments.struct(ParameterType.EPILOGUE), 0);
    return this;
  }
}
