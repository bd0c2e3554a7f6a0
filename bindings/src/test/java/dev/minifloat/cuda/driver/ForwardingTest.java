package dev.minifloat.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Arguments arrive in an upcall as a downcall sent them. Where a C compiler and {@code cuda.h} are,
 * the way leads through a library in C that defines every function of the header, so that the
 * compiler rejects a wrong prototype, and that passes on what it is given.
 */
class ForwardingTest {
  private static final Path GENERATED =
      Path.of("src/generated/java/dev/minifloat/cuda/driver/Cuda.java");

  /** What jextract says above a function's descriptor. */
  private static final Pattern PROTOTYPE =
      Pattern.compile(
          "Function descriptor for:\\s+\\* \\{@snippet lang=c :\\s+\\* (\\w+) (cu\\w+)\\((.*)\\)\\s");

  /** The name is a parameter's last word. */
  private static final Pattern LAST_WORD = Pattern.compile("(\\w+)$");

  @TestFactory
  List<DynamicTest> argumentsArrive(@TempDir Path folder) throws IOException, InterruptedException {
    Arena arena = Arena.ofAuto();
    Toolchain tools = Toolchain.find().orElse(null);
    java.lang.foreign.SymbolLookup library =
        tools == null
            ? null
            : java.lang.foreign.SymbolLookup.libraryLookup(build(tools, folder), arena);
    List<DynamicTest> tests = new ArrayList<>();
    for (DriverFunction function : DriverFunction.values()) {
      tests.add(
          DynamicTest.dynamicTest(function.symbol(), () -> argumentsArrive(function, library)));
    }
    return tests;
  }

  /** Text of a library that passes every call on to the function that a variable names. */
  static String forwarder() throws IOException {
    StringBuilder text =
        new StringBuilder(
            """
            #include <cuda.h>
            #include <cudaProfiler.h>

            """);
    Map<String, Matcher> prototypes = prototypes();
    for (DriverFunction function : DriverFunction.values()) {
      Matcher prototype = prototypes.get(function.symbol());
      String parameters = prototype.group(3).isEmpty() ? "void" : prototype.group(3);
      List<String> names = new ArrayList<>();
      for (String parameter : prototype.group(3).split(", ", -1)) {
        Matcher name = LAST_WORD.matcher(parameter);
        if (name.find()) {
          names.add(name.group(1));
        }
      }
      text.append(
          """
          void *target_of_%2$s;

          %1$s %2$s(%3$s) {
            return ((%1$s (*)(%3$s)) target_of_%2$s)(%4$s);
          }

          """
              .formatted(
                  prototype.group(1), function.symbol(), parameters, String.join(", ", names)));
    }
    return text.toString();
  }

  private static Map<String, Matcher> prototypes() throws IOException {
    Map<String, Matcher> prototypes = new HashMap<>();
    String source = Files.readString(GENERATED);
    Matcher matcher = PROTOTYPE.matcher(source);
    int from = 0;
    while (matcher.find(from)) {
      from = matcher.end();
      Matcher found = PROTOTYPE.matcher(source);
      found.find(matcher.start());
      prototypes.put(matcher.group(2), found);
    }
    return prototypes;
  }

  private static Path build(Toolchain tools, Path folder) throws IOException, InterruptedException {
    Path source = Files.writeString(folder.resolve("forward.c"), forwarder());
    Path library = folder.resolve("libforward.so");
    tools.compile("gcc", source, library, "-std=c11", "-shared", "-fPIC");
    return library;
  }

  private static void argumentsArrive(
      DriverFunction function, java.lang.foreign.SymbolLookup library) throws Throwable {
    FunctionDescriptor type = function.descriptor();
    List<Object> arrived = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(function.symbol().hashCode());
    int result = random.nextInt();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment target =
          Linker.nativeLinker().upcallStub(recorder(type, arrived, result), type, arena);
      MemorySegment called = target;
      if (library != null) {
        library
            .findOrThrow("target_of_" + function.symbol())
            .reinterpret(ValueLayout.ADDRESS.byteSize())
            .set(ValueLayout.ADDRESS, 0, target);
        called = library.findOrThrow(function.symbol());
      }
      MethodHandle handle = Linker.nativeLinker().downcallHandle(called, type);
      List<Object> sent = new ArrayList<>();
      for (MemoryLayout layout : type.argumentLayouts()) {
        sent.add(argument(layout, random));
      }
      int returned = (int) handle.invokeWithArguments(sent);
      assertEquals(addresses(sent), addresses(arrived), "arguments");
      assertEquals(result, returned, "result");
    }
  }

  private static MethodHandle recorder(FunctionDescriptor type, List<Object> arrived, int result)
      throws ReflectiveOperationException {
    MethodHandle record =
        MethodHandles.lookup()
            .findStatic(
                ForwardingTest.class,
                "record",
                MethodType.methodType(int.class, List.class, int.class, Object[].class));
    return MethodHandles.insertArguments(record, 0, arrived, result)
        .asCollector(Object[].class, type.argumentLayouts().size())
        .asType(type.toMethodType());
  }

  @SuppressWarnings("unused") // called through its handle
  private static int record(List<Object> arrived, int result, Object[] arguments) {
    arrived.addAll(List.of(arguments));
    return result;
  }

  private static Object argument(MemoryLayout layout, SplittableRandom random) {
    return switch (layout) {
      case AddressLayout _ -> MemorySegment.ofAddress(random.nextLong());
      case ValueLayout.OfByte _ -> (byte) random.nextInt();
      case ValueLayout.OfShort _ -> (short) random.nextInt();
      case ValueLayout.OfInt _ -> random.nextInt();
      case ValueLayout.OfLong _ -> random.nextLong();
      case ValueLayout.OfFloat _ -> random.nextFloat();
      default -> throw new AssertionError("no function of the driver takes " + layout);
    };
  }

  /** The values, and of segments the addresses. */
  private static List<Object> addresses(List<Object> values) {
    return values.stream()
        .map(value -> value instanceof MemorySegment segment ? (Object) segment.address() : value)
        .toList();
  }
}
