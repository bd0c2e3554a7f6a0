package dev.minifloat.codec;

/**
 * Philox4x32-10, the counter-based generator of Salmon et al., "Parallel Random Numbers: As Easy as
 * 1, 2, 3" (SC 2011): a keyed bijection on 128-bit counters, so that the random bits of an element
 * depend on its index and on nothing else.
 *
 * <p>Element {@code i} uses word {@code i mod 4} of the block whose counter is {@code ⌊i / 4⌋} (its
 * low and high 32 bits in counter words 0 and 1, zero in 2 and 3) under the key {@code (low, high)}
 * half of the seed.
 */
public final class Philox {
  /** Multiplier of counter word 0. */
  public static final int M0 = 0xD2511F53;

  /** Multiplier of counter word 2. */
  public static final int M1 = 0xCD9E8D57;

  /** What key word 0 grows by each round. */
  public static final int W0 = 0x9E3779B9;

  /** What key word 1 grows by each round. */
  public static final int W1 = 0xBB67AE85;

  /** Rounds of the bijection. */
  public static final int ROUNDS = 10;

  private Philox() {}

  /** The 32 random bits of the element with row-major index {@code index}. */
  public static int bits(long seed, long index) {
    int[] block = new int[4];
    block(seed, index >>> 2, block);
    return block[(int) (index & 3)];
  }

  /** Fills {@code out[0..3]} with the bits of elements {@code 4·counter … 4·counter + 3}. */
  public static void block(long seed, long counter, int[] out) {
    block(seed, counter, 0, out);
  }

  /** The whole bijection; {@code low} and {@code high} are the halves of the counter. */
  static void block(long seed, long low, long high, int[] out) {
    int c0 = (int) low;
    int c1 = (int) (low >>> 32);
    int c2 = (int) high;
    int c3 = (int) (high >>> 32);
    int k0 = (int) seed;
    int k1 = (int) (seed >>> 32);
    for (int round = 0; round < ROUNDS; round++) {
      long p0 = (M0 & 0xFFFFFFFFL) * (c0 & 0xFFFFFFFFL);
      long p1 = (M1 & 0xFFFFFFFFL) * (c2 & 0xFFFFFFFFL);
      int n0 = (int) (p1 >>> 32) ^ c1 ^ k0;
      int n2 = (int) (p0 >>> 32) ^ c3 ^ k1;
      c1 = (int) p1;
      c3 = (int) p0;
      c0 = n0;
      c2 = n2;
      k0 += W0;
      k1 += W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
  }
}
