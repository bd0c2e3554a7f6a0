/**
 * The memories of a simulated device: global with guard gaps and tombstones, shared with a race
 * detector; both know which bytes somebody wrote.
 */
package dev.minifloat.cuda.sim.internal.memory;
