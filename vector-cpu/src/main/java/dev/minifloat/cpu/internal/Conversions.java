package dev.minifloat.cpu.internal;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/** Conversion and dequantization: one step each, run by run through the first cache. */
final class Conversions {
  private final Workers workers;
  private final Memory memory;
  private final Copier copier;

  Conversions(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  void convert(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
    if (x.dtype() == DType.I32) {
      integers(x, out, rounding, overflow);
      return;
    }
    // Every other type is exact in F32, so that decoding adds no rounding.
    encoded(x, out, rounding, overflow);
  }

  void dequantize(TensorView x, TensorView out) {
    encoded(x, out, Rounding.NEAREST_EVEN, Overflow.defaultFor(out.dtype()));
  }

  private void encoded(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
    long elements = x.shape().elements();
    MemorySegment data = Views.storage(out).data();
    long valueBytes = 4L * Work.RUN;
    long bytes =
        valueBytes
            + (Encoders.needsScratch(out.dtype(), rounding)
                ? (long) Work.RUN * Encoders.SCRATCH_PER_ELEMENT
                : 0);
    // No type but F32 has values beyond F32's; only its infinities are saturated.
    boolean decodeOnly =
        out.dtype() == DType.F32 && (overflow == Overflow.IEEE || !x.dtype().hasInfinity());
    boolean scaled = !x.isUnscaled();
    try (Source source = Source.of(x, copier, memory)) {
      workers.run(
          Work.tasks(elements),
          task -> {
            long end = Math.min(elements, (task + 1L) * Work.TASK);
            try (Memory.Block scratch = memory.take(bytes)) {
              MemorySegment buffer = scratch.segment();
              MemorySegment spare = buffer.asSlice(valueBytes);
              for (long at = (long) task * Work.TASK; at < end; at += Work.RUN) {
                int count = (int) Math.min(Work.RUN, end - at);
                if (decodeOnly && !source.isDirect()) {
                  source.read(at, count, data, at * 4);
                  if (scaled) {
                    Nans.canonical(data, at * 4, count);
                  }
                  continue;
                }
                long from = source.read(at, count, buffer, 0);
                if (scaled) {
                  Nans.canonical(buffer, from, count);
                }
                Encoders.encode(
                    source.segment(buffer),
                    from,
                    count,
                    out.dtype(),
                    data,
                    at,
                    rounding,
                    overflow,
                    at,
                    spare);
              }
            }
          });
    }
  }

  /** I32, whose values F32 can't hold: one by one, from the exact F64. */
  private void integers(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
    long elements = x.shape().elements();
    HostStorage from = Views.storage(x);
    MemorySegment to = Views.storage(out).data();
    workers.run(
        Work.tasks(elements),
        task -> {
          long end = Math.min(elements, (task + 1L) * Work.TASK);
          for (long i = (long) task * Work.TASK; i < end; i++) {
            double value = from.data().get(PackedElements.INT, x.storageIndex(i) * 4);
            int code = Codec.encode(out.dtype(), value, rounding, overflow, i);
            PackedElements.set(out.dtype(), to, i, code);
          }
        });
  }
}
