package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.codec.BlockQuantizer;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Conversions between unscaled types: the codec's bits, whatever the length or the view. */
final class ConvertChecks {
  private static final String GROUP = "convert";
  private static final long SEED = 0x5EEDC0DEL;

  private static final List<Overflow> OVERFLOWS = List.of(Overflow.SATURATE, Overflow.IEEE);

  private static final List<Rounding> ROUNDINGS =
      List.of(
          Rounding.NEAREST_EVEN,
          Rounding.TOWARD_ZERO,
          Rounding.TOWARD_POSITIVE,
          Rounding.stochastic(42),
          Rounding.stochastic(0xFEDCBA9876543210L));

  private ConvertChecks() {}

  static void addTo(Collector to) {
    for (DType source : DType.values()) {
      for (DType target : DType.values()) {
        boolean supported = to.supports(Op.CONVERT, source) && to.supports(Op.CONVERT, target);
        Backend backend = to.backend();
        to.addIf(
            supported,
            GROUP,
            source + " → " + target + " patterns",
            () -> patterns(backend, source, target));
        to.addIf(
            supported,
            GROUP,
            source + " → " + target + " sizes and views",
            () -> sizes(backend, source, target));
      }
    }
  }

  /** Every pattern of up to 16 bits, the hard ones of 32. */
  private static int[] codes(DType source, DType target) {
    if (source.bits() <= 16) {
      return Data.allCodes(source);
    }
    int[] hard = Data.hardBits(SEED, target);
    if (source.isInteger()) {
      SplittableRandom random = new SplittableRandom(SEED);
      for (int i = 64; i < hard.length; i++) {
        // Integers of all magnitudes; the first 64 keep their patterns.
        hard[i] = random.nextInt() >> random.nextInt(32);
      }
    }
    return hard;
  }

  private static void patterns(Backend backend, DType source, DType target) {
    int[] codes = codes(source, target);
    HostTensor host = Data.codes(source, codes, codes.length);
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(host);
      for (Rounding rounding : ROUNDINGS) {
        for (Overflow overflow : Overflow.values()) {
          compare(scope, x, host, target, rounding, overflow, "all patterns");
        }
      }
    }
  }

  private static void sizes(Backend backend, DType source, DType target) {
    int[] codes = codes(source, target);
    SplittableRandom random = new SplittableRandom(SEED + 1);
    for (int n : Data.AWKWARD) {
      int from = random.nextInt(Math.max(1, codes.length - n));
      int[] some = Arrays.copyOf(Arrays.copyOfRange(codes, from, from + n), n);
      HostTensor host = Data.codes(source, some, n);
      Rounding rounding = ROUNDINGS.get(n % ROUNDINGS.size());
      Overflow overflow = OVERFLOWS.get(n % 2);
      try (Scope scope = backend.scope()) {
        compare(scope, scope.upload(host), host, target, rounding, overflow, "codes from " + from);
      }
    }
    views(backend, source, target, codes);
  }

  /** A transposed view and slices that begin in the middle of a byte. */
  private static void views(Backend backend, DType source, DType target, int[] codes) {
    int rows = 7;
    int columns = 37;
    int[] some = new int[rows * columns];
    for (int i = 0; i < some.length; i++) {
      some[i] = codes[i * 31 % codes.length];
    }
    Rounding rounding = Rounding.stochastic(7);
    Overflow overflow = Overflow.defaultFor(target);
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(Data.codes(source, some, rows, columns));
      int[] turned = new int[some.length];
      for (int i = 0; i < turned.length; i++) {
        turned[i] = some[i % rows * columns + i / rows];
      }
      HostTensor expected = Data.codes(source, turned, columns, rows);
      compare(scope, x.transposed(), expected, target, rounding, overflow, "transposed");
      for (int first : new int[] {1, 2, 3, 5}) {
        int[] cut = new int[(rows - 1) * (columns - first)];
        for (int i = 0; i < cut.length; i++) {
          int width = columns - first;
          cut[i] = some[(i / width + 1) * columns + first + i % width];
        }
        Tensor slice = x.slice(1, first, columns).slice(0, 1, rows);
        HostTensor kept = Data.codes(source, cut, rows - 1, columns - first);
        compare(scope, slice, kept, target, rounding, overflow, "sliced from " + first);
      }
      int[] flat = Arrays.copyOfRange(some, 11, 100);
      compare(
          scope,
          x.reshape(some.length).slice(0, 11, 100),
          Data.codes(source, flat, flat.length),
          target,
          rounding,
          overflow,
          "elements 11 to 100");
    }
  }

  private static void compare(
      Scope scope,
      Tensor x,
      HostTensor host,
      DType target,
      Rounding rounding,
      Overflow overflow,
      String detail) {
    try (Arena arena = Arena.ofConfined();
        Tensor y = scope.backend().convert(x, target, rounding, overflow)) {
      HostTensor expected = BlockQuantizer.convert(arena, host, target, rounding, overflow);
      HostTensor actual = scope.backend().download(y, arena);
      Compare.sameBits(
          "convert %s %s to %s, %s, %s, %s"
              .formatted(host.dtype(), host.shape(), target, rounding, overflow, detail),
          expected,
          actual);
    }
  }
}
