package dev.minifloat.cpu.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class WorkTest {
  private static void assertRefused(Executable call, String... parts) {
    String message = assertThrows(IllegalArgumentException.class, call).getMessage();
    for (String part : parts) {
      assertTrue(message.contains(part), message);
    }
  }

  @Test
  void anExtentBeyondAnIntIsRefusedByName() {
    assertEquals(Integer.MAX_VALUE, Work.toInt("x", Integer.MAX_VALUE, "columns"));
    assertRefused(() -> Work.toInt("x", 1L << 31, "columns"), "x: 2147483648 columns");
    assertRefused(() -> Work.toInt("table", 1L << 40, "columns"), "table: 1099511627776");
  }

  @Test
  void tasksBeyondAnIntAreRefused() {
    assertEquals(0, Work.tasks(0));
    assertEquals(Integer.MAX_VALUE, Work.tasks((long) Integer.MAX_VALUE * Work.TASK));
    assertRefused(() -> Work.tasks(1L << 50), (1L << 35) + " tasks");
  }
}
