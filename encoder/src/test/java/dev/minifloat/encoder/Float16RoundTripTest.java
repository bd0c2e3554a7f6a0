package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.Backend;
import dev.minifloat.Backends;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.codec.Codec;
import dev.minifloat.formats.OnnxFile;
import dev.minifloat.formats.StorageType;
import dev.minifloat.formats.TensorInfo;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The weights of bge-small, all of which F16 can express, some as subnormals. */
class Float16RoundTripTest {
  private static final double SMALLEST_NORMAL = 0x1p-14;

  private static OnnxFile file;

  @BeforeAll
  static void open() {
    file = OnnxFile.open(ModelArchive.open(KnownModel.BGE_SMALL, Path.of("target/models")).onnx());
  }

  @AfterAll
  static void close() {
    file.close();
  }

  @Test
  void codecKeepsEveryBit() {
    long values = 0;
    long subnormals = 0;
    for (TensorInfo info : file.tensors()) {
      assertEquals(StorageType.F32, info.type(), info.name());
      MemorySegment data = file.data(info.name());
      for (long at = 0; at < data.byteSize(); at += Float.BYTES) {
        int bits = data.get(ValueLayout.JAVA_INT_UNALIGNED, at);
        float value = Float.intBitsToFloat(bits);
        int half = Codec.encode(DType.F16, value);
        if (Float.floatToRawIntBits(Codec.decode(DType.F16, half)) != bits) {
          assertEquals(bits, half, info.name() + " at byte " + at);
        }
        values++;
        if (value != 0 && Math.abs(value) < SMALLEST_NORMAL) {
          subnormals++;
        }
      }
    }
    assertEquals(33_212_160, values);
    // 0.14 %: a conversion that flushes them to zero would be caught.
    assertEquals(46_175, subnormals);
  }

  @Test
  void backendKeepsEveryBit() {
    try (Backend backend = Backends.best()) {
      for (TensorInfo info : file.tensors()) {
        MemorySegment data = file.data(info.name());
        try (Scope scope = backend.scope()) {
          Tensor original = scope.upload(HostTensor.wrap(DType.F32, info.shape(), data));
          Tensor back = scope.convert(scope.convert(original, DType.F16), DType.F32);
          assertEquals(-1, data.mismatch(scope.download(back).data()), info.name());
        }
      }
    }
  }
}
