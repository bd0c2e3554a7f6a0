/**
 * Tensors of low-precision formats and the interface that every backend implements.
 *
 * <p>{@link dev.minifloat.Backends} finds the backends; a {@link dev.minifloat.Scope} of one owns
 * the tensors made in it and offers the {@link dev.minifloat.Operations}:
 *
 * {@snippet :
 * try (Backend backend = Backends.best();
 *     Scope scope = backend.scope()) {
 *   Tensor a = scope.upload(HostTensor.of(values, rows, columns));
 *   Tensor q = scope.quantize(a, QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()));
 *   HostTensor back = scope.download(scope.dequantize(q));
 * }
 * }
 *
 * <p>What conversions, scales and quantization give is fixed to the bit, by {@link
 * dev.minifloat.codec}; products have a written error bound. A {@link dev.minifloat.HostTensor}
 * wraps memory of the caller's without a copy.
 */
package dev.minifloat;
