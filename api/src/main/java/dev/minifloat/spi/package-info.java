/**
 * What a backend is made of. A {@link dev.minifloat.spi.BackendProvider} says whether it can run;
 * {@link dev.minifloat.spi.BackendBase} checks arguments and keeps track of ownership, so that a
 * backend only brings its memory and its {@link dev.minifloat.spi.Kernels}.
 */
package dev.minifloat.spi;
