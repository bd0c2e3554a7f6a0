package dev.minifloat.contract;

/** FNV-1a, 64 bits: h = (h xor byte) · 100000001b3, from cbf29ce484222325. */
final class Fnv {
  private static final long BASIS = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  private long hash = BASIS;

  /** Adds the {@code bits / 8} (at least one) bytes of a code, the least significant first. */
  void add(int code, int bits) {
    hash = (hash ^ (code & 0xFF)) * PRIME;
    for (int at = 8; at < bits; at += 8) {
      hash = (hash ^ ((code >>> at) & 0xFF)) * PRIME;
    }
  }

  long value() {
    return hash;
  }
}
