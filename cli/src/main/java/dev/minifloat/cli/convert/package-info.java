/** Streams the tensors of a file through a backend, in pieces that fit in a cache. */
package dev.minifloat.cli.convert;
