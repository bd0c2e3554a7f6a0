package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Traces driven by scripts. */
class TraceCommandTest {
  /** y[i] = 2·x[i] for even threads; the others go round, and all meet at a barrier. */
  static final String DOUBLING =
      """
      .version 7.0
      .target sm_80
      .address_size 64
      .visible .entry doubling(.param .u64 x, .param .u64 y) {
        .reg .pred %p<2>;
        .reg .b32 %r<8>;
        .reg .b64 %rd<8>;
        .reg .f32 %f<4>;
        .loc 1 3 0
        ld.param.u64 %rd1, [x];
        ld.param.u64 %rd2, [y];
        mov.u32 %r1, %tid.x;
        .loc 1 4 0
        mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd4, %rd1, %rd3;
        add.u64 %rd5, %rd2, %rd3;
        .loc 1 5 0
        and.b32 %r2, %r1, 1;
        setp.ne.u32 %p1, %r2, 0;
        @%p1 bra AROUND;
        .loc 1 6 0
        ld.global.f32 %f1, [%rd4];
        add.f32 %f2, %f1, %f1;
        st.global.f32 [%rd5], %f2;
      AROUND:
        .loc 1 8 0
        bar.sync 0;
        ret;
      }
      .file 1 "doubling.cu"
      """;

  private static final List<String> FILE =
      List.of("--threads", "64", "--arg", "f32*64", "--arg", "bytes*256");

  @TempDir Path directory;

  private Cli trace(String subject, List<String> options, String... commands) throws IOException {
    Path script = directory.resolve("script");
    Files.write(script, List.of(commands));
    List<String> line = new ArrayList<>(List.of("trace", subject));
    line.addAll(List.of("--script", script.toString()));
    line.addAll(options);
    return Cli.run(line.toArray(String[]::new));
  }

  private Cli file(String ptx, List<String> options, String... commands) throws IOException {
    Path path = directory.resolve("kernel.ptx");
    Files.writeString(path, ptx);
    return trace(path.toString(), options, commands);
  }

  /** The cells of a drawn matrix, whose columns may stand in several groups. */
  private static String[][] matrix(String out, String title, int rows, int columns) {
    String[][] cells = new String[rows][columns];
    List<String> lines = out.lines().toList();
    int at = 0;
    while (!lines.get(at).startsWith(title)) {
      at++;
    }
    while (!lines.get(at).matches(" +0 +1( .*)?")) {
      at++;
    }
    int done = 0;
    while (done < columns) {
      int group = lines.get(at).strip().split(" +", -1).length;
      for (int r = 0; r < rows; r++) {
        String[] row = lines.get(at + 1 + r).strip().split(" +", -1);
        assertEquals(Integer.toString(r), row[0]);
        for (int c = 0; c < group; c++) {
          cells[r][done + c] = row[1 + c].replace("*", "");
        }
      }
      done += group;
      at += 1 + rows;
    }
    return cells;
  }

  /** PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type". */
  @Test
  void aFragmentIsDrawnAsTheMatrixThatLanesHold() throws IOException {
    Cli result =
        trace(
            "gemm_f16", List.of(), "to mma", "matrix A lanes", "matrix B lanes", "matrix C lanes");

    assertEquals(0, result.code(), result.err());
    String[][] a = matrix(result.out(), "A  16 × 16 .f16, by lanes", 16, 16);
    String[][] b = matrix(result.out(), "B  16 × 8 .f16, by lanes", 16, 8);
    String[][] c = matrix(result.out(), "C  16 × 8 .f32, by lanes", 16, 8);
    for (int row = 0; row < 16; row++) {
      for (int k = 0; k < 16; k++) {
        assertEquals(Integer.toString(row % 8 * 4 + k % 8 / 2), a[row][k]);
      }
      for (int column = 0; column < 8; column++) {
        assertEquals(Integer.toString(column * 4 + row % 8 / 2), b[row][column]);
        assertEquals(Integer.toString(row % 8 * 4 + column / 2), c[row][column]);
      }
    }
  }

  @Test
  void theProductOfWhatIsDrawnIsDrawnAfterTheStep() throws IOException {
    Cli result =
        trace(
            "gemm_f16",
            List.of("--warp", "1", "--lane", "5"),
            "to mma",
            "matrix",
            "step",
            "matrix D");

    assertEquals(0, result.code(), result.err());
    String[][] a = matrix(result.out(), "A  16 × 16 .f16;", 16, 16);
    String[][] b = matrix(result.out(), "B  16 × 8 .f16;", 16, 8);
    String[][] d = matrix(result.out(), "D  16 × 8 .f32;", 16, 8);
    boolean isAllZero = true;
    for (int row = 0; row < 16; row++) {
      for (int column = 0; column < 8; column++) {
        double sum = 0;
        for (int k = 0; k < 16; k++) {
          sum += Double.parseDouble(a[row][k]) * Double.parseDouble(b[k][column]);
        }
        // Multiples of 1/16 below 64 have at most five digits that count; four are drawn.
        assertEquals(sum, Double.parseDouble(d[row][column]), Math.abs(sum) * 6e-4 + 1e-9);
        isAllZero &= sum == 0;
      }
    }
    assertFalse(isAllZero);
  }

