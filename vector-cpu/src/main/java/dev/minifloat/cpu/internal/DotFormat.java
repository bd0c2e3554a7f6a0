package dev.minifloat.cpu.internal;

import dev.minifloat.DType;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * How the elements of a format are taken out of 32-bit words, for kernels that multiply straight
 * from memory.
 *
 * <p>A word holds one, two or four elements, its parts. Part j of a vector of words is one vector
 * of floats; parts come in an order of their own, which does no harm where both operands have it.
 *
 * <pre>
 *   word             part 3 | part 2 | part 1 | part 0           8 bits each
 *   &lt;&lt; left          sign e…e m…m ..........................     part j at the top
 *   &gt;&gt; 8 − e bits    sign sign…sign e…e m…m .................     exponent at its place in an F32
 *   &amp; mask           sign 0…0       e…e m…m 0…0
 * </pre>
 *
 * <p>Read as an F32, that is the value times 2^(bias − 127): its exponent was kept, biased as it
 * is. Subnormals of the format are subnormals of F32 then, so they are right too, and −0 is −0.
 * Only infinities and NaNs become wrong (finite) numbers: {@link #anySpecial} finds them.
 *
 * @param bits width of an element: 8, 16 or 32
 * @param exponentBits width of its exponent; 8 where the word's bits are those of an F32, 0 for
 *     integers
 * @param scale what a part must be multiplied by, 2^(127 − bias), or 1
 * @param special the least code, its sign aside, that is an infinity or NaN; 0 if parts of all
 *     codes are right
 */
record DotFormat(int bits, int exponentBits, float scale, int special) {

  /** The format of a type, if its elements fill words. */
  static Optional<DotFormat> of(DType dtype) {
    return switch (dtype) {
      case F32, BF16 -> Optional.of(new DotFormat(dtype.bits(), 8, 1, 0));
      case I8 -> Optional.of(new DotFormat(8, 0, 1, 0));
      case F16 -> Optional.of(biased(dtype, 0x7C00));
      case F8_E4M3 -> Optional.of(biased(dtype, 0x7F));
      case F8_E5M2 -> Optional.of(biased(dtype, 0x7C));
      case F8_E8M0, F6_E2M3, F6_E3M2, F4_E2M1, I4, I32 -> Optional.empty();
    };
  }

  private static DotFormat biased(DType dtype, int special) {
    float scale = Math.scalb(1f, 127 - dtype.bias());
    return new DotFormat(dtype.bits(), dtype.exponentBits(), scale, special);
  }

  /** Elements in a word. */
  int parts() {
    return 32 / bits;
  }

  /** Whether parts are values times a power of two. */
  boolean isBiased() {
    return special != 0;
  }

  /** The bits of an element, where the F32 has them. */
  int mask() {
    int width = bits - 1;
    return 0x80000000 | (((1 << width) - 1) << (23 - (width - exponentBits)));
  }

  /** The signs of the parts of a word. */
  private int signs() {
    return bits == 8 ? 0x80808080 : bits == 16 ? 0x80008000 : 0x80000000;
  }

  /**
   * What carries the code of an infinity or NaN, added to its magnitude, into the place of the sign
   * and no other code: 1 for E4M3, the least exponent of the others.
   */
  private int carry() {
    return bits == 8 ? (0x80 - special) * 0x01010101 : (0x8000 - special) * 0x00010001;
  }

  /**
   * Whether an element of a run, a multiple of a vector long, is an infinity or NaN that its part
   * can't show. A pass of its own, since in the loop of a product these few operations more are
   * what the compiler's budget for inlining does not bear.
   */
  boolean anySpecial(MemorySegment x, long from, long bytes) {
    if (!isBiased()) {
      return false;
    }
    IntVector flags = IntVector.zero(Species.INT);
    IntVector magnitudes = IntVector.broadcast(Species.INT, ~signs());
    IntVector carry = IntVector.broadcast(Species.INT, carry());
    for (int i = 0; i < bytes; i += Species.LANES * Integer.BYTES) {
      IntVector words = IntVector.fromMemorySegment(Species.INT, x, from + i, Species.LE);
      flags = words.and(magnitudes).add(carry).or(flags);
    }
    return (flags.reduceLanes(VectorOperators.OR) & signs()) != 0;
  }
}
