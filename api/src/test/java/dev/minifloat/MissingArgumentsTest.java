package dev.minifloat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.minifloat.reference.ReferenceBackend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class MissingArgumentsTest {
  private static void assertMissing(String name, Executable call) {
    assertEquals(name, assertThrows(NullPointerException.class, call).getMessage());
  }

  @Test
  void aHostTensorNamesWhatIsMissing() {
    Shape shape = Shape.of(2);
    MemorySegment data = MemorySegment.ofArray(new float[2]);
    Scaling scaling = Scaling.rows();
    assertMissing("data", () -> HostTensor.wrap(DType.F32, shape, null));
    assertMissing("dtype", () -> HostTensor.wrap(null, shape, data));
    assertMissing("shape", () -> HostTensor.wrap(DType.F32, null, data));
    assertMissing("scales", () -> HostTensor.wrap(DType.F8_E4M3, shape, scaling, data, null));
    assertMissing("scaling", () -> HostTensor.wrap(DType.F32, shape, null, data, data));
    assertMissing("values", () -> HostTensor.of((float[]) null, 2));
    assertMissing("values", () -> HostTensor.of((int[]) null, 2));
    assertMissing("dims", () -> HostTensor.of(new float[2], (long[]) null));
    assertMissing("arena", () -> HostTensor.allocate(null, DType.F32, shape, scaling));
    Arena arena = Arena.ofAuto();
    assertMissing("dtype", () -> HostTensor.allocate(arena, null, shape, scaling));
    assertMissing("shape", () -> HostTensor.allocate(arena, DType.F32, null, scaling));
    assertMissing("scaling", () -> HostTensor.allocate(arena, DType.F32, shape, null));
    assertMissing("dims", () -> Shape.of((long[]) null));
    assertMissing("dtype", () -> QuantSpec.of(null));
    assertMissing("dtype", () -> Overflow.defaultFor(null));
  }

  @Test
  void anOperationNamesWhatIsMissing() {
    try (ReferenceBackend backend = new ReferenceBackend()) {
      Tensor x = backend.upload(HostTensor.of(new float[4], 2, 2));
      assertMissing("host", () -> backend.upload(null));
      assertMissing("x", () -> backend.download(null));
      assertMissing("x", () -> backend.copy(null));
      assertMissing("to", () -> backend.convert(x, null));
      assertMissing("x", () -> backend.convert(null, DType.F16));
      assertMissing("spec", () -> backend.quantize(x, null));
      assertMissing("to", () -> backend.dequantize(x, null));
      assertMissing("a", () -> backend.dot(null, x));
      assertMissing("x", () -> backend.gemv(x, null));
      assertMissing("gemm", () -> backend.gemm(null));
      assertMissing("gemms", () -> backend.gemms(null));
      List<Gemm> gap = Arrays.asList(Gemm.of(x, x), null);
      assertMissing("gemms", () -> backend.gemms(gap));
      assertEquals(1, backend.liveTensors());
      assertMissing("b", () -> backend.add(x, null));
      assertMissing("activation", () -> backend.activation(x, null));
      assertMissing("softmax", () -> backend.softmax(null));
      assertMissing("gamma", () -> backend.rmsNorm(x, null, 1));
      assertMissing("beta", () -> backend.layerNorm(x, x.reshape(4).slice(0, 0, 2), null, 1));
      assertMissing("rope", () -> backend.rope(null));
      assertMissing("ids", () -> backend.embedding(x, null, DType.F32));
      assertMissing("pooling", () -> backend.pool(x, null, null));
      assertMissing("x", () -> backend.l2Normalize(null));
    }
  }
}
