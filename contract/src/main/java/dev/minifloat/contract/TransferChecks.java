package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Upload, download, copy and views: no bit changes, whatever the memory it comes from. */
final class TransferChecks {
  private static final String GROUP = "transfer";

  private static final List<Shape> SHAPES =
      List.of(
          Shape.SCALAR,
          Shape.of(0),
          Shape.of(1),
          Shape.of(2),
          Shape.of(3),
          Shape.of(5),
          Shape.of(7),
          Shape.of(61),
          Shape.of(3, 0),
          Shape.of(3, 37),
          Shape.of(2, 3, 65),
          Shape.of(129, 67));

  private TransferChecks() {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    for (DType dtype : DType.values()) {
      List<Scaling> scalings = new ArrayList<>(List.of(Scaling.none()));
      QuantizeChecks.SCALINGS.stream().filter(s -> s.isValidFor(dtype)).forEach(scalings::add);
      for (Scaling scaling : scalings) {
        String name = dtype + (scaling instanceof Scaling.None ? "" : " " + scaling);
        boolean moves =
            to.supports(Op.UPLOAD, dtype, scaling) && to.supports(Op.DOWNLOAD, dtype, scaling);
        boolean copies = moves && to.supports(Op.COPY, dtype, scaling);
        to.addIf(moves, GROUP, name + " round trip", () -> roundTrip(backend, dtype, scaling));
        to.addIf(copies, GROUP, name + " copy", () -> copies(backend, dtype, scaling));
      }
      boolean plain =
          to.supports(Op.UPLOAD, dtype)
              && to.supports(Op.DOWNLOAD, dtype)
              && to.supports(Op.COPY, dtype);
      to.addIf(plain, GROUP, dtype + " views", () -> views(backend, dtype));
    }
    to.addIf(
        to.supports(Op.UPLOAD, DType.F32),
        GROUP,
        "what views say of themselves",
        () -> says(backend));
  }

  private static void roundTrip(Backend backend, DType dtype, Scaling scaling) {
    for (Shape shape : SHAPES) {
      HostTensor host = BlockData.anything(1, dtype, scaling, shape, BlockData.MIXED);
      for (boolean heap : new boolean[] {false, true}) {
        for (int offset : new int[] {0, 1, 3}) {
          trip(backend, host, heap, offset);
        }
      }
    }
  }

