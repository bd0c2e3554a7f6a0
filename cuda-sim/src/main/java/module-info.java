/** A CUDA driver in Java, with a PTX interpreter as its device. */
module dev.minifloat.cuda.sim {
  requires dev.minifloat.bindings;
  requires org.slf4j;

  exports dev.minifloat.cuda.sim;
  exports dev.minifloat.cuda.sim.trace;

  provides dev.minifloat.cuda.driver.SimulatorProvider with
      dev.minifloat.cuda.sim.internal.SimulatedDrivers;
}
