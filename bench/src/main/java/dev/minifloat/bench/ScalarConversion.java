package dev.minifloat.bench;

import dev.minifloat.DType;
import java.util.Arrays;

/** F32 to and from F16 and BF16 on arrays. */
final class ScalarConversion implements Contestant {
  private final Workload.Convert work;
  private final float[] floats;
  private final short[] halves;

  ScalarConversion(Workload.Convert work) {
    this.work = work;
    Values x = work.x();
    float[] distinct = x.distinct();
    floats = new float[x.rows() * x.columns()];
    halves = new short[floats.length];
    for (int from = 0; from < floats.length; from += distinct.length) {
      System.arraycopy(distinct, 0, floats, from, Math.min(distinct.length, floats.length - from));
    }
    if (work.to() == DType.F32) {
      narrow(work.from());
      Arrays.fill(floats, 0);
    }
  }

  @Override
  public String name() {
    return Scalar.NAME;
  }

  @Override
  public void run() {
    if (work.to() == DType.F32) {
      widen();
    } else {
      narrow(work.to());
    }
  }

  private void narrow(DType to) {
    if (to == DType.F16) {
      for (int i = 0; i < floats.length; i++) {
        halves[i] = Float.floatToFloat16(floats[i]);
      }
    } else {
      for (int i = 0; i < floats.length; i++) {
        halves[i] = bfloat16(floats[i]);
      }
    }
  }

  /**
   * Nearest-even: the discarded half and the kept half's lowest bit carry into the kept half. NaN
   * gives the canonical one.
   *
   * <pre>
   *   s eeeeeeee mmmmmmm | mmmmmmmmmmmmmmmm
   *                    + | 0111111111111111 + lowest kept bit
   * </pre>
   */
  private static short bfloat16(float x) {
    int bits = Float.floatToRawIntBits(x);
    int rounded = (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
    return (short) (Float.isNaN(x) ? ((bits >>> 16) & 0x8000) | 0x7fc0 : rounded);
  }

  private void widen() {
    if (work.from() == DType.F16) {
      for (int i = 0; i < floats.length; i++) {
        floats[i] = Float.float16ToFloat(halves[i]);
      }
    } else {
      for (int i = 0; i < floats.length; i++) {
        floats[i] = Float.intBitsToFloat(halves[i] << 16);
      }
    }
  }

  @Override
  public float[] result() {
    if (work.to() == DType.F32) {
      return floats.clone();
    }
    float[] values = new float[halves.length];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          work.to() == DType.F16
              ? Float.float16ToFloat(halves[i])
              : Float.intBitsToFloat(halves[i] << 16);
    }
    return values;
  }

  @Override
  public void close() {}
}
