/**
 * PTX texts: tokens, syntax and the checks that a driver's compiler makes when a module is loaded.
 * What {@link dev.minifloat.cuda.sim.internal.ptx.PtxModule#parse} returns can be executed; all
 * else was refused with its line, its column and what was expected there.
 */
package dev.minifloat.cuda.sim.internal.ptx;
