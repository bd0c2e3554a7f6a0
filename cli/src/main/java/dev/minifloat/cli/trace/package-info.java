/** Steps kernels in the terminal: what runs, where it stops, and how everything is drawn. */
package dev.minifloat.cli.trace;
