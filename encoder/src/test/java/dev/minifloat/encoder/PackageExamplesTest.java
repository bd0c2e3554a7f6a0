package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples in the package's documentation, taken from there, compiled and run. */
class PackageExamplesTest {
  private static final Path SOURCE =
      Path.of("src", "main", "java", "dev", "minifloat", "encoder", "package-info.java");
  private static final Pattern SNIPPET =
      Pattern.compile("\\{@snippet :\\R(.*?\\R \\* \\})\\R \\* \\}\\R", Pattern.DOTALL);
  private static final Pattern NAME = Pattern.compile("public class (\\w+)");

  @TempDir Path folder;

  private static List<String> examples() throws IOException {
    return SNIPPET
        .matcher(Files.readString(SOURCE))
        .results()
        .map(found -> found.group(1).replaceAll("(?m)^ \\* ?", ""))
        .toList();
  }

  @Test
  void thereAreTwo() throws IOException {
    List<String> names =
        examples().stream()
            .flatMap(text -> NAME.matcher(text).results())
            .map((MatchResult found) -> found.group(1))
            .toList();
    assertEquals(List.of("TwoSentences", "StepByStep"), names);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TwoSentences", "StepByStep"})
  void printsHowAlikeTwoSentencesAre(String name) throws Exception {
    String text =
        examples().stream().filter(example -> example.contains(name)).findFirst().orElseThrow();
    Path source = Files.writeString(folder.resolve(name + ".java"), text);
    Path out = folder.resolve("out");
    Path errors = folder.resolve("errors");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "-cp",
                classPath(),
                source.toString(),
                Path.of("target", "models").toString())
            .redirectOutput(out.toFile())
            .redirectError(errors.toFile())
            .start();
    assertEquals(0, process.waitFor(), Files.readString(errors));

    double cosine = Double.parseDouble(Files.readString(out).strip());

    assertTrue(cosine > 0.8 && cosine < 0.99, "cosine " + cosine);
  }

  /** Where this JVM has its classes, whichever path they came by. */
  private static String classPath() {
    return String.join(
        System.getProperty("path.separator"),
        System.getProperty("java.class.path", ""),
        System.getProperty("jdk.module.path", ""),
        Path.of("target", "classes").toString());
  }
}
