/** CUDA kernels as PTX, and the catalog that says what each of them does. */
module dev.minifloat.kernels {
  requires tools.jackson.core;

  exports dev.minifloat.kernels;
}
