package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.*;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.internal.driver.CuResult;
import dev.minifloat.cuda.sim.internal.exec.TensorMap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tensor maps: what cuTensorMapEncodeTiled takes and refuses. */
class TensorMapTest {
  /** Arguments of a map that is right: E4M3 [40][256], boxes of 16 rows of 128. */
  private static Object[] right(Client client, MemorySegment map, long address) {
    return new Object[] {
      map,
      0,
      2,
      address,
      client.arena.allocateFrom(ValueLayout.JAVA_LONG, 250, 40),
      client.arena.allocateFrom(ValueLayout.JAVA_LONG, 256),
      client.ints(128, 16),
      client.ints(1, 1),
      0,
      3,
      2,
      0
    };
  }

  @Test
  void aMapHoldsWhatItWasMadeOf() {
    try (Client client = Client.ready("sim:sm_90a")) {
      MemorySegment bytes = client.arena.allocate(128, 64);
      long address = client.alloc(256 * 40);
      client.ok(cuTensorMapEncodeTiled, right(client, bytes, address));
      TensorMap map = TensorMap.decode(bytes.toArray(ValueLayout.JAVA_BYTE));
      assertEquals(TensorMap.Type.UINT8, map.type());
      assertEquals(address, map.address());
      assertEquals(250, map.dimensions()[0]);
      assertEquals(40, map.dimensions()[1]);
      assertEquals(256, map.strides()[0]);
      assertEquals(128 * 16, map.boxBytes());
      assertEquals(TensorMap.Swizzle.BYTES_128, map.swizzle());
      client.ok(cuTensorMapReplaceAddress, bytes, address + 16);
      map = TensorMap.decode(bytes.toArray(ValueLayout.JAVA_BYTE));
      assertEquals(address + 16, map.address());
      assertEquals(40, map.dimensions()[1]);
      client.fails(CuResult.INVALID_VALUE, cuTensorMapReplaceAddress, bytes, address + 8);
      bytes.set(ValueLayout.JAVA_BYTE, 30, (byte) 1);
      client.fails(CuResult.INVALID_VALUE, cuTensorMapReplaceAddress, bytes, address);
    }
  }

  @Test
  void olderDevicesHaveNone() {
    try (Client client = Client.ready("sim:sm_89")) {
      MemorySegment bytes = client.arena.allocate(128, 64);
      client.fails(
          CuResult.NOT_SUPPORTED,
          cuTensorMapEncodeTiled,
          right(client, bytes, client.alloc(256 * 40)));
      assertEquals(0, client.getInt(cuDeviceGetAttribute, 127, 0));
    }
    try (Client client = Client.ready("sim:sm_90a")) {
      assertEquals(1, client.getInt(cuDeviceGetAttribute, 127, 0));
      assertEquals(1, client.getInt(cuDeviceGetAttribute, 120, 0));
    }
  }

  /** Each changes one argument: a number, or an array's. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          1  | 16        | INVALID_VALUE
          1  | 13        | NOT_SUPPORTED
          2  | 0         | INVALID_VALUE
          2  | 6         | INVALID_VALUE
          3  | 8         | INVALID_VALUE
          3  | 0         | INVALID_VALUE
          4  | 0 40      | INVALID_VALUE
          4  | 250 4294967297 | INVALID_VALUE
          5  | 248       | INVALID_VALUE
          5  | 240       | INVALID_VALUE
          5  | 1099511627776 | INVALID_VALUE
          6  | 0 16      | INVALID_VALUE
          6  | 128 257   | INVALID_VALUE
          6  | 120 16    | INVALID_VALUE
          6  | 144 16    | INVALID_VALUE
          6  | 64 16     | NOT_SUPPORTED
          7  | 1 9       | INVALID_VALUE
          7  | 1 0       | INVALID_VALUE
          8  | 1         | INVALID_VALUE
          8  | 3         | INVALID_VALUE
          9  | 7         | INVALID_VALUE
          9  | 4         | NOT_SUPPORTED
          10 | 4         | INVALID_VALUE
          11 | 1         | INVALID_VALUE
          11 | 2         | INVALID_VALUE
          """)
  void wrongArgumentsAreRefused(int index, String value, CuResult result) {
    try (Client client = Client.ready("sim:sm_90a")) {
      MemorySegment bytes = client.arena.allocate(128, 64);
      Object[] arguments = right(client, bytes, client.alloc(256 * 40));
      String[] words = value.split(" ", -1);
      switch (index) {
        case 3 -> arguments[3] = Long.parseLong(value);
        case 4, 5 -> {
          long[] longs = java.util.Arrays.stream(words).mapToLong(Long::parseLong).toArray();
          arguments[index] = client.arena.allocateFrom(ValueLayout.JAVA_LONG, longs);
        }
        case 6, 7 ->
            arguments[index] = client.ints(Integer.parseInt(words[0]), Integer.parseInt(words[1]));
        default -> arguments[index] = Integer.parseInt(value);
      }
      client.fails(result, cuTensorMapEncodeTiled, arguments);
    }
  }

  @Test
  void theMapIsAligned() {
    try (Client client = Client.ready("sim:sm_90a")) {
      MemorySegment bytes = client.arena.allocate(192, 64).asSlice(32, 128);
      client.fails(
          CuResult.INVALID_VALUE,
          cuTensorMapEncodeTiled,
          right(client, bytes, client.alloc(256 * 40)));
    }
  }
}
