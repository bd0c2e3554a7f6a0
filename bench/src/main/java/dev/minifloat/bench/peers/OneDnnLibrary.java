package dev.minifloat.bench.peers;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.file.Path;
import java.util.Map;

/** The functions of oneDNN's C interface that its contestants call. */
final class OneDnnLibrary {
  /** {@code dnnl_data_type_t}. */
  static final int BF16 = 2;

  static final int F32 = 3;

  private static final int CPU = 1;
  private static final int IN_ORDER = 1;
  private static final int TAG_ANY = 1;
  private static final int QUERY_IMPLEMENTATION = 8;
  private static final int QUERY_WEIGHTS = 131;
  private static final int SRC = 1;
  private static final int DST = 17;
  private static final int WEIGHTS = 33;
  private static final int REORDER_FROM = 1;
  private static final int REORDER_TO = 17;
  private static final int MAX_DIMENSIONS = 12;

  /** {@code dnnl_exec_arg_t}: which argument, padding, memory. */
  private static final StructLayout ARGUMENT =
      MemoryLayout.structLayout(JAVA_INT, MemoryLayout.paddingLayout(4), ADDRESS);

  /** {@code dnnl_cpu_isa_t}: a bit for each extension. */
  private static final Map<Integer, String> ISA =
      Map.of(
          0x1, "sse4.1",
          0x7, "avx2",
          0xf, "avx2-vnni",
          0x27, "avx512",
          0x67, "avx512-vnni",
          0xe7, "avx512-bf16",
          0x1ef, "avx512-fp16",
          0xfef, "avx512-amx");

  private static final FunctionDescriptor STATUS_OF_POINTER =
      FunctionDescriptor.of(JAVA_INT, ADDRESS);

  private final NativeFunction setThreads;
  private final NativeFunction stridedDescription;
  private final NativeFunction taggedDescription;
  private final NativeFunction descriptionBytes;
  private final NativeFunction freeDescription;
  private final NativeFunction matmul;
  private final NativeFunction reorder;
  private final NativeFunction query;
  private final NativeFunction queryDescription;
  private final NativeFunction freePrimitiveDescription;
  private final NativeFunction newPrimitive;
  private final NativeFunction freePrimitive;
  private final NativeFunction newMemory;
  private final NativeFunction freeMemory;
  private final NativeFunction execute;
  private final NativeFunction await;
  private final MemorySegment engine;
  private final MemorySegment stream;
  private final String variant;

