/** Matrix instructions: which lane holds what, and how products are added up. */
package dev.minifloat.cuda.sim.internal.mma;
