/** Tensors in files: safetensors, read and written, and the initializers of ONNX models. */
module dev.minifloat.formats {
  requires transitive dev.minifloat;
  requires com.google.protobuf;
  requires tools.jackson.core;

  exports dev.minifloat.formats;
  exports dev.minifloat.formats.layout;
}
