/** The operations of the backend: which launches each one is. */
package dev.minifloat.cuda.internal.ops;
