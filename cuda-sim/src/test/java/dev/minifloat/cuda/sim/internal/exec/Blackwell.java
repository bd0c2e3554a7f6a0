package dev.minifloat.cuda.sim.internal.exec;

/** Kernels for sm_100f, for tests. */
final class Blackwell {
  static final String HEADER = ".version 8.8\n.target sm_100f\n.address_size 64\n";

  /** Bytes of shared memory that {@link #start} fills from the first parameter, in each block. */
  static final int SHARED = 36864;

  private Blackwell() {}

  static Device module(String body) {
    Device device =
        new Device(
            HEADER
                + ".visible .entry k(.param .u64 a, .param .u64 b) {\n"
                + start()
                + body
                + "\n}\n");
    device.options = ExecutionOptions.of(100);
    return device;
  }

  /**
   * Declares registers and fills shared memory; then warp 0 allocates all of Tensor Memory, whose
   * address is {@code tm}, and thread 0, where {@code first} holds, sets up an mbarrier {@code bar}
   * for one arrival.
   */
  private static String start() {
    return """
    .shared .align 1024 .b8 data[%d]; .shared .align 8 .b64 bar; .shared .align 4 .b32 slot;
    .reg .b64 in, out, at, ad, bd, sd; .reg .b32 t, s, w, tm, tw, cta, v, id, x<4>, r<128>;
    .reg .pred p, q, first, warp0; .reg .b16 mask;
    ld.param.u64 in, [a]; ld.param.u64 out, [b]; mov.u32 t, %%tid.x; mov.u32 cta, %%ctaid.x;
    setp.eq.u32 first, t, 0; setp.lt.u32 warp0, t, 32;
    mad.wide.u32 in, cta, %d, in; mad.wide.u32 at, t, 16, in; shl.b32 w, t, 4;
    mov.u32 s, data; add.u32 s, s, w;
    FILL: ld.global.v4.u32 {x0, x1, x2, x3}, [at]; st.shared.v4.u32 [s], {x0, x1, x2, x3};
    add.u64 at, at, 2048; add.u32 s, s, 2048; add.u32 w, w, 2048;
    setp.lt.u32 p, w, %d; @p bra FILL;
    """
        .formatted(SHARED, SHARED, SHARED);
  }

  /** What allocates for so many blocks that work together, and sets the mbarrier up. */
  static String allocate(int blocks) {
    return """
    @warp0 tcgen05.alloc.cta_group::%d.sync.aligned.shared::cta.b32 [slot], 512;
    @warp0 tcgen05.relinquish_alloc_permit.cta_group::%d.sync.aligned;
    @first mbarrier.init.shared.b64 [bar], 1;
    @first fence.mbarrier_init.release.cluster;
    fence.proxy.async; bar.sync 0; %s ld.shared.u32 tm, [slot];
    and.b32 tw, t, 96; shl.b32 tw, tw, 16; add.u32 tw, tw, tm;
    """
        .formatted(blocks, blocks, blocks == 2 ? cluster() : "");
  }

  private static String cluster() {
    return "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
  }

  /** Waits at {@code bar} for a phase of a parity. */
  static String await(int parity) {
    return """
    {
    WAIT: mbarrier.try_wait.parity.shared.b64 q, [bar], %d; @!q bra WAIT;
    }
    tcgen05.fence::after_thread_sync;
    """
        .formatted(parity);
  }

  static String free(int blocks) {
    return """
    tcgen05.fence::before_thread_sync; bar.sync 0; %s
    @warp0 tcgen05.dealloc.cta_group::%d.sync.aligned.b32 tm, 512; ret;
    """
        .formatted(blocks == 2 ? cluster() : "", blocks);
  }

  static String registers(int count) {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < count; i++) {
      text.append(i == 0 ? "r" : ", r").append(i);
    }
    return text.append('}').toString();
  }

  /** Stores columns of each warp's lanes, 128 lanes of {@code columns} words, from column 0 on. */
  static String download(int columns) {
    StringBuilder text = new StringBuilder();
    int chunk = Math.min(Integer.lowestOneBit(columns), 128);
    text.append("mad.wide.u32 at, cta, %d, out;\n".formatted(512 * columns));
    text.append("mad.wide.u32 at, t, %d, at;\n".formatted(4 * columns));
    for (int c = 0; c < columns; c += chunk) {
      text.append(
          "tcgen05.ld.sync.aligned.32x32b.x%d.b32 %s, [tw+%d]; tcgen05.wait::ld.sync.aligned;\n"
              .formatted(chunk, registers(chunk), c));
      for (int i = 0; i < chunk; i++) {
        text.append("st.global.u32 [at+%d], r%d;\n".formatted(4 * (c + i), i));
      }
    }
    return text.toString();
  }

  /** A descriptor of shared memory from {@code data + start} on, in the register named. */
  static String descriptor(String register, int start, int leading, int stride, int swizzle) {
    long bits =
        (long) (leading >> 4) << 16 | (long) (stride >> 4) << 32 | 1L << 46 | (long) swizzle << 61;
    return """
    mov.u32 s, data; add.u32 s, s, %d; shr.u32 s, s, 4; cvt.u64.u32 %s, s;
    or.b64 %s, %s, 0x%x;
    """
        .formatted(start, register, register, register, bits);
  }
}
