package dev.minifloat.cli.kernels;

/**
 * Cards by what NVIDIA publishes of them: datasheets of the H100, the H200 and HGX B200, the
 * whitepapers on the Ada and RTX Blackwell architectures, and "Compute Capabilities" in the CUDA
 * C++ Programming Guide. Rates of tensor cores are dense, with sums in F32; clocks are the highest
 * that a card boosts to, so that what follows from them stays a bound.
 */
public enum Card {
  /** SXM5. */
  H100("H100 SXM", 90, 132, 1.98, 989.4, 1978.9, 0, 1978.9, 3350, 2048, 32, 228),
  /** SXM5. */
  H200("H200 SXM", 90, 132, 1.98, 989.4, 1978.9, 0, 1978.9, 4800, 2048, 32, 228),
  /** Of an HGX board. */
  B200("B200", 100, 148, 1.98, 2250, 4500, 9000, 4500, 8000, 2048, 32, 228),
  /** AD102. */
  RTX_4090("RTX 4090", 89, 128, 2.52, 165.2, 330.3, 0, 660.6, 1008, 1536, 24, 100),
  /** GB202. */
  RTX_5090("RTX 5090", 120, 170, 2.407, 209.5, 419, 1676, 838, 1792, 1536, 24, 100);

  private static final int REGISTERS = 65_536;
  private static final int WARP = 32;

  /** Registers are given out in such pieces, to a warp. */
  private static final int REGISTER_UNIT = 256;

  /** Shared memory that the system takes of each block. */
  private static final int RESERVED = 1024;

  private final String title;
  private final int capability;
  private final int multiprocessors;
  private final double gigahertz;
  private final double halfTeraflops;
  private final double eightTeraflops;
  private final double fourTeraflops;
  private final double integerTeraops;
  private final double gigabytes;
  private final int threads;
  private final int blocks;
  private final int sharedKib;

  Card(
      String title,
      int capability,
      int multiprocessors,
      double gigahertz,
      double halfTeraflops,
      double eightTeraflops,
      double fourTeraflops,
      double integerTeraops,
      double gigabytes,
      int threads,
      int blocks,
      int sharedKib) {
    this.title = title;
    this.capability = capability;
    this.multiprocessors = multiprocessors;
    this.gigahertz = gigahertz;
    this.halfTeraflops = halfTeraflops;
    this.eightTeraflops = eightTeraflops;
    this.fourTeraflops = fourTeraflops;
    this.integerTeraops = integerTeraops;
    this.gigabytes = gigabytes;
    this.threads = threads;
    this.blocks = blocks;
    this.sharedKib = sharedKib;
  }

  /** What people call it. */
  public String title() {
    return title;
  }

  /** Its compute capability: 89 for 8.9. */
  public int capability() {
    return capability;
  }

  /** Multiprocessors. */
  int multiprocessors() {
    return multiprocessors;
  }

  /** Clocks a second of a multiprocessor. */
  double clocks() {
    return gigahertz * 1e9;
  }

  /** Bytes a second of its memory. */
  double memoryBytes() {
    return gigabytes * 1e9;
  }

  /** Operations a second of its tensor cores, a multiply-add counting as two; 0 if it has none. */
  public double peak(Rate rate) {
    return 1e12
        * switch (rate) {
          case HALF -> halfTeraflops;
          case EIGHT -> eightTeraflops;
          case FOUR -> fourTeraflops;
          case INTEGER -> integerTeraops;
        };
  }

  /** What a matrix instruction multiplies. */
  public enum Rate {
    /** F16 and BF16. */
    HALF,
    /** FP8. */
    EIGHT,
    /** FP4 with scales of blocks. */
    FOUR,
    /** I8. */
    INTEGER
  }

  /**
   * Blocks that a multiprocessor holds at once.
   *
   * @param size threads of a block
   * @param registers of a thread
   * @param sharedBytes of a block
   */
  public int residentBlocks(int size, int registers, int sharedBytes) {
    int warps = Math.ceilDiv(size, WARP);
    int ofWarp = Math.ceilDiv(registers * WARP, REGISTER_UNIT) * REGISTER_UNIT;
    int byRegisters = REGISTERS / ofWarp / warps;
    int byShared = (sharedKib << 10) / (sharedBytes + RESERVED);
    return Math.min(Math.min(blocks, threads / size), Math.min(byRegisters, byShared));
  }

  /** The share of its places for warps that so many blocks take. */
  public double occupancy(int resident, int size) {
    return (double) resident * size / threads;
  }
}