  @Test
  void banksShowThatSwizzledTilesHaveNoConflicts() throws IOException {
    Cli result = trace("gemm_f16", List.of(), "to ldmatrix", "banks", "shared");

    assertTrue(
        result.out().contains("16 bytes a lane, 4 passes, 0 of them because of conflicts"),
        result.out());
    List<String> passes = result.out().lines().filter(line -> line.startsWith("lanes ")).toList();
    List<String> drawn = passes.stream().filter(line -> line.contains("–")).toList();
    assertEquals(4, drawn.size(), result.out());
    for (int i = 0; i < 4; i++) {
      int first = 8 * i;
      long lanes =
          drawn
              .get(i)
              .substring(12)
              .strip()
              .chars()
              .map(sign -> Character.digit(sign, 32))
              .filter(lane -> lane >= first && lane < first + 8)
              .count();
      assertEquals(32, lanes, "every bank gives a word to one of eight lanes: " + drawn.get(i));
    }
    assertTrue(result.out().lines().anyMatch(line -> line.matches("0x0\\w{4} .*\\*.*")));
  }

  @Test
  void conflictsAreDrawnAsFurtherPasses() throws IOException {
    String strided =
        """
        .version 7.0
        .target sm_80
        .address_size 64
        .visible .entry strided() {
          .shared .align 16 .b8 s[4096];
          .reg .b32 %r<4>;
          mov.u32 %r1, %tid.x;
          shl.b32 %r2, %r1, 6;
          mov.u32 %r3, s;
          add.u32 %r3, %r3, %r2;
          st.shared.u32 [%r3], %r1;
          ret;
        }
        """;
    Cli result = file(strided, List.of(), "to st.shared", "banks", "step", "shared 0x40 32");

    // 64 bytes apart, lanes take turns at banks 0 and 16: 16 different words each.
    assertTrue(
        result.out().contains("4 bytes a lane, 16 passes, 15 of them because of conflicts"),
        result.out());
    assertTrue(result.out().contains("lanes  0–31  0...............1..............."));
    assertTrue(result.out().contains("0x00040 00000001  ........"), result.out());
  }

  @Test
  void lanesThatBranchedAreShown() throws IOException {
    Cli result = file(DOUBLING, FILE, "to ld.global", "step", "lanes %f1", "to bar", "registers");

    assertEquals(0, result.code(), result.err());
    assertTrue(result.out().contains("lanes #.#.#.#.#.#.#.#.#.#.#.#.#.#.#.#."), result.out());
    assertTrue(result.out().contains("  lane  6  0x40c00000  6.0"), result.out());
    assertTrue(result.out().contains("made %f1 0x00000000  0.0"), result.out());
  }

  @Test
  void linesOfTheSourceAreSteppedAndShown() throws IOException {
    Files.write(
        directory.resolve("doubling.cu"),
        List.of("// 1", "// 2", "int i = threadIdx.x;", "x += i; y += i;", "if (i % 2 == 0)"));
    Cli result = file(DOUBLING, FILE, "next", "next");

    List<String> shown =
        result.out().lines().filter(line -> line.startsWith("doubling.cu:")).toList();
    assertEquals(
        List.of(
            "doubling.cu:3 int i = threadIdx.x;",
            "doubling.cu:4 x += i; y += i;",
            "doubling.cu:5 if (i % 2 == 0)"),
        shown);
  }

  @Test
  void markedLinesStopEveryWarp() throws IOException {
    int line = 1 + (int) DOUBLING.lines().takeWhile(text -> !text.contains("st.global")).count();
    Cli result =
        file(
            DOUBLING,
            Stream.concat(FILE.stream(), Stream.of("--warp", "1")).toList(),
            "break " + line,
            "continue",
            "continue",
            "delete",
            "continue");

    assertTrue(result.out().contains("marked lines: [" + line + "]"), result.out());
    long stops = result.out().lines().filter(text -> text.startsWith("a marked line")).count();
    assertEquals(2, stops, result.out());
    assertTrue(result.out().contains("now warp "), result.out());
    assertTrue(result.out().contains("doubling has ended"), result.out());
  }

  @Test
  void warpsSayWhatTheyWaitFor() throws IOException {
    Cli result = file(DOUBLING, FILE, "to ret", "warps");
    Cli waiting = trace("gemm_f16", List.of(), "to ldmatrix", "warps", "barriers");

    assertTrue(result.out().contains("> warp  0 ################################"), result.out());
    assertTrue(
        waiting.out().contains("waits at barrier 0 for all warps; warps that have not arrived: ["),
        waiting.out());
    assertTrue(waiting.out().contains("barrier 0 for all: warps ["), waiting.out());
  }

