package com.example.tiny;

import dev.minifloat.Backend;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.BackendProvider;

/** Offers the sound {@link TinyBackend}, and by subclasses those with a fault. */
public class TinyProvider implements BackendProvider {
  private final Fault fault;

  /** For the service loader. */
  public TinyProvider() {
    this(Fault.NONE);
  }

  TinyProvider(Fault fault) {
    this.fault = fault;
  }

  @Override
  public String name() {
    return fault.backendName();
  }

  @Override
  public String description() {
    return "a third party's backend";
  }

  @Override
  public int priority() {
    return -1;
  }

  @Override
  public Availability availability() {
    return new Availability.Available("heap memory");
  }

  @Override
  public Backend create() {
    return new TinyBackend(fault);
  }

  /** Stochastic rounding is off by one element. */
  public static final class Stochastic extends TinyProvider {
    /** For the service loader. */
    public Stochastic() {
      super(Fault.STOCHASTIC_INDEX_OFF_BY_ONE);
    }
  }

  /** Quantization multiplies. */
  public static final class Reciprocal extends TinyProvider {
    /** For the service loader. */
    public Reciprocal() {
      super(Fault.QUANTIZE_MULTIPLIES_BY_RECIPROCAL);
    }
  }

  /** Products lose the tail of K. */
  public static final class Tail extends TinyProvider {
    /** For the service loader. */
    public Tail() {
      super(Fault.GEMM_DROPS_TAIL_OF_K);
    }
  }
}
