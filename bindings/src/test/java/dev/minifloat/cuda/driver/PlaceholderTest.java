package dev.minifloat.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlaceholderTest {
  @Test
  void generatedMethodsReachNoLibrary() {
    assertEquals(Cuda.CUDA_ERROR_NOT_INITIALIZED(), Cuda.cuInit(0));
    assertEquals(
        Cuda.CUDA_ERROR_NOT_INITIALIZED(),
        Cuda.cuLaunchKernel(
            MemorySegment.NULL,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            MemorySegment.NULL,
            MemorySegment.NULL,
            MemorySegment.NULL));
  }

  @Test
  void everyGeneratedFunctionHasAConstant() {
    List<String> generated =
        Arrays.stream(Cuda.class.getDeclaredMethods())
            .filter(m -> Modifier.isPublic(m.getModifiers()))
            .map(Method::getName)
            .filter(name -> name.endsWith("$descriptor"))
            .map(name -> name.replace("$descriptor", ""))
            .sorted()
            .toList();
    assertEquals(
        generated,
        Stream.of(DriverFunction.values()).map(DriverFunction::symbol).sorted().toList());
  }
}
