package dev.minifloat.bench;

/**
 * Products of rows in plain Java, four sums at a time: what is written without knowing more, with a
 * table where a format has few codes. Offsets and lengths count elements; lengths are multiples of
 * 32.
 */
final class ScalarLoops {
  private ScalarLoops() {}

  static float f32(float[] a, int aFrom, float[] b, int bFrom, int n) {
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    for (int i = 0; i < n; i += 4) {
      s0 += a[aFrom + i] * b[bFrom + i];
      s1 += a[aFrom + i + 1] * b[bFrom + i + 1];
      s2 += a[aFrom + i + 2] * b[bFrom + i + 2];
      s3 += a[aFrom + i + 3] * b[bFrom + i + 3];
    }
    return s0 + s1 + (s2 + s3);
  }

  private static float bf16(short x) {
    return Float.intBitsToFloat(x << 16);
  }

  static float bf16(short[] a, short[] b, int n) {
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    for (int i = 0; i < n; i += 4) {
      s0 += bf16(a[i]) * bf16(b[i]);
      s1 += bf16(a[i + 1]) * bf16(b[i + 1]);
      s2 += bf16(a[i + 2]) * bf16(b[i + 2]);
      s3 += bf16(a[i + 3]) * bf16(b[i + 3]);
    }
    return s0 + s1 + (s2 + s3);
  }

  static float f32Bf16(float[] x, short[] w, int from, int n) {
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    for (int i = 0; i < n; i += 4) {
      s0 += x[i] * bf16(w[from + i]);
      s1 += x[i + 1] * bf16(w[from + i + 1]);
      s2 += x[i + 2] * bf16(w[from + i + 2]);
      s3 += x[i + 3] * bf16(w[from + i + 3]);
    }
    return s0 + s1 + (s2 + s3);
  }

  static float f16(short[] a, short[] b, int n) {
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    for (int i = 0; i < n; i += 4) {
      s0 += Float.float16ToFloat(a[i]) * Float.float16ToFloat(b[i]);
      s1 += Float.float16ToFloat(a[i + 1]) * Float.float16ToFloat(b[i + 1]);
      s2 += Float.float16ToFloat(a[i + 2]) * Float.float16ToFloat(b[i + 2]);
      s3 += Float.float16ToFloat(a[i + 3]) * Float.float16ToFloat(b[i + 3]);
    }
    return s0 + s1 + (s2 + s3);
  }

  static float f32F16(float[] x, short[] w, int from, int n) {
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    for (int i = 0; i < n; i += 4) {
      s0 += x[i] * Float.float16ToFloat(w[from + i]);
      s1 += x[i + 1] * Float.float16ToFloat(w[from + i + 1]);
      s2 += x[i + 2] * Float.float16ToFloat(w[from + i + 2]);
      s3 += x[i + 3] * Float.float16ToFloat(w[from + i + 3]);
    }
    return s0 + s1 + (s2 + s3);
  }

  /** Eight-bit codes through a table of their 256 values. */
  static float table8(byte[] a, byte[] b, float[] table, int n) {
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    for (int i = 0; i < n; i += 4) {
      s0 += table[a[i] & 0xff] * table[b[i] & 0xff];
      s1 += table[a[i + 1] & 0xff] * table[b[i + 1] & 0xff];
      s2 += table[a[i + 2] & 0xff] * table[b[i + 2] & 0xff];
      s3 += table[a[i + 3] & 0xff] * table[b[i + 3] & 0xff];
    }
    return s0 + s1 + (s2 + s3);
  }

  static float f32Table8(float[] x, byte[] w, int from, float[] table, int n) {
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    for (int i = 0; i < n; i += 4) {
      s0 += x[i] * table[w[from + i] & 0xff];
      s1 += x[i + 1] * table[w[from + i + 1] & 0xff];
      s2 += x[i + 2] * table[w[from + i + 2] & 0xff];
      s3 += x[i + 3] * table[w[from + i + 3] & 0xff];
    }
    return s0 + s1 + (s2 + s3);
  }

  /** Two codes a byte, low half first, with a scale for each block. */
  static float table4(
      byte[] a, float[] aScales, byte[] b, float[] bScales, int block, float[] table, int n) {
    float sum = 0;
    for (int i = 0; i < n; i += block) {
      float low = 0;
      float high = 0;
      for (int j = i / 2; j < (i + block) / 2; j++) {
        low += table[a[j] & 15] * table[b[j] & 15];
        high += table[(a[j] >> 4) & 15] * table[(b[j] >> 4) & 15];
      }
      sum += (low + high) * (aScales[i / block] * bScales[i / block]);
    }
    return sum;
  }

  /** As {@link #table4}, of the row that begins at element {@code from}. */
  static float f32Table4(
      float[] x, byte[] w, float[] scales, int from, int block, float[] table, int n) {
    float sum = 0;
    for (int i = 0; i < n; i += block) {
      float low = 0;
      float high = 0;
      for (int j = 0; j < block; j += 2) {
        byte pair = w[(from + i + j) / 2];
        low += x[i + j] * table[pair & 15];
        high += x[i + j + 1] * table[(pair >> 4) & 15];
      }
      sum += (low + high) * scales[(from + i) / block];
    }
    return sum;
  }
}
