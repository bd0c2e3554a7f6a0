/**
 * Measures the backends: each {@link dev.minifloat.bench.Workload} is run by contestants, ours and
 * those of {@link dev.minifloat.bench.peers}, beside the limits of the machine.
 */
package dev.minifloat.bench;
