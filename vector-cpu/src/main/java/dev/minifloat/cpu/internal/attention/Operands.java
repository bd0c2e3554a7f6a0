package dev.minifloat.cpu.internal.attention;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Encoders;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.gemm.GemmOperand;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.spi.AttentionCall;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;

/** The operands of one call at a time, and where its results go. */
final class Operands {
  final GemmOperand q = new GemmOperand();
  final GemmOperand k = new GemmOperand();
  final GemmOperand v = new GemmOperand();
  AttentionCall call;
  HostStorage out;
  int batch;
  int heads;
  int keyHeads;
  int queries;
  int keys;
  int width;

  void show(AttentionCall shown) {
    call = shown;
    q.show(shown.q());
    k.show(shown.k());
    v.show(shown.v());
    out = Views.storage(shown.out());
    batch = Work.toInt("q", shown.q().shape().dim(0), "batch entries");
    heads = Work.toInt("q", shown.q().shape().dim(1), "heads");
    keyHeads = Work.toInt("k", shown.k().shape().dim(1), "heads");
    queries = Work.toInt("q", shown.q().shape().rows(), "queries");
    keys = Work.toInt("k", shown.k().shape().rows(), "keys");
    width = (int) shown.q().shape().columns();
  }

  /** Shows nothing, and keeps nothing alive. */
  void clear() {
    call = null;
    q.clear();
    k.clear();
    v.clear();
    out = null;
  }

  /** Heads that read one key head. */
  int group() {
    return heads / keyHeads;
  }

  /** Keys that count for a batch entry. */
  int length(int entry) {
    return call.lengths() == null ? keys : Views.readInt(call.lengths(), entry);
  }

  /** Keys that a query sees of those that count. */
  int seen(int query, int length) {
    return (int) call.seen(query, length);
  }

  /** Index of the first element of a result. */
  long outIndex(int entry, int query, int head) {
    return (((long) entry * queries + query) * heads + head) * width;
  }

  /** Rounds a result, F32 with canonical NaNs, to its place. */
  void store(MemorySegment from, long at, int entry, int query, int head) {
    long first = outIndex(entry, query, head);
    if (out.dtype() == DType.F32) {
      MemorySegment.copy(
          from, PackedElements.FLOAT, at, out.data(), PackedElements.FLOAT, 4 * first, width);
      return;
    }
    DType to = out.dtype();
    Encoders.encode(
        from, at, width, to, out.data(), first, Rounding.NEAREST_EVEN, Overflow.defaultFor(to));
  }
}
