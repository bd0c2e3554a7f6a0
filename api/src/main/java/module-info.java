/** Tensors of low-precision formats, the numerics behind them, and the interface of backends. */
module dev.minifloat {
  requires org.slf4j;

  exports dev.minifloat;
  exports dev.minifloat.codec;
  exports dev.minifloat.reference;
  exports dev.minifloat.spi;

  uses dev.minifloat.spi.BackendProvider;

  provides dev.minifloat.spi.BackendProvider with
      dev.minifloat.reference.ReferenceProvider;
}
