package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;

/**
 * What {@code tcgen05.mma} multiplies (PTX ISA, "tcgen05.mma: Instruction Descriptor"), of the
 * kinds without scales and with:
 *
 * <pre>
 *   31 30 29 28   24 23 22   17 16 15 14 13 12 10 9   7 6  5 4  3  2
 *  |     |  | M/16  |  | N/8   |tB|tA|-B|-A|  B  |  A  | |  D  |  |sp|
 *  |  | SFA | M/16  |ue| N/8   |tB|tA|-B|-A|  B  |  A  | | SFB |  |sp|
 * </pre>
 *
 * @param rows M, of both blocks if two take part
 * @param columns N
 * @param sumFormat of D
 * @param aKMajor whether rows of A run along K
 * @param scaleFormat of the scales; null without
 * @param aScale the first byte of A's scales in their cells
 */
public record InstructionDescriptor(
    int rows,
    int columns,
    FloatFormat aFormat,
    FloatFormat bFormat,
    FloatFormat sumFormat,
    boolean negatesA,
    boolean negatesB,
    boolean aKMajor,
    boolean bKMajor,
    ScaleFormat scaleFormat,
    int aScale,
    int bScale) {
  private static final int UNUSED = 0xE080_004B;
  private static final int UNUSED_WITH_SCALES = 0x8000_004B;

  /**
   * Reads a descriptor.
   *
   * @param blocks how many scales of a row there are; 0 without
   * @param ctas how many blocks take part
   * @throws IllegalArgumentException if it describes nothing that a kind multiplies
   */
  public static InstructionDescriptor decode(int bits, TensorKind kind, int blocks, int ctas) {
    boolean scaled = kind.isScaled();
    int unused = scaled ? UNUSED_WITH_SCALES : UNUSED;
    require((bits & unused) == 0, bits, "has bits set that mean nothing");
    require((bits >>> 2 & 1) == 0, bits, "asks for a sparse matrix, which isn't simulated");
    FloatFormat a = kind.format(bits >>> 7 & 7);
    FloatFormat b = kind.format(bits >>> 10 & 7);
    require(a != null && b != null, bits, "names formats that " + kind + " doesn't have");
    int sum = scaled ? 1 : bits >>> 4 & 3;
    require(sum == 1 || (sum == 0 && kind != TensorKind.TF32), bits, "names no format of D");
    boolean aKMajor = (bits >>> 15 & 1) == 0;
    boolean bKMajor = (bits >>> 16 & 1) == 0;
    require(
        (aKMajor || (a.bits() >= 8 && kind.heldBits() >= 8))
            && (bKMajor || (b.bits() >= 8 && kind.heldBits() >= 8)),
        bits,
        "transposes a matrix of fewer than 8 bits");
    int m = (bits >>> 24 & 31) << 4;
    int n = (bits >>> 17 & 63) << 3;
    boolean rows = m == 128 * ctas || (!scaled && m == 64 * ctas);
    int step = ctas == 2 ? 32 : m == 64 || scaled ? 8 : 16;
    require(rows, bits, "has M = " + m);
    require(n >= step && n <= 256 && n % step == 0, bits, "has N = " + n);
    ScaleFormat format = null;
    int aScale = 0;
    int bScale = 0;
    if (scaled) {
      boolean powers = (bits >>> 23 & 1) != 0;
      format = powers ? ScaleFormat.UE8M0 : ScaleFormat.UE4M3;
      // Blocks of 16 have either format, blocks of 32 powers of two alone.
      require(powers || blocks == 4, bits, "names no format of scales");
      aScale = bits >>> 29 & 3;
      bScale = bits >>> 4 & 3;
      require(
          ScaleLayout.mayBegin(aScale, blocks) && ScaleLayout.mayBegin(bScale, blocks),
          bits,
          "begins with scales %d and %d of four, %d of each row".formatted(aScale, bScale, blocks));
    }
    return new InstructionDescriptor(
        m,
        n,
        a,
        b,
        sum == 0 ? FloatFormat.F16 : FloatFormat.F32,
        (bits >>> 13 & 1) != 0,
        (bits >>> 14 & 1) != 0,
        aKMajor,
        bKMajor,
        format,
        aScale,
        bScale);
  }

  private static void require(boolean fine, int bits, String what) {
    if (!fine) {
      throw new IllegalArgumentException("instruction descriptor 0x%08x %s".formatted(bits, what));
    }
  }
}
