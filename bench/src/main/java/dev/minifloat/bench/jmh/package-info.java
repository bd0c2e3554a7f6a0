/** The long run: a JMH benchmark for each subject, over the contestants of the quick one. */
package dev.minifloat.bench.jmh;
