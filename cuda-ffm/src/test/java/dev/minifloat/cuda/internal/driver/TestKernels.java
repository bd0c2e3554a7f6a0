package dev.minifloat.cuda.internal.driver;

import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.KernelFile;
import dev.minifloat.kernels.KernelParameter;
import dev.minifloat.kernels.Operation;
import dev.minifloat.kernels.ParameterType;
import dev.minifloat.kernels.Target;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Small kernels of these tests, with entries as a catalog has them. */
final class TestKernels {
  /** x[i] = a · x[i] + b for i below n. */
  static final String SCALE =
      """
      .version 7.0
      .target sm_80
      .address_size 64
      .visible .entry scale(
          .param .u64 x, .param .u32 n, .param .f32 a, .param .f32 b)
      {
        .reg .pred %p<2>;
        .reg .b32 %r<6>;
        .reg .f32 %f<5>;
        .reg .b64 %rd<4>;
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ntid.x;
        mov.u32 %r3, %tid.x;
        mad.lo.s32 %r4, %r1, %r2, %r3;
        ld.param.u32 %r5, [n];
        setp.ge.u32 %p1, %r4, %r5;
        @%p1 bra DONE;
        ld.param.u64 %rd1, [x];
        cvta.to.global.u64 %rd1, %rd1;
        mul.wide.u32 %rd2, %r4, 4;
        add.s64 %rd3, %rd1, %rd2;
        ld.param.f32 %f1, [a];
        ld.param.f32 %f2, [b];
        ld.global.f32 %f3, [%rd3];
        fma.rn.f32 %f4, %f1, %f3, %f2;
        st.global.f32 [%rd3], %f4;
      DONE:
        ret;
      }
      """;

  /** Writes to address 0. */
  static final String STRAY =
      """
      .version 7.0
      .target sm_80
      .address_size 64
      .visible .entry stray(.param .u32 value)
      {
        .reg .b32 %r<2>;
        .reg .b64 %rd<2>;
        ld.param.u32 %r1, [value];
        mov.u64 %rd1, 16;
        st.global.u32 [%rd1], %r1;
        ret;
      }
      """;

  static final int THREADS = 32;

  private static final KernelFile FILE =
      new KernelFile("sm_80/test.ptx", "test.cu", Target.parse("sm_80"), "7.0", "", List.of());

  static final KernelEntry SCALE_ENTRY =
      entry(
          "scale",
          0,
          new KernelParameter("x", ParameterType.POINTER, 0),
          new KernelParameter("n", ParameterType.I32, 8),
          new KernelParameter("a", ParameterType.F32, 12),
          new KernelParameter("b", ParameterType.F32, 16));

  static final KernelEntry STRAY_ENTRY =
      entry("stray", 0, new KernelParameter("value", ParameterType.I32, 0));

  private TestKernels() {}

  static KernelEntry entry(String name, int dynamicShared, KernelParameter... parameters) {
    return new KernelEntry(
        name,
        FILE,
        Operation.COPY,
        List.of("F32"),
        List.of(),
        List.of("F32"),
        List.of("none"),
        List.of(),
        List.of(THREADS, 1),
        0,
        dynamicShared,
        8,
        List.of(parameters),
        "",
        null);
  }

  static PtxModule load(PrimaryContext context, String ptx) {
    return PtxModule.load(context, "test.ptx", ptx.getBytes(StandardCharsets.US_ASCII));
  }

  /** A launch of {@code scale} over all of an array. */
  static Launch scale(Arena arena, DeviceMemory x, float a, float b) {
    int n = (int) (x.byteSize() / Float.BYTES);
    Arguments arguments =
        new Arguments(SCALE_ENTRY, arena).pointer(x.address()).i32(n).f32(a).f32(b);
    return Launch.of(arguments, Math.ceilDiv(n, THREADS), 1, 1);
  }

  static Launch stray(Arena arena) {
    return Launch.of(new Arguments(STRAY_ENTRY, arena).i32(7), 1, 1, 1);
  }
}