  private OneDnnLibrary(NativeLibrary gomp, NativeLibrary library) throws PeerAbsent {
    setThreads = gomp.function("omp_set_num_threads", FunctionDescriptor.ofVoid(JAVA_INT));
    stridedDescription =
        library.function(
            "dnnl_memory_desc_create_with_strides",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS));
    taggedDescription =
        library.function(
            "dnnl_memory_desc_create_with_tag",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT));
    descriptionBytes =
        library.function("dnnl_memory_desc_get_size", FunctionDescriptor.of(JAVA_LONG, ADDRESS));
    freeDescription = library.function("dnnl_memory_desc_destroy", STATUS_OF_POINTER);
    matmul =
        library.function(
            "dnnl_matmul_primitive_desc_create",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
    reorder =
        library.function(
            "dnnl_reorder_primitive_desc_create",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
    query =
        library.function(
            "dnnl_primitive_desc_query",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS));
    queryDescription =
        library.function(
            "dnnl_primitive_desc_query_md",
            FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT, JAVA_INT));
    freePrimitiveDescription = library.function("dnnl_primitive_desc_destroy", STATUS_OF_POINTER);
    newPrimitive =
        library.function(
            "dnnl_primitive_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    freePrimitive = library.function("dnnl_primitive_destroy", STATUS_OF_POINTER);
    newMemory =
        library.function(
            "dnnl_memory_create",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
    freeMemory = library.function("dnnl_memory_destroy", STATUS_OF_POINTER);
    execute =
        library.function(
            "dnnl_primitive_execute",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, ADDRESS));
    await = library.function("dnnl_stream_wait", STATUS_OF_POINTER);
    engine =
        make(
            library.function(
                "dnnl_engine_create",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG)),
            CPU,
            0L);
    stream =
        make(
            library.function(
                "dnnl_stream_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT)),
            engine,
            IN_ORDER);
    variant = version(library) + ", " + isa(library);
  }

  /** Loads it, and the OpenMP runtime beside it that it was built with. */
  static OneDnnLibrary load(Path folder) throws PeerAbsent {
    NativeLibrary gomp = NativeLibrary.load(folder.resolve("libgomp.so.1"));
    return new OneDnnLibrary(gomp, NativeLibrary.load(folder.resolve("libdnnl.so.3")));
  }

  private static String version(NativeLibrary library) throws PeerAbsent {
    MemorySegment version =
        library
            .function("dnnl_version", FunctionDescriptor.of(ADDRESS))
            .pointer()
            .reinterpret(3 * JAVA_INT.byteSize());
    return version.getAtIndex(JAVA_INT, 0)
        + "."
        + version.getAtIndex(JAVA_INT, 1)
        + "."
        + version.getAtIndex(JAVA_INT, 2);
  }

  private static String isa(NativeLibrary library) throws PeerAbsent {
    int isa =
        (int)
            library.function("dnnl_get_effective_cpu_isa", FunctionDescriptor.of(JAVA_INT)).call();
    return ISA.getOrDefault(isa, "isa 0x" + Integer.toHexString(isa));
  }

  /** Version and instruction set. */
  String variant() {
    return variant;
  }

  /** Calls a function that gives an object through its first argument. */
  private static MemorySegment make(NativeFunction function, Object... arguments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      Object[] all = new Object[arguments.length + 1];
      all[0] = out;
      System.arraycopy(arguments, 0, all, 1, arguments.length);
      check(function, (int) function.call(all));
      return out.get(ADDRESS, 0);
    }
  }

  private static void check(NativeFunction function, int status) {
    if (status != 0) {
      throw new IllegalStateException(function.name() + " gave status " + status);
    }
  }

  /** A matrix of {@code rows} × {@code columns} with the steps of both. */
  MemorySegment matrix(int type, long rows, long columns, long rowStride, long columnStride) {
    try (Arena arena = Arena.ofConfined()) {
      return make(
          stridedDescription,
          2,
          dimensions(arena, rows, columns),
          type,
          dimensions(arena, rowStride, columnStride));
    }
  }

  /** A matrix laid out as the primitive likes it best. */
  MemorySegment anyMatrix(int type, long rows, long columns) {
    try (Arena arena = Arena.ofConfined()) {
      return make(taggedDescription, 2, dimensions(arena, rows, columns), type, TAG_ANY);
    }
  }

  private static MemorySegment dimensions(Arena arena, long first, long second) {
    MemorySegment dimensions = arena.allocate(JAVA_LONG, MAX_DIMENSIONS);
    dimensions.setAtIndex(JAVA_LONG, 0, first);
    dimensions.setAtIndex(JAVA_LONG, 1, second);
    return dimensions;
  }

  long bytes(MemorySegment description) {
    return (long) descriptionBytes.call(description);
  }

  void freeDescription(MemorySegment description) {
    freeDescription.call(description);
  }

  /** What dst = src · weights will be done by. */
  MemorySegment matmul(MemorySegment src, MemorySegment weights, MemorySegment dst) {
    MemorySegment none = MemorySegment.NULL;
    return make(matmul, engine, src, weights, none, dst, none);
  }

  /** The layout of weights that a product chose; it lives as long as the product's description. */
  MemorySegment weights(MemorySegment product) {
    return queryDescription.pointer(product, QUERY_WEIGHTS, 0);
  }

  /** The name of the implementation that a product chose. */
  String implementation(MemorySegment product) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ADDRESS);
      check(query, (int) query.call(product, QUERY_IMPLEMENTATION, 0, out));
      return out.get(ADDRESS, 0).reinterpret(Long.MAX_VALUE).getString(0);
    }
  }

  void freePrimitiveDescription(MemorySegment description) {
    freePrimitiveDescription.call(description);
  }

  MemorySegment primitive(MemorySegment description) {
    return make(newPrimitive, description);
  }

  void freePrimitive(MemorySegment primitive) {
    freePrimitive.call(primitive);
  }

  /** Memory as a primitive takes it. */
  MemorySegment memory(MemorySegment description, MemorySegment data) {
    return make(newMemory, description, engine, data);
  }

  void freeMemory(MemorySegment memory) {
    freeMemory.call(memory);
  }

  /** Converts data from one type or layout to another. */
  void reorder(MemorySegment fromType, MemorySegment from, MemorySegment toType, MemorySegment to) {
    MemorySegment description = make(reorder, fromType, engine, toType, engine, MemorySegment.NULL);
    MemorySegment primitive = primitive(description);
    MemorySegment source = memory(fromType, from);
    MemorySegment target = memory(toType, to);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment arguments = arena.allocate(ARGUMENT, 2);
      argument(arguments, 0, REORDER_FROM, source);
      argument(arguments, 1, REORDER_TO, target);
      execute(primitive, 2, arguments);
    } finally {
      freeMemory(target);
      freeMemory(source);
      freePrimitive(primitive);
      freePrimitiveDescription(description);
    }
  }

  /** The arguments of a product. */
  MemorySegment arguments(
      MemorySegment src, MemorySegment weights, MemorySegment dst, Arena arena) {
    MemorySegment arguments = arena.allocate(ARGUMENT, 3);
    argument(arguments, 0, SRC, src);
    argument(arguments, 1, WEIGHTS, weights);
    argument(arguments, 2, DST, dst);
    return arguments;
  }

  private static void argument(
      MemorySegment arguments, int index, int which, MemorySegment memory) {
    long at = index * ARGUMENT.byteSize();
    arguments.set(JAVA_INT, at, which);
    arguments.set(ADDRESS, at + 8, memory);
  }

  /** Runs a primitive and waits for it. */
  void execute(MemorySegment primitive, int count, MemorySegment arguments) {
    try {
      check(execute, (int) execute.handle().invokeExact(primitive, stream, count, arguments));
      check(await, (int) await.handle().invokeExact(stream));
    } catch (Throwable e) {
      throw execute.failed(e);
    }
  }

  /** Sets the number of threads of what the calling thread executes from now on. */
  void useThreads(int threads) {
    try {
      setThreads.handle().invokeExact(threads);
    } catch (Throwable e) {
      throw setThreads.failed(e);
    }
  }
}