  @Test
  void registersAreReadAsElements() throws IOException {
    Cli result =
        trace(
            "gemm_f8_native_e4m3_e4m3",
            List.of("--shape", "64,64,128"),
            "to mma",
            "matrix A",
            "registers as f8_e4m3");

    String[][] a = matrix(result.out(), "A  16 × 32 .e4m3;", 16, 32);
    String first = String.join(" ", Arrays.copyOf(a[0], 4));
    assertTrue(
        result.out().lines().anyMatch(line -> line.matches("  %r\\d+ +\\.b32 +0x\\w{8}  " + first)),
        first + " in\n" + result.out());
  }

  @Test
  void otherBlocksAndWatchesAreFollowed() throws IOException {
    Cli result =
        trace(
            "gemm_f16",
            List.of("--shape", "256,64,64", "--block", "0,1"),
            "watch rd349",
            "step",
            "block 0,2",
            "info");

    assertTrue(result.out().contains("block (0, 1, 0), warp 0, lane 0;"), result.out());
    assertTrue(
        result.out().contains("watch %rd349 0x0000000001000000  16777216  (changed)"),
        result.out());
    assertTrue(result.out().contains("block: the grid is (1, 2, 1)"), result.out());
  }

  /** Lines of the README's capture, in their order; where it has "…", some are left out. */
  @Test
  void theReadmeShowsWhatIsPrinted() throws IOException {
    List<String> capture =
        Files.readString(Path.of("..", "README.md"))
            .lines()
            .dropWhile(line -> !line.startsWith("## Step a kernel"))
            .dropWhile(line -> !line.startsWith("    gemm_f8_native_e4m3_e4m3: grid"))
            .takeWhile(line -> line.isEmpty() || line.startsWith("    "))
            .map(String::strip)
            .filter(line -> !line.isEmpty() && !line.equals("…"))
            .toList();
    String prompt = "trace> ";
    String[] commands =
        capture.stream()
            .filter(line -> line.startsWith(prompt))
            .map(line -> line.substring(prompt.length()))
            .toArray(String[]::new);
    Cli result = trace("gemm_f8_native_e4m3_e4m3", List.of("--lane", "5"), commands);

    Iterator<String> printed = result.out().lines().map(String::strip).iterator();
    for (String line : capture) {
      boolean found = false;
      while (!found && printed.hasNext()) {
        found = printed.next().equals(line);
      }
      assertTrue(found, "not printed, or not there: " + line + "\n" + result.out());
    }
    assertTrue(commands.length > 5);
  }

  @Test
  void mistakesAreExplainedAndTheTraceGoesOn() throws IOException {
    Cli result =
        file(
            DOUBLING,
            FILE,
            "fly",
            "to",
            "to 999",
            "lane 32",
            "warp 7",
            "matrix",
            "banks",
            "registers %q",
            "registers as f99",
            "help",
            "quit");

    assertEquals(0, result.code(), result.err());
    for (String complaint :
        List.of(
            "there is no command \"fly\"",
            "to: say a PTX line",
            "to: the PTX has " + DOUBLING.lines().count() + " lines",
            "lane: a warp has 32",
            "warp: the block has 2",
            "matrix: no mma has run yet",
            "banks: the next instruction doesn't access shared memory",
            "there is no register %q",
            "as: there is no type \"f99\"",
            "  matrix, m [A|B|C|D] [lanes]")) {
      assertTrue(result.out().contains(complaint), complaint + " in\n" + result.out());
    }
  }

  @Test
  void aFaultOfTheKernelIsTheProgramsFailure() throws IOException {
    Cli result = file(DOUBLING, List.of("--arg", "f32*4", "--arg", "bytes*128"), "continue");

    assertEquals(1, result.code());
    assertTrue(result.err().contains("PTX line 22"), result.err());
    assertTrue(result.err().contains("ld.global.f32"), result.err());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gemm_f17 | | there is no kernel \"gemm_f17\"; there are copy_b4, ",
        "gemm_f16 | --device sm_12 | --device: there is no simulated device \"sm_12\"",
        "gemm_f8_native_e4m3_e4m3 | --device sm_80 | --device: ",
        "gemm_f16 | --shape 1,2 | --shape: ",
        "gemm_f16 | --lane 40 | --warp and --lane",
        "gemm_f16 | --block a | --block: "
      })
  void whatCantBeIsWrongUsage(String subject, String options, String complaint) throws IOException {
    List<String> given = options == null ? List.of() : List.of(options.split(" ", -1));
    Cli result = trace(subject, given, "quit");

    assertEquals(2, result.code(), result.out());
    assertTrue(result.err().contains(complaint), result.err());
  }

  @Test
  void argumentsThatDoNotFitAreWrongUsage() throws IOException {
    Cli few = file(DOUBLING, List.of("--arg", "f32*4"), "quit");
    Cli wrong = file(DOUBLING, List.of("--arg", "1.5", "--arg", "f64*3"), "quit");
    Cli broken = file("nothing", List.of(), "quit");

    assertEquals(2, few.code());
    assertTrue(few.err().contains("doubling has 2 parameters, [x, y], and 1 are given"), few.err());
    assertTrue(wrong.err().contains("is no number, f32*N, i32*N or bytes*N"), wrong.err());
    assertTrue(broken.err().contains("FILE: PTX line 1, column 1"), broken.err());
  }
}
