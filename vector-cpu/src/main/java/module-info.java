/** The backend on the Vector API. */
module dev.minifloat.cpu {
  requires transitive dev.minifloat;
  requires jdk.incubator.vector;
  requires org.slf4j;
  // Measures allocations in the self-check; nothing else needs it.
  requires static jdk.management;

  exports dev.minifloat.cpu;

  provides dev.minifloat.spi.BackendProvider with
      dev.minifloat.cpu.VectorProvider;
}
