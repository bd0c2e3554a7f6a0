/** A CUDA driver in Java: for tests and for learning, on machines without a GPU. */
package dev.minifloat.cuda.sim;
