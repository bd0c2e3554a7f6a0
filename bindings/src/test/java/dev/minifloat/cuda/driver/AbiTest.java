package dev.minifloat.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Constants, structs and prototypes of the bindings are those of {@code cuda.h} 13.0: of what a C++
 * compiler said of it once ({@code abi.txt}), and where a compiler and the header are, of what it
 * says now.
 */
class AbiTest {
  @TestFactory
  List<DynamicTest> bindingsAgreeWithTheHeader(@TempDir Path folder) throws IOException {
    String bindings = String.join("\n", Abi.ofBindings());
    List<DynamicTest> tests = new ArrayList<>();
    tests.add(DynamicTest.dynamicTest("as recorded", () -> assertEquals(recorded(), bindings)));
    Optional<Toolchain> toolchain = Toolchain.find();
    toolchain.ifPresent(
        tools ->
            tests.add(
                DynamicTest.dynamicTest(
                    "as compiled with " + tools.include(),
                    () -> assertEquals(compiled(tools, folder), bindings))));
    return tests;
  }

  private static String recorded() throws IOException {
    try (InputStream in = AbiTest.class.getResourceAsStream("abi.txt")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    }
  }

  private static String compiled(Toolchain tools, Path folder)
      throws IOException, InterruptedException {
    Path source = Files.writeString(folder.resolve("abi.cpp"), Abi.program());
    Path program = folder.resolve("abi");
    tools.compile("g++", source, program, "-std=c++17");
    return Toolchain.run(List.of(program.toString())).strip();
  }
}
