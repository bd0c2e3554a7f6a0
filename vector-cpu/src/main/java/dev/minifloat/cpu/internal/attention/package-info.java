/** Attention in one pass over the keys: blocks of scores, online softmax, sums of values. */
package dev.minifloat.cpu.internal.attention;
