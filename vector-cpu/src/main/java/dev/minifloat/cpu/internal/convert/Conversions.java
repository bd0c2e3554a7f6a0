package dev.minifloat.cpu.internal.convert;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pages;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.cpu.internal.runtime.Species;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/** Conversion and dequantization: one step each, run by run through the first cache. */
public final class Conversions {
  /** Where in scratch memory integers lie that have gaps in their tensor; the values at 0. */
  private static final long INTEGERS = 4L * Work.RUN;

  private final Workers workers;
  private final Memory memory;
  private final Copier copier;
  private final Pool<Call> calls = new Pool<>(Call::new);
  private final Pool<ReadAhead> spares = new Pool<>(ReadAhead::new);

  public Conversions(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  public void convert(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
    Call call = calls.take();
    try {
      call.run(x, out, rounding, overflow);
    } finally {
      call.clear();
      calls.give(call);
    }
  }

  public void dequantize(TensorView x, TensorView out) {
    convert(x, out, Rounding.NEAREST_EVEN, Overflow.defaultFor(out.dtype()));
  }

  /** One call, whose tasks any thread may run. */
  private final class Call {
    private final Source source = new Source();
    private final IntConsumer task = this::task;
    private TensorView out;
    private MemorySegment data;
    private Rounding rounding;
    private Overflow overflow;
    private long elements;
    private boolean integers;

    /** Whether values are decoded to where they belong. */
    private boolean decodes;

    /** Where random bits and codes that share bytes lie in scratch memory. */
    private long spare;

    private int scratchBytes;

    /** Pieces of a task. */
    private int pieces;

    void run(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
      this.out = out;
      this.data = Views.storage(out).data();
      this.rounding = rounding;
      this.overflow = overflow;
      elements = x.shape().elements();
      integers = x.dtype() == DType.I32;
      source.open(x, copier, memory);
      // Every type but I32 is exact in F32, so that decoding adds no rounding; and no type but F32
      // has values beyond F32's, of which only infinities are saturated.
      decodes =
          out.dtype() == DType.F32
              && !integers
              && !source.isDirect()
              && (overflow == Overflow.IEEE || !x.dtype().hasInfinity());
      spare = integers ? INTEGERS + 4L * Work.RUN : 4L * Work.RUN;
      int random = integers ? Integers.scratchBytes(rounding, Work.RUN) : 0;
      scratchBytes =
          (int) spare + Math.max(random, Encoders.scratchBytes(out.dtype(), rounding, Work.RUN));
      int all = Work.tasks(elements);
      pieces = Work.piecesOfTask(all);
      workers.run(Math.ceilDiv(all, pieces), task);
    }

    private void task(int task) {
      long first = (long) task * pieces * Work.TASK;
      long end = Math.min(elements, first + (long) pieces * Work.TASK);
      ReadAhead ahead = spares.take();
      try (Memory.Block scratch = memory.take(scratchBytes)) {
        MemorySegment buffer = scratch.segment();
        boolean cold = true;
        for (long at = first; at < end; at += Work.TASK) {
          int count = (int) Math.min(Work.TASK, end - at);
          cold = piece(at, count, buffer, cold, ahead) == null;
        }
      } finally {
        spares.give(ahead);
      }
    }

    /** Converts a piece; returns what was read ahead meanwhile, null if nothing. */
    private ReadAhead piece(
        long first, int count, MemorySegment buffer, boolean cold, ReadAhead spare) {
      int bits = out.dtype().bits();
      if (cold) {
        int touched = source.touch(first, count);
        touched |= Pages.touch(data, first * bits / 8, (long) count * bits / 8);
        Pages.keep(buffer, touched);
      }
      // What is read ahead is F32, by far the most of what is read and written.
      ReadAhead ahead = ahead(first + count, count, spare);
      for (long at = first; at < first + count; at += Work.RUN) {
        run(at, (int) Math.min(Work.RUN, first + count - at), buffer, ahead);
      }
      return ahead;
    }

    private ReadAhead ahead(long next, int count, ReadAhead spare) {
      if (!decodes) {
        return rounding instanceof Rounding.Stochastic ? null : source.ahead(spare, next, count);
      }
      if (next + count > elements) {
        return null;
      }
      spare.open(4 * next, 4L * count);
      return spare;
    }

    private void run(long at, int n, MemorySegment buffer, ReadAhead ahead) {
      if (decodes) {
        source.read(at, n, data, at * 4, ahead);
        return;
      }
      MemorySegment values = source.segment(buffer);
      long from;
      if (integers) {
        from = source.codes(at, n, buffer, INTEGERS);
        MemorySegment codes = source.codeSegment(buffer);
        if (n < Species.LANES) {
          integers(codes, from, at, n);
          return;
        }
        Integers.floats(codes, from, n, out.dtype(), rounding, at, buffer, 0, spare);
        values = buffer;
        from = 0;
      } else {
        from = source.read(at, n, buffer, 0);
      }
      Encoders.encode(
          values, from, n, out.dtype(), data, at, rounding, overflow, at, buffer, spare, ahead);
    }

    /** Fewer integers than fill a vector, one by one. */
    private void integers(MemorySegment codes, long from, long at, int n) {
      for (int i = 0; i < n; i++) {
        double value = codes.get(PackedElements.INT, from + 4L * i);
        int code = Codec.encode(out.dtype(), value, rounding, overflow, at + i);
        PackedElements.set(out.dtype(), data, at + i, code);
      }
    }

    void clear() {
      source.close();
      out = null;
      data = null;
    }
  }
}