  /** Uploads from memory that is overwritten as soon as upload returns. */
  private static void trip(Backend backend, HostTensor host, boolean heap, int offset) {
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      MemorySegment data = moved(arena, host.data(), heap, offset);
      MemorySegment scales = moved(arena, host.scales(), heap, offset);
      HostTensor source = wrap(host, data.asReadOnly(), scales.asReadOnly());
      Tensor tensor = scope.upload(source);
      data.fill((byte) 0x5A);
      scales.fill((byte) 0x5A);
      String what =
          "%s, from %s memory at offset %d".formatted(host, heap ? "heap" : "native", offset);
      Compare.equal(what + ": byteSize", host.byteSize(), tensor.byteSize());
      Compare.sameBits(what, host, scope.download(tensor, arena));
    }
  }

  private static MemorySegment moved(Arena arena, MemorySegment source, boolean heap, int offset) {
    long size = source.byteSize() + offset;
    MemorySegment whole =
        heap ? MemorySegment.ofArray(new byte[(int) size]) : arena.allocate(size, 64);
    return whole.asSlice(offset).copyFrom(source);
  }

  private static HostTensor wrap(HostTensor like, MemorySegment data, MemorySegment scales) {
    return like.scaling() instanceof Scaling.NvFp4
        ? HostTensor.wrapNvfp4(like.shape(), data, scales, like.globalScale())
        : HostTensor.wrap(like.dtype(), like.shape(), like.scaling(), data, scales);
  }

  private static void copies(Backend backend, DType dtype, Scaling scaling) {
    for (Shape shape : SHAPES) {
      HostTensor host = BlockData.anything(2, dtype, scaling, shape, BlockData.MIXED);
      try (Scope scope = backend.scope()) {
        Tensor source = scope.upload(host);
        Tensor copy = scope.copy(source);
        source.close();
        Compare.equal("copy of " + host + ": isView", false, copy.isView());
        Compare.sameBits("copy of " + host, host, scope.download(copy));
      }
    }
    if (!(scaling instanceof Scaling.None)) {
      HostTensor host = BlockData.anything(3, dtype, scaling, Shape.of(6, 40), BlockData.NUMBERS);
      try (Scope scope = backend.scope()) {
        Tensor view = scope.upload(host).slice(1, 1, 30);
        Expect.illegalArgument("copy of a cut " + host, "x", () -> scope.copy(view));
        Expect.illegalArgument("download of a cut " + host, "x", () -> scope.download(view));
      }
    }
  }

  private static void views(Backend backend, DType dtype) {
    int rows = 5;
    int columns = 39;
    HostTensor host =
        BlockData.anything(4, dtype, Scaling.none(), Shape.of(2, rows, columns), BlockData.NUMBERS);
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(host);
      same(
          scope,
          host,
          x.transposed(),
          "transposed",
          i -> i % rows * columns + i / rows % columns + i / (rows * columns) * rows * columns);
      same(
          scope,
          host,
          x.transposed(0, 2),
          "turned inside out",
          i -> i % 2 * rows * columns + i / 2 % rows * columns + i / (2 * rows));
      same(scope, host, x.reshape(rows * 2L, columns), "reshaped", i -> i);
      for (int from : new int[] {1, 2, 3, 7}) {
        int width = 38 - from;
        same(
            scope,
            host,
            x.slice(2, from, 38),
            "columns from " + from,
            i -> i / width * columns + from + i % width);
        Tensor flat = x.reshape(2L * rows * columns).slice(0, from, 100);
        same(scope, host, flat, "elements from " + from, i -> i + from);
      }
      Tensor part = x.slice(1, 1, 4).slice(0, 1, 2).slice(2, 3, 20).transposed();
      same(
          scope,
          host,
          part,
          "sliced and transposed",
          i -> (rows + 1 + i % 3) * columns + 3 + i / 3);
      same(scope, host, x.slice(1, 2, 2), "an empty slice", i -> i);
    }
  }

  /** Where the element of a view lies in its source. */
  private interface Source {
    int of(int index);
  }

  private static void same(
      Scope scope, HostTensor host, Tensor view, String detail, Source source) {
    int[] codes = new int[(int) view.shape().elements()];
    Arrays.setAll(codes, i -> host.code(source.of(i)));
    HostTensor expected = Data.codes(host.dtype(), codes, view.shape().dims());
    String what = host + " " + detail;
    Compare.sameBits("download of " + what, expected, scope.download(view));
    Tensor copy = scope.copy(view);
    Compare.equal("copy of " + what + ": isContiguous", true, copy.isContiguous());
    Compare.sameBits("copy of " + what, expected, scope.download(copy));
  }

  private static void says(Backend backend) {
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(HostTensor.of(Data.numbers(1, 24), 2, 3, 4));
      Compare.equal("shape", Shape.of(2, 3, 4), x.shape());
      Compare.equal("dtype", DType.F32, x.dtype());
      Compare.equal("scaling", Scaling.none(), x.scaling());
      Compare.equal("isView", false, x.isView());
      Compare.equal("isContiguous", true, x.isContiguous());
      Compare.equal("byteSize", 96L, x.byteSize());
      Compare.equal("transposed: shape", Shape.of(2, 4, 3), x.transposed().shape());
      Compare.equal("transposed: isView", true, x.transposed().isView());
      Compare.equal("transposed: isContiguous", false, x.transposed().isContiguous());
      Compare.equal("twice transposed", true, x.transposed().transposed().isContiguous());
      Compare.equal("slice: shape", Shape.of(2, 1, 4), x.slice(-2, 1, 2).shape());
      Compare.equal("slice of rows", true, x.slice(0, 1, 2).isContiguous());
      Compare.equal("slice of columns", false, x.slice(2, 1, 2).isContiguous());
      Compare.equal("reshape: shape", Shape.of(6, 4), x.reshape(6, 4).shape());
      Expect.illegalArgument("reshape to 5 × 5", "dims", () -> x.reshape(5, 5));
      Expect.illegalArgument("slice past the end", "to", () -> x.slice(0, 1, 3));
      Expect.illegalArgument("slice before the start", "from", () -> x.slice(0, -1, 1));
      Expect.illegalArgument("slice of dimension 3", "dim", () -> x.slice(3, 0, 1));
      Expect.illegalArgument("reshape with gaps", "", () -> x.transposed().reshape(24));
      x.transposed().close();
      Compare.equal("closing a view leaves its source", false, x.isClosed());
    }
  }
}
