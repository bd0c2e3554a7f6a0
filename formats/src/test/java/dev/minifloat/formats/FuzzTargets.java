package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.minifloat.MinifloatException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;

/**
 * What every input must satisfy, however damaged: it is read, or refused with a {@link
 * MinifloatException}, and no more memory is taken than its size allows.
 */
final class FuzzTargets {
  private FuzzTargets() {}

  /** Takes one input. */
  interface Target {
    void accept(byte[] input);
  }

  /** A safetensors file: header and data. */
  static void safetensors(byte[] input) {
    MemorySegment file = MemorySegment.ofArray(input);
    SafetensorsHeader header;
    try {
      header = SafetensorsHeader.parse("fuzz.safetensors", file);
    } catch (MinifloatException _) {
      return;
    }
    long data = 0;
    for (TensorInfo tensor : header.tensors()) {
      data += tensor.byteSize();
      assertEquals(tensor, header.find(tensor.name()).orElseThrow());
      touch(tensor, file.asSlice(tensor.offset(), tensor.byteSize()));
    }
    long dataStart =
        SafetensorsHeader.PREFIX + ByteBuffer.wrap(input).order(ByteOrder.LITTLE_ENDIAN).getLong();
    assertEquals(input.length, dataStart + data);
  }

  /** The index of a sharded model. */
  static void shardIndex(byte[] input) {
    try {
      ShardIndex index = ShardIndex.parse("fuzz.json", MemorySegment.ofArray(input));
      for (Map.Entry<String, String> shard : index.shards().entrySet()) {
        assertEquals(true, ShardIndex.staysInside(shard.getValue()), shard::getKey);
      }
    } catch (MinifloatException _) {
      // Refused, as it may be.
    }
  }

  /** An ONNX model, its typed data decoded too. */
  static void onnx(byte[] input) {
    try (OnnxFile file = OnnxFile.of(MemorySegment.ofArray(input), "fuzz.onnx")) {
      for (TensorInfo tensor : file.tensors()) {
        MemorySegment data = file.data(tensor.name());
        assertEquals(tensor.byteSize(), data.byteSize(), tensor::toString);
        touch(tensor, data);
      }
    } catch (MinifloatException _) {
      // Refused, as it may be.
    }
  }

  private static void touch(TensorInfo tensor, MemorySegment data) {
    long elements = tensor.shape().elements();
    if (elements > 0) {
      tensor.type().decode(data, 0);
      tensor.type().decodeImaginary(data, elements - 1);
    }
  }

  /**
   * Runs a target and checks what it allocates on the heap. What is too much for a first run, which
   * may load classes, must not be for a second.
   *
   * @param slack bytes that are allowed beyond twice the input
   */
  static void withinMemory(Target target, byte[] input, long slack) {
    long most = 2L * input.length + slack;
    if (allocation(target, input) > most) {
      long allocated = allocation(target, input);
      if (allocated > most) {
        throw new AssertionError(
            allocated + " bytes allocated for an input of " + input.length + " bytes");
      }
    }
  }

  private static long allocation(Target target, byte[] input) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    target.accept(input);
    return threads.getCurrentThreadAllocatedBytes() - before;
  }
}
