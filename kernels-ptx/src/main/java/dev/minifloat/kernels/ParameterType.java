package dev.minifloat.kernels;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;

/** What kernels take, with its layout: the structs of the CUDA sources, member by member. */
public enum ParameterType {
  /** A device address. */
  POINTER(JAVA_LONG),
  /** A 32-bit integer; ordinals of enums too. */
  I32(JAVA_INT),
  /** A 64-bit integer. */
  I64(JAVA_LONG),
  /** An F32. */
  F32(JAVA_FLOAT),
  /** {@code Grid} of view.cuh: a scale grid; every extent is at least 1. */
  GRID(
      MemoryLayout.structLayout(
          JAVA_LONG.withName("rows"),
          JAVA_LONG.withName("columns"),
          JAVA_LONG.withName("blockRows"),
          JAVA_LONG.withName("blockColumns"),
          JAVA_LONG.withName("gridRows"),
          JAVA_LONG.withName("gridColumns"))),
  /** {@code View} of view.cuh: a strided view; of rank 8 at most, so merge dimensions first. */
  VIEW(
      MemoryLayout.structLayout(
          JAVA_LONG.withName("data"),
          JAVA_LONG.withName("scales"),
          JAVA_LONG.withName("global"),
          JAVA_LONG.withName("offset"),
          GRID.layout.withName("grid"),
          JAVA_INT.withName("dtype"),
          JAVA_INT.withName("scaleKind"),
          JAVA_INT.withName("rank"),
          MemoryLayout.paddingLayout(4),
          MemoryLayout.sequenceLayout(8, JAVA_LONG).withName("extent"),
          MemoryLayout.sequenceLayout(8, JAVA_LONG).withName("stride"))),
  /** {@code Rope} of pointwise.cu. */
  ROPE(
      MemoryLayout.structLayout(
          JAVA_LONG.withName("width"),
          JAVA_LONG.withName("sequence"),
          JAVA_LONG.withName("dims"),
          JAVA_DOUBLE.withName("log2Base"),
          JAVA_INT.withName("interleaved"),
          MemoryLayout.paddingLayout(4))),
  /** {@code Epilogue} of epilogue.cuh: what follows a product. */
  EPILOGUE(
      MemoryLayout.structLayout(
          VIEW.layout.withName("c"),
          VIEW.layout.withName("bias"),
          JAVA_LONG.withName("out"),
          JAVA_LONG.withName("outScale"),
          JAVA_LONG.withName("amax"),
          JAVA_FLOAT.withName("alpha"),
          JAVA_FLOAT.withName("beta"),
          JAVA_INT.withName("activation"),
          JAVA_INT.withName("outType"))),
  /** {@code CUtensorMap}, which only the driver writes; at a multiple of 128 bytes. */
  TENSOR_MAP(MemoryLayout.sequenceLayout(128, JAVA_BYTE));

  private final MemoryLayout layout;

  ParameterType(MemoryLayout layout) {
    this.layout = layout;
  }

  /** Its layout; a {@link StructLayout} with the members' names, or a value. */
  public MemoryLayout layout() {
    return layout;
  }

  /** Its size in bytes. */
  public long byteSize() {
    return layout.byteSize();
  }
}
