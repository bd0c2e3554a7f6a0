// Elementary functions in IEEE products, sums and fused multiply-adds alone: no approximate
// instruction, so that every device, and a simulated one, gives the same bits.
#pragma once

#include <math.h>

#include "formats.cuh"

// e^x to 1.5 ulp; e^-inf = 0, NaN stays NaN.
//
// x = n·ln 2 + r, |r| <= ln 2 / 2; e^r = 1 + r + r²·p(r). ln 2 is split in two, so that n·ln 2 is
// exact enough; 2^n is multiplied in two halves, so that subnormal results are rounded once.
HOST_DEVICE float exponential(float x) {
  if (x != x) {
    return x;
  }
  float bounded = x < -110.0f ? -110.0f : x > 90.0f ? 90.0f : x;
  float n = rintf(bounded * 1.442695041f);
  float r = fmaf(n, -0.693359375f, bounded);
  r = fmaf(n, 0.00021219444170128554f, r);
  float p = 0.0013933734f;
  p = fmaf(p, r, 0.008363236f);
  p = fmaf(p, r, 0.041666463f);
  p = fmaf(p, r, 0.16666576f);
  p = fmaf(p, r, 0.5f);
  p = fmaf(p * r, r, r) + 1.0f;
  int whole = (int)n;
  int half = whole / 2;
  return p * powerOfTwo(half) * powerOfTwo(whole - half);
}

// erfc(t / √2) of t >= 0 to a few ulp: e^(-t²/2) · erfcx, and erfcx(z)·(1 + 2z) is smooth in
// (z - 4) / (z + 4). Below the normal floats it is 0.
HOST_DEVICE float complementOfNormal(float t) {
  if (t > 13.2f) {
    return 0;
  }
  float z = t * 0.70710678118f;
  float q = (z - 4.0f) / (z + 4.0f);
  float p = 0.0008617560961283743f;
  p = fmaf(p, q, 0.006953888572752476f);
  p = fmaf(p, q, -0.015959344804286957f);
  p = fmaf(p, q, 0.036414068192243576f);
  p = fmaf(p, q, -0.06661708652973175f);
  p = fmaf(p, q, 0.0938258096575737f);
  p = fmaf(p, q, -0.10099237412214279f);
  p = fmaf(p, q, 0.06809278577566147f);
  p = fmaf(p, q, 0.015377407893538475f);
  p = fmaf(p, q, -0.1396210491657257f);
  p = fmaf(p, q, 1.2329951524734497f);
  // t² as a sum of two floats: the exponential would multiply its rounding error.
  float square = t * t;
  float lost = fmaf(t, t, -square);
  float gaussian = exponential(-0.5f * square) * fmaf(-0.5f, lost, 1.0f);
  return gaussian * (p / fmaf(2.0f, z, 1.0f));
}

enum Activation { NONE, RELU, GELU_ERF, GELU_TANH, SILU };

// An activation in F32, within 16·2^-24·|x|. At -inf the GELUs and SiLU give their limit, -0.
HOST_DEVICE float activate(int activation, float x) {
  if (activation == NONE || x != x) {
    return x;
  }
  if (activation == RELU) {
    return x > 0 ? x : 0;
  }
  if (x == asFloat(0xFF800000)) {
    return asFloat(0x80000000);
  }
  if (activation == GELU_ERF) {
    float tail = 0.5f * complementOfNormal(fabsf(x));
    return x * (x < 0 ? tail : 1.0f - tail);
  }
  // ½ (1 + tanh u) is the logistic function of 2u, which keeps its digits for u far below 0.
  float u = x;
  if (activation == GELU_TANH) {
    u = 1.5957691216f * fmaf(0.044715f * x * x, x, x);
  }
  return x / (1.0f + exponential(-u));
}

// 2^x in F64 for |x| <= 1000, to about an ulp.
HOST_DEVICE double exp2Double(double x) {
  double n = rint(x);
  double f = x - n;
  double p = 4.456675463639861e-10;
  p = fma(p, f, 7.074194562613105e-09);
  p = fma(p, f, 1.0178051192117847e-07);
  p = fma(p, f, 1.3215432534254118e-06);
  p = fma(p, f, 1.5252733856295574e-05);
  p = fma(p, f, 0.00015403530463727982);
  p = fma(p, f, 0.001333355814639035);
  p = fma(p, f, 0.009618129107587253);
  p = fma(p, f, 0.0555041086648217);
  p = fma(p, f, 0.24022650695910158);
  p = fma(p, f, 0.6931471805599453);
  p = fma(p, f, 1.0);
  return p * asDouble((uint64_t)((int64_t)n + 1023) << 52);
}

struct SinCos {
  float sine;
  float cosine;
};

// Sine and cosine of an angle below 2^40, to 1.5 · 2^-24 absolutely: reduced by π/2 in F64, whose
// two parts of π/2 leave an error of angle · 2^-106, then polynomials in F32.
HOST_DEVICE SinCos sinCos(double angle) {
  double n = rint(angle * 0.6366197723675814);
  double reduced = fma(n, -1.5707963267948966, angle);
  float r = (float)fma(n, -6.123233995736766e-17, reduced);
  float s = r * r;
  float p = 2.7252731342741754e-06f;
  p = fmaf(p, s, -0.00019840132154058665f);
  p = fmaf(p, s, 0.008333331905305386f);
  p = fmaf(p, s, -0.1666666716337204f);
  float sine = fmaf(p * s, r, r);
  float c = 2.4553235562052578e-05f;
  c = fmaf(c, s, -0.0013888354878872633f);
  c = fmaf(c, s, 0.0416666641831398f);
  float cosine = fmaf(c * s, s, fmaf(-0.5f, s, 1.0f));
  int quadrant = (int)((int64_t)n & 3);
  float a = quadrant & 1 ? cosine : sine;
  float b = quadrant & 1 ? sine : cosine;
  return {quadrant & 2 ? -a : a, (quadrant + 1) & 2 ? -b : b};
}
