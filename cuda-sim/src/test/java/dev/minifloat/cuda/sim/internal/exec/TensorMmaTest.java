package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * tcgen05.mma against exact sums. Layouts are the PTX ISA's, written out here anew: matrices in
 * shared memory as shapes and strides, D and scales in lanes and columns of Tensor Memory.
 */
class TensorMmaTest {
  private static final int B_AT = 16384;
  private static final int SCALES_AT = 32768;

  /**
   * One multiplication.
   *
   * @param kind with what follows it
   * @param m rows of all blocks
   * @param a the format of A; of B
   * @param aNumber its number in the instruction descriptor
   * @param span bytes that the swizzle permutes
   * @param blocks that work together
   */
  private record Form(
      String kind,
      int m,
      int n,
      FloatFormat a,
      int aNumber,
      FloatFormat b,
      int bNumber,
      int span,
      boolean kMajor,
      int blocks) {
    /** Bits that an element takes up. */
    private int held() {
      return kind.startsWith("mxf4")
          ? 4
          : a == FloatFormat.TF32 ? 32 : a == FloatFormat.F16 || a == FloatFormat.BF16 ? 16 : 8;
    }

    private int depth() {
      return 256 / held();
    }

    private int scales() {
      return kind.startsWith("mxf8") ? 1 : kind.contains("16") ? 4 : 2;
    }

    private boolean scaled() {
      return kind.startsWith("mx");
    }

    private boolean powers() {
      return scales() != 4;
    }

    /** The first byte of the scales of A in their cells, and of B. */
    private int aScale() {
      return scales() == 1 ? 3 : scales() == 2 ? 2 : 0;
    }

    private int descriptor() {
      int same = aNumber << 7 | bNumber << 10 | (n / 8) << 17 | (m / 16) << 24;
      int major = kMajor ? 0 : 3 << 15;
      return scaled() ? same | (powers() ? 1 << 23 : 0) | aScale() << 29 : same | major | 1 << 4;
    }

    /** The bit at which an element begins: sixteen of fewer than 8 bits fill 16 bytes. */
    private int place(int extent, int mn, int k, FloatFormat format) {
      int width = format == FloatFormat.TF32 ? 32 : format.bits();
      int each = 128 / held();
      int along = kMajor ? k : mn;
      int byteAlong = along / each * 16;
      int bit = along % each * width;
      int offset;
      if (kMajor) {
        offset = span == 16 ? byteAlong / 16 * extent * 16 + mn * 16 : mn * span + byteAlong;
      } else {
        offset = byteAlong / span * span * depth() + k * span + byteAlong % span;
      }
      int piece = offset / 16 % (span / 16) ^ offset / 128 % (span / 16);
      return (offset / span * span + piece * 16) * 8 + bit;
    }

    private String matrix(String register, int start, int extent) {
      int leading = kMajor ? (span == 16 ? extent * 16 : 0) : span * depth();
      int swizzle = span == 16 ? 0 : span == 128 ? 2 : span == 64 ? 4 : 6;
      return Blackwell.descriptor(register, start, leading, span * 8, swizzle);
    }

    @Override
    public String toString() {
      return "%s %s x %s, M %d, N %d, %d bytes %s, %d blocks"
          .formatted(kind, a, b, m, n, span, kMajor ? "K-major" : "MN-major", blocks);
    }
  }

  private static String body(Form form) {
    int group = form.blocks();
    StringBuilder text = new StringBuilder(Blackwell.allocate(group));
    text.append(form.matrix("ad", 0, form.m() / group));
    text.append(form.matrix("bd", B_AT, form.n() / group));
    String leader = "@!first bra DONE; setp.ne.u32 p, cta, 0; @p bra DONE;\n";
    text.append(leader).append("mov.u32 id, 0x%x;\n".formatted(form.descriptor()));
    String scales = "";
    if (form.scaled()) {
      for (int i = 0; i < 2; i++) {
        text.append(Blackwell.descriptor("sd", SCALES_AT + 512 * i, 0, 128, 0));
        text.append("add.u32 v, tm, %d;\n".formatted(256 + 4 * i));
        text.append("tcgen05.cp.cta_group::%d.32x128b.warpx4 [v], sd;\n".formatted(group));
      }
      scales = "[tm+256], [tm+260], ";
    }
    // Twice, the first without D: the sum is twice the product.
    String mma = "tcgen05.mma.cta_group::%d.kind::%s [tm], ad, bd, id, %sp;\n";
    text.append("setp.ne.u32 p, t, t;\n").append(mma.formatted(group, form.kind(), scales));
    text.append("setp.eq.u32 p, t, t;\n").append(mma.formatted(group, form.kind(), scales));
    text.append(
        group == 1
            ? "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n"
            : "mov.b16 mask, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one"
                + ".shared::cluster.multicast::cluster.b64 [bar], mask;\n");
    text.append("DONE:\n").append(Blackwell.await(0));
    int columns = form.blocks() == 2 && form.m() == 128 ? form.n() / 2 : form.n();
    // Of M = 64 half of each quarter's lanes hold nothing.
    text.append(
        form.blocks() == 1 && form.m() == 64 ? halves(columns) : Blackwell.download(columns));
    return text.append(Blackwell.free(group)).toString();
  }

