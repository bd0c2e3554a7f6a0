/** The C functions, structs and constants of the CUDA driver. */
module dev.minifloat.bindings {
  exports dev.minifloat.cuda.driver to
      dev.minifloat.cuda,
      dev.minifloat.cuda.sim;
}
