package com.example.tiny;

import dev.minifloat.BackendInfo;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.reference.ReferenceBackend;
import dev.minifloat.spi.BackendBase;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.Storage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A backend as a third party would write it, in a package of its own: heap memory, the reference's
 * kernels, and, if it is asked for, one fault.
 */
public final class TinyBackend extends BackendBase {
  private final Fault fault;
  private final Kernels kernels;

  /** A backend with a fault; {@link Fault#NONE} for a sound one. */
  public TinyBackend(Fault fault) {
    super(fault.backendName());
    this.fault = fault;
    this.kernels = new FaultyKernels(ReferenceBackend.hostKernels(), fault);
  }

  @Override
  public BackendInfo info() {
    return new BackendInfo("heap memory", 0, 1);
  }

  @Override
  public boolean supports(Op op, DType dtype, Scaling scaling) {
    // It does not sell rotary embeddings in half precision, and says so.
    boolean left = op == Op.ROPE && dtype == DType.F16 && fault != Fault.CLAIMS_TOO_MUCH;
    return super.supports(op, dtype, scaling) && !left;
  }

  @Override
  protected Kernels kernels() {
    return kernels;
  }

  @Override
  protected Storage allocate(DType dtype, Shape shape, Scaling scaling) {
    HostTensor host = HostTensor.allocate(Arena.ofAuto(), dtype, shape, scaling);
    return new HostStorage(dtype, shape, scaling, host.data(), host.scales(), () -> {});
  }

  @Override
  protected void upload(HostTensor source, Storage target) {
    HostStorage storage = (HostStorage) target;
    MemorySegment from = source.data();
    long kept =
        fault == Fault.UPLOAD_DROPS_LAST_BYTE ? Math.max(0, from.byteSize() - 1) : from.byteSize();
    storage.data().asSlice(0, kept).copyFrom(from.asSlice(0, kept));
    storage.scales().copyFrom(source.scales());
    storage.globalScale(source.globalScale());
  }

  @Override
  protected HostTensor download(Storage source, Arena arena) {
    return ((HostStorage) source).copyTo(arena);
  }

  @Override
  protected void shutDown() {
    // The collector takes the memory.
  }
}
