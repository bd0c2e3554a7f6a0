package dev.minifloat.cpu.internal.attention;

import dev.minifloat.cpu.internal.gemm.PackingBuffers;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.AttentionCall;

/**
 * Attention: few queries stream their keys, more share packed panels of them.
 *
 * <p>Any thread may call; what holds the state of a call is kept between calls.
 */
public final class AttentionKernel {
  private final Pool<PanelAttention> panels;
  private final Pool<StreamedAttention> streams;

  /** Attention that shares its work among {@code workers}. */
  public AttentionKernel(Workers workers, PackingBuffers buffers) {
    panels = new Pool<>(() -> new PanelAttention(workers, buffers));
    streams = new Pool<>(() -> new StreamedAttention(workers, buffers));
  }

  /** See {@link dev.minifloat.spi.Kernels#attention}. An object that throws is not used again. */
  public void run(AttentionCall call) {
    if (call.out().shape().elements() == 0) {
      return;
    }
    if (StreamedAttention.suits(call)) {
      StreamedAttention kernel = streams.take();
      kernel.run(call);
      streams.give(kernel);
    } else {
      PanelAttention kernel = panels.take();
      kernel.run(call);
      panels.give(kernel);
    }
  }
}
