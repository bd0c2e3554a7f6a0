/**
 * Executes PTX: {@link dev.minifloat.cuda.sim.internal.exec.LinkedModule} makes a module's
 * instructions ready to run, {@link dev.minifloat.cuda.sim.internal.exec.Interpreter} launches its
 * kernels. A warp's 32 lanes run an instruction together where they can; a register is 32 numbers.
 */
package dev.minifloat.cuda.sim.internal.exec;
