/** How the simulator is found. */
package dev.minifloat.cuda.sim.internal;
