/** The backend on NVIDIA GPUs, through the Foreign Function and Memory API. */
module dev.minifloat.cuda {
  requires transitive dev.minifloat;
  requires dev.minifloat.bindings;
  requires dev.minifloat.kernels;
  requires org.slf4j;

  exports dev.minifloat.cuda;

  uses dev.minifloat.cuda.driver.SimulatorProvider;

  provides dev.minifloat.spi.BackendProvider with
      dev.minifloat.cuda.CudaProvider,
      dev.minifloat.cuda.SimulatedCudaProvider;
}