  /** Stores 16 lanes of each quarter as registers of .16x256b hold them, at their places. */
  private static String halves(int columns) {
    StringBuilder text = new StringBuilder();
    text.append(
        "and.b32 v, t, 31; shr.u32 w, v, 2; and.b32 v, v, 3; and.b32 s, t, 96;"
            + " add.u32 w, w, s; mul.lo.u32 w, w, %d; shl.b32 v, v, 1; add.u32 w, w, v;"
                .formatted(columns)
            + " mad.wide.u32 at, w, 4, out;\n");
    for (int c = 0; c < columns; c += 8) {
      text.append(
          "tcgen05.ld.sync.aligned.16x256b.x1.b32 {r0, r1, r2, r3}, [tw+%d];".formatted(c)
              + " tcgen05.wait::ld.sync.aligned;\n");
      for (int i = 0; i < 4; i++) {
        int offset = 4 * (c + i % 2 + i / 2 * 8 * columns);
        text.append("st.global.u32 [at+%d], r%d;\n".formatted(offset, i));
      }
    }
    return text.toString();
  }

  private static void put(byte[] target, int bit, int value, int width) {
    for (int i = 0; i < width; i++) {
      if ((value >>> i & 1) != 0) {
        target[(bit + i) / 8] |= (byte) (1 << (bit + i) % 8);
      }
    }
  }

  private static double[] random(SplittableRandom random, FloatFormat format, int count) {
    double[] values = new double[count];
    for (int i = 0; i < count; i++) {
      values[i] =
          format == FloatFormat.E2M1
              ? format.decode(random.nextInt(16))
              : (random.nextInt(29) - 14) / 4.0;
    }
    return values;
  }

  private static int code(FloatFormat format, double value) {
    int code = format.encode(value, Rounding.NEAREST_EVEN, false);
    return format == FloatFormat.TF32 ? code << 13 : code;
  }

  private static void check(Form form, MmaArithmetic arithmetic) {
    SplittableRandom random = new SplittableRandom(form.toString().hashCode());
    int depth = form.depth();
    double[] a = random(random, form.a(), form.m() * depth);
    double[] b = random(random, form.b(), form.n() * depth);
    byte[] in = new byte[Blackwell.SHARED * form.blocks()];
    int rows = form.m() / form.blocks();
    int columns = form.n() / form.blocks();
    for (int k = 0; k < depth; k++) {
      for (int i = 0; i < form.m(); i++) {
        int at = i / rows * Blackwell.SHARED * 8 + form.place(rows, i % rows, k, form.a());
        a[i * depth + k] = form.a().decode(code8(form.a(), a[i * depth + k]));
        put(in, at, code(form.a(), a[i * depth + k]), width(form.a()));
      }
      for (int j = 0; j < form.n(); j++) {
        int at =
            (j / columns * Blackwell.SHARED + B_AT) * 8
                + form.place(columns, j % columns, k, form.b());
        b[j * depth + k] = form.b().decode(code8(form.b(), b[j * depth + k]));
        put(in, at, code(form.b(), b[j * depth + k]), width(form.b()));
      }
    }
    if (form.scaled()) {
      scale(random, form, in, a, form.m(), rows, SCALES_AT, form.aScale());
      // B's scales are whole in each block.
      scale(random, form, in, b, form.n(), form.n(), SCALES_AT + 512, 0);
      for (int block = 1; block < form.blocks(); block++) {
        System.arraycopy(in, SCALES_AT + 512, in, block * Blackwell.SHARED + SCALES_AT + 512, 512);
      }
    }
    Device device = Blackwell.module(body(form));
    device.options = device.options.withArithmetic(arithmetic);
    boolean split = form.blocks() == 2 && form.m() == 128;
    int cells = split ? columns : form.n();
    Allocation output = device.ints(new int[128 * cells * form.blocks()]);
    Hopper.run(
        device,
        new Dim3(form.blocks(), 1, 1),
        128,
        new Dim3(form.blocks(), 1, 1),
        device.bytes(in),
        output);
    int[] out = device.ints(output);
    for (int i = 0; i < form.m(); i++) {
      for (int j = 0; j < form.n(); j++) {
        double sum = 0;
        for (int k = 0; k < depth; k++) {
          sum += a[i * depth + k] * b[j * depth + k];
        }
        int lane = i % rows;
        if (rows == 64) {
          lane = form.blocks() == 1 ? i / 16 * 32 + i % 16 : lane + j / columns * 64;
        }
        int word = (i / rows * 128 + lane) * cells + (split ? j % columns : j);
        assertEquals((float) (2 * sum), Float.intBitsToFloat(out[word]), form + " " + i + ", " + j);
      }
    }
  }

