package dev.minifloat.cuda.internal.plan;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.kernels.ParameterType;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/**
 * What follows a product, {@code Epilogue} of epilogue.cuh: out = activation(alpha · sum + beta · c
 * + bias), and the largest magnitude of out.
 *
 * @param c a view of out's extents, or absent
 * @param bias a vector, or absent
 * @param out address of the result
 * @param outType type of the result
 * @param amax address of an F32 that is 0, or 0
 * @param alpha factor of the sum
 * @param beta factor of c
 * @param activation applied last
 */
public record Epilogue(
    DeviceView c,
    DeviceView bias,
    long out,
    DType outType,
    long amax,
    float alpha,
    float beta,
    Activation activation) {
  private static final long C = offset("c");
  private static final long BIAS = offset("bias");
  private static final long OUT = offset("out");
  private static final long AMAX = offset("amax");
  private static final long ALPHA = offset("alpha");
  private static final long BETA = offset("beta");
  private static final long ACTIVATION = offset("activation");
  private static final long OUT_TYPE = offset("outType");

  private static long offset(String member) {
    return ParameterType.EPILOGUE.layout().byteOffset(groupElement(member));
  }

  /** The epilogue of a call, whose out has no gaps; c isn't read where beta is 0. */
  public static Epilogue of(GemmCall call) {
    boolean readsC = call.c() != null && call.beta() != 0;
    return new Epilogue(
        readsC ? DeviceView.of(call.c(), 0) : DeviceView.absent(),
        DeviceView.ofNullable(call.bias()),
        DeviceView.of(call.out(), 0).address(),
        call.out().dtype(),
        call.amax() == null ? 0 : DeviceView.of(call.amax(), 0).address(),
        call.alpha(),
        call.beta(),
        call.activation());
  }

  /** Nothing but the sum, in F32. */
  public static Epilogue none(TensorView out) {
    return new Epilogue(
        DeviceView.absent(),
        DeviceView.absent(),
        DeviceView.of(out, 0).address(),
        out.dtype(),
        0,
        1,
        0,
        Activation.NONE);
  }

  /** Writes the struct. */
  void write(MemorySegment to, long at) {
    c.write(to, at + C);
    bias.write(to, at + BIAS);
    to.set(JAVA_LONG, at + OUT, out);
    to.set(JAVA_LONG, at + AMAX, amax);
    to.set(JAVA_FLOAT, at + ALPHA, alpha);
    to.set(JAVA_FLOAT, at + BETA, beta);
    to.set(JAVA_INT, at + ACTIVATION, Codes.of(activation));
    to.set(JAVA_INT, at + OUT_TYPE, Codes.of(outType));
  }
}
