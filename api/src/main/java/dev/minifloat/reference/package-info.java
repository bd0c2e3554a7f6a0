/**
 * The reference backend: plain loops with sums in double, on any JVM. The oracle of every test, and
 * what {@link dev.minifloat.Backends#best} falls back to.
 */
package dev.minifloat.reference;