  private static int width(FloatFormat format) {
    return format == FloatFormat.TF32 ? 32 : format.bits();
  }

  private static int code8(FloatFormat format, double value) {
    return format.encode(value, Rounding.NEAREST_EVEN, false);
  }

  /** Writes scales as 32 rows of four cells and multiplies values by them. */
  private static void scale(
      SplittableRandom random,
      Form form,
      byte[] in,
      double[] values,
      int count,
      int rows,
      int at,
      int first) {
    int each = form.scales();
    int block = form.depth() / each;
    for (int r = 0; r < count; r++) {
      for (int s = 0; s < each; s++) {
        int code = form.powers() ? 125 + random.nextInt(4) : 0x30 + random.nextInt(16);
        double scale = form.powers() ? Math.scalb(1.0, code - 127) : FloatFormat.E4M3.decode(code);
        int own = r % rows;
        in[r / rows * Blackwell.SHARED + at + own % 32 * 16 + own / 32 * 4 + first + s] =
            (byte) code;
        for (int k = s * block; k < (s + 1) * block; k++) {
          values[r * form.depth() + k] *= scale;
        }
      }
    }
  }

  private static Form form(String kind, int m, int n, FloatFormat a, FloatFormat b, int span) {
    return new Form(kind, m, n, a, number(kind, a), b, number(kind, b), span, true, 1);
  }

  private static int number(String kind, FloatFormat format) {
    return switch (format) {
      case F16, E4M3 -> 0;
      case BF16, E5M2 -> 1;
      case TF32 -> 2;
      case E2M3 -> 3;
      case E3M2 -> 4;
      case E2M1 -> kind.startsWith("mxf4") ? 1 : 5;
      default -> throw new IllegalArgumentException(format + " of " + kind);
    };
  }

  private static Form major(Form form) {
    return new Form(
        form.kind, form.m, form.n, form.a, form.aNumber, form.b, form.bNumber, form.span, false, 1);
  }

  private static Form pair(Form form) {
    return new Form(
        form.kind, form.m, form.n, form.a, form.aNumber, form.b, form.bNumber, form.span, true, 2);
  }

  @TestFactory
  Stream<DynamicTest> sumsAreExact() {
    FloatFormat e4m3 = FloatFormat.E4M3;
    FloatFormat e5m2 = FloatFormat.E5M2;
    FloatFormat e2m1 = FloatFormat.E2M1;
    return Stream.of(
            form("f16", 128, 16, FloatFormat.F16, FloatFormat.F16, 128),
            form("f16", 64, 24, FloatFormat.BF16, FloatFormat.F16, 64),
            form("f16", 128, 128, FloatFormat.F16, FloatFormat.BF16, 16),
            major(form("f16", 128, 64, FloatFormat.F16, FloatFormat.BF16, 128)),
            major(form("f8f6f4", 128, 64, e5m2, e4m3, 64)),
            form("tf32", 128, 32, FloatFormat.TF32, FloatFormat.TF32, 32),
            form("f8f6f4", 128, 128, e4m3, e5m2, 128),
            form("f8f6f4", 64, 8, e5m2, e5m2, 128),
            form("f8f6f4", 128, 32, FloatFormat.E2M3, e2m1, 128),
            form("f8f6f4", 128, 32, FloatFormat.E3M2, e4m3, 32),
            form("mxf8f6f4.block_scale", 128, 64, e4m3, e2m1, 128),
            form("mxf8f6f4.block_scale.block32", 128, 40, e4m3, e5m2, 128),
            form("mxf4.block_scale.block32", 128, 64, e2m1, e2m1, 128),
            form("mxf4nvf4.block_scale.block32", 128, 128, e2m1, e2m1, 64),
            form("mxf4nvf4.block_scale.block16", 128, 64, e2m1, e2m1, 128),
            pair(form("f8f6f4", 256, 64, e4m3, e5m2, 128)),
            pair(form("f16", 128, 64, FloatFormat.F16, FloatFormat.F16, 128)),
            pair(form("mxf4nvf4.block_scale.block16", 256, 64, e2m1, e2m1, 128)))
        .flatMap(
            form ->
                Stream.of(MmaArithmetic.values())
                    .map(
                        arithmetic ->
                            DynamicTest.dynamicTest(
                                arithmetic + ": " + form, () -> check(form, arithmetic))));
  }
}
