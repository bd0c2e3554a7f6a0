/** What can be said of kernels without a card: counts of the simulator, resources, bounds. */
package dev.minifloat.cli.kernels;
