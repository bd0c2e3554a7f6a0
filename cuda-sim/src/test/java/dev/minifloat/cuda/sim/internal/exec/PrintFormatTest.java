package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Formats against what C's printf wrote: {@code printf/printf.c} made {@code printf.txt}. */
class PrintFormatTest {
  private static final long STRING = 1 << 20;

  /** Arguments from address 0 on, one string far behind them. */
  private record Arguments(ByteBuffer bytes, String string) implements PrintFormat.Memory {
    @Override
    public long load(long address, int size) {
      assertEquals(0, address % size, "an argument's alignment");
      return size == 8
          ? bytes.getLong((int) address)
          : Integer.toUnsignedLong(bytes.getInt((int) address));
    }

    @Override
    public byte[] string(long address) {
      assertEquals(STRING, address);
      return string.getBytes(StandardCharsets.UTF_8);
    }
  }

  private static PrintFormat format(String format, String string, Object... arguments) {
    ByteBuffer bytes = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
    for (Object argument : arguments) {
      if (argument instanceof Integer number) {
        bytes.putInt(number);
      } else {
        bytes.position((bytes.position() + 7) & -8);
        bytes.putLong((Long) argument);
      }
    }
    byte[] text = format.getBytes(StandardCharsets.UTF_8);
    return new PrintFormat(text, new Arguments(bytes, string), 0).run();
  }

  @Test
  void numbersAreWrittenAsCWritesThem() throws IOException {
    List<String> lines;
    try (InputStream in = PrintFormatTest.class.getResourceAsStream("/printf/printf.txt")) {
      lines = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
    List<String> wrong = new ArrayList<>();
    for (String line : lines) {
      String[] parts = line.split("\t", -1);
      String specification = parts[0];
      long bits = Long.parseUnsignedLong(parts[1], 16);
      boolean wide =
          specification.matches(".*[jlz].*") || "feEgGaAp".indexOf(last(specification)) >= 0;
      Object argument = wide ? (Object) bits : (Object) (int) bits;
      String written = "[" + format(specification, "", argument).text() + "]";
      if (!written.equals(parts[2])) {
        wrong.add(line + " but here " + written);
      }
    }
    assertEquals(List.of(), wrong);
    assertEquals(763, lines.size());
  }

  private static char last(String specification) {
    String bare = specification.replace("|", "");
    return bare.charAt(bare.length() - 1);
  }

  @Test
  void stringsAreCutAndPadded() {
    assertEquals(
        "[text] [  text] [text  ] [te] [    te]",
        format("[%s] [%6s] [%-6s] [%.2s] [%6.2s]", "text", STRING, STRING, STRING, STRING, STRING)
            .text());
    assertEquals("(null)", format("%s", "", 0L).text());
    assertEquals("grün 100 %", format("%s 100 %%", "grün", STRING).text());
  }

  @Test
  void argumentsLieAtMultiplesOfTheirSize() {
    PrintFormat mixed = format("%d %lld %c%c %.1f", "", 1, 2L, 65, 66, 0x3FF8_0000_0000_0000L);
    assertEquals("1 2 AB 1.5", mixed.text());
    assertEquals(5, mixed.arguments());
  }

  @Test
  void widthAndPrecisionCanBeArguments() {
    PrintFormat starred = format("[%*d] [%*d] [%.*d]", "", 5, 42, -5, 42, 4, 42);
    assertEquals("[   42] [42   ] [0042]", starred.text());
    assertEquals(6, starred.arguments());
  }

  @Test
  void whatIsNoSpecificationStandsAsItIs() {
    PrintFormat odd = format("%y %k% 5", "", 1);
    assertEquals("%y %k% 5", odd.text());
    assertEquals(0, odd.arguments());
    assertEquals("end%", format("end%", "").text());
    assertEquals("", format("", "").text());
  }
}
