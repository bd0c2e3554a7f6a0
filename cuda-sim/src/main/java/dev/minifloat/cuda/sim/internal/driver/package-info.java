/**
 * The driver's side of the simulator: contexts, streams, memory, modules, graphs, and the stubs
 * that C code calls. All of it is guarded by one lock, which {@link
 * dev.minifloat.cuda.sim.internal.driver.Gate} takes for the time of a call.
 */
package dev.minifloat.cuda.sim.internal.driver;
