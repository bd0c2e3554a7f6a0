package dev.minifloat.formats;

/**
 * An initializer and where its bytes are.
 *
 * @param info what is known of it
 * @param source how to come by its bytes
 */
record OnnxTensor(TensorInfo info, Source source) {
  /** Where the bytes of a tensor are. */
  sealed interface Source {
    /** In the ONNX file at {@link TensorInfo#offset}, as they are. */
    record Inline() implements Source {}

    /**
     * In the ONNX file, as elements of a repeated field that must be gathered or decoded.
     *
     * @param field the number of the field in {@code TensorProto}
     * @param message where the {@code TensorProto} begins
     * @param length its length in bytes
     */
    record Typed(int field, long message, long length) implements Source {}

    /**
     * In another file, at {@link TensorInfo#offset}, as they are.
     *
     * @param location its path, relative to the directory of the ONNX file, in its shortest form
     */
    record External(String location) implements Source {}
  }
}
