/**
 * What every kernel stands on: memory, threads, pooled objects, vector species, and the forms in
 * which C2 is told constants.
 */
package dev.minifloat.cpu.internal.runtime;
