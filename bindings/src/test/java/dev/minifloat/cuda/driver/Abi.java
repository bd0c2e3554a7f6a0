package dev.minifloat.cuda.driver;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The binary interface as lines of text: of the bindings, and a C++ program that prints it of the
 * header.
 */
final class Abi {
  private static final List<GroupLayout> STRUCTS =
      List.of(
          CUDA_MEMCPY2D_st.layout(),
          CUaccessPolicyWindow_st.layout(),
          CUgraphExecUpdateResultInfo_st.layout(),
          CUlaunchAttributeValue_union.layout(),
          CUlaunchAttribute_st.layout(),
          CUlaunchConfig_st.layout(),
          CUlaunchMemSyncDomainMap_st.layout(),
          CUmemAccessDesc_st.layout(),
          CUmemLocation_st.layout(),
          CUmemPoolProps_st.layout(),
          CUtensorMap_st.layout(),
          CUuuid_st.layout());

  private Abi() {}

  /** The interface that the bindings assume. */
  static List<String> ofBindings() {
    List<String> lines = new ArrayList<>();
    for (Method constant : constants()) {
      lines.add("constant " + constant.getName() + " " + value(constant));
    }
    for (GroupLayout struct : STRUCTS) {
      String name = struct.name().orElseThrow();
      lines.add("struct " + name + " bytes " + struct.byteSize());
      for (String field : fields(struct)) {
        PathElement path = PathElement.groupElement(field);
        lines.add(
            "field %s.%s at %d bytes %d"
                .formatted(name, field, struct.byteOffset(path), struct.select(path).byteSize()));
      }
    }
    for (DriverFunction function : DriverFunction.values()) {
      FunctionDescriptor type = function.descriptor();
      lines.add(
          "function "
              + function.symbol()
              + " "
              + Stream.concat(type.returnLayout().stream(), type.argumentLayouts().stream())
                  .map(Abi::kind)
                  .collect(Collectors.joining(" ")));
    }
    return lines;
  }

  /** A program that includes {@code cuda.h} and prints lines for the same names. */
  static String program() {
    StringBuilder text =
        new StringBuilder(
            """
            #include <cstddef>
            #include <cstdio>
            #include <type_traits>
            #include <cuda.h>
            #include <cudaProfiler.h>

            template <class T> void kind() {
              const char *name = std::is_pointer<T>::value ? "pointer"
                  : std::is_floating_point<T>::value ? "float"
                  : std::is_integral<T>::value || std::is_enum<T>::value ? "int" : "struct";
              std::printf(" %s%zu", name, 8 * sizeof(T));
            }

            template <class R, class... A> void function(const char *name, R (*)(A...)) {
              std::printf("function %s", name);
              kind<R>();
              int all[] = {0, (kind<A>(), 0)...};
              static_cast<void>(all);
              std::printf("\\n");
            }

            int main() {
            """);
    for (Method constant : constants()) {
      text.append(
          "  std::printf(\"constant %s %%lld\\n\", (long long) %1$s);\n"
              .formatted(constant.getName()));
    }
    for (GroupLayout struct : STRUCTS) {
      String name = struct.name().orElseThrow();
      text.append("  std::printf(\"struct %s bytes %%zu\\n\", sizeof(%1$s));\n".formatted(name));
      for (String field : fields(struct)) {
        text.append(
            "  std::printf(\"field %s.%s at %%zu bytes %%zu\\n\", offsetof(%1$s, %2$s), sizeof(%1$s::%2$s));\n"
                .formatted(name, field));
      }
    }
    for (DriverFunction function : DriverFunction.values()) {
      text.append("  function(\"%s\", (decltype(&%1$s)) nullptr);\n".formatted(function.symbol()));
    }
    return text.append("}\n").toString();
  }

  private static List<Method> constants() {
    return Arrays.stream(Cuda.class.getMethods())
        .filter(m -> m.getDeclaringClass() == Cuda.class)
        .filter(m -> m.getParameterCount() == 0 && m.getName().startsWith("CU"))
        .filter(m -> !m.getName().contains("$"))
        .sorted(Comparator.comparing(Method::getName))
        .toList();
  }

  private static long value(Method constant) {
    try {
      return switch (constant.invoke(null)) {
        case Integer i -> i;
        case Long l -> l;
        case MemorySegment address -> address.address();
        default -> throw new AssertionError(constant);
      };
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(constant.toString(), e);
    }
  }

  private static List<String> fields(GroupLayout struct) {
    return struct.memberLayouts().stream()
        .filter(member -> !(member instanceof PaddingLayout))
        .map(member -> member.name().orElseThrow())
        .toList();
  }

  private static String kind(MemoryLayout layout) {
    String name =
        switch (layout) {
          case AddressLayout _ -> "pointer";
          case ValueLayout.OfFloat _, ValueLayout.OfDouble _ -> "float";
          case ValueLayout _ -> "int";
          default -> "struct";
        };
    return name + 8 * layout.byteSize();
  }
}
