package dev.minifloat.cuda.internal.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.codec.Codec;
import dev.minifloat.cuda.internal.driver.Arguments;
import dev.minifloat.cuda.internal.driver.DeviceAllocator;
import dev.minifloat.cuda.internal.driver.DeviceMemory;
import dev.minifloat.cuda.internal.driver.KernelCache;
import dev.minifloat.cuda.internal.driver.Launch;
import dev.minifloat.cuda.internal.driver.PrimaryContext;
import dev.minifloat.cuda.internal.driver.Simulated;
import dev.minifloat.cuda.internal.driver.Stream;
import dev.minifloat.cuda.internal.driver.Transfers;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.ParameterType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What kernels do after a product that this backend doesn't ask of them, and others may. */
class EpilogueTest {
  private static final int COLUMNS = 300;

  /** For those who know the scale of a product's result before they multiply. */
  @Test
  void aResultInE4m3IsDividedByItsScaleBeforeItIsRounded() {
    float[] sums = new float[COLUMNS];
    byte[] expected = new byte[COLUMNS];
    float scale = 3.7f;
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < COLUMNS; i++) {
      sums[i] = (float) (random.nextGaussian() * 1000);
      expected[i] = (byte) Codec.encode(DType.F8_E4M3, sums[i] / scale);
    }
    byte[] actual = new byte[COLUMNS];
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context();
        Stream stream = Stream.create(context);
        DeviceAllocator allocator = new DeviceAllocator(stream);
        Transfers transfers = new Transfers(stream);
        KernelCache kernels = new KernelCache(context, KernelCatalog.load());
        Arena arena = Arena.ofConfined();
        DeviceMemory in = allocator.allocate((COLUMNS + 1L) * Float.BYTES);
        DeviceMemory out = allocator.allocate(COLUMNS)) {
      long scaleAt = COLUMNS * (long) Float.BYTES;
      transfers.upload(MemorySegment.ofArray(sums), in, 0);
      transfers.upload(MemorySegment.ofArray(new float[] {scale}), in, scaleAt);
      KernelEntry sum = kernels.catalog().kernel("skinny_sum", 80);
      Arguments arguments = new Arguments(sum, arena).pointer(in.address()).i64(1);
      MemorySegment epilogue = arguments.struct(ParameterType.EPILOGUE);
      DeviceView none = DeviceView.absent();
      new Epilogue(none, none, out.address(), DType.F8_E4M3, 0, 1, 0, Activation.NONE)
          .write(epilogue, 0);
      epilogue.set(
          ValueLayout.JAVA_LONG,
          ParameterType.EPILOGUE.layout().byteOffset(PathElement.groupElement("outScale")),
          in.address() + scaleAt);
      arguments.i64(1).i64(COLUMNS).i64(1);
      stream.launch(kernels.get(sum), Launch.of(arguments, 2, 1, 1));
      transfers.download(out, 0, MemorySegment.ofArray(actual));
    }
    assertArrayEquals(expected, actual);
  }
}
