/** Other people's code that does the same work, as registries have it; each may be missing. */
package dev.minifloat.bench.peers;
