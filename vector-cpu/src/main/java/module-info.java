/** The backend on the Vector API. */
module dev.minifloat.cpu {
  requires transitive dev.minifloat;
  requires jdk.incubator.vector;

  exports dev.minifloat.cpu;

  provides dev.minifloat.spi.BackendProvider with
      dev.minifloat.cpu.VectorProvider;
}
