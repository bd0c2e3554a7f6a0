package dev.minifloat.bench.peers;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.minifloat.bench.Values;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The functions of ggml that its contestants call, of the CPU library that suits best. */
final class GgmlLibrary {
  private static final String VARIANT_PREFIX = "libggml-cpu-";

  /** {@code struct ggml_init_params}: bytes, buffer, whether tensors get no memory. */
  private static final StructLayout INIT_PARAMS =
      MemoryLayout.structLayout(JAVA_LONG, ADDRESS, JAVA_LONG);

  /**
   * {@code struct ggml_cplan}: work bytes, work memory, threads, pool, callback, its data, flag.
   */
  private static final StructLayout PLAN =
      MemoryLayout.structLayout(MemoryLayout.sequenceLayout(7, JAVA_LONG));

  /** {@code struct ggml_threadpool_params}: a mask of 512 bytes, four ints' worth of settings. */
  private static final StructLayout POOL_PARAMS =
      MemoryLayout.structLayout(MemoryLayout.sequenceLayout(132, JAVA_INT));

  private static final long PLAN_WORK_BYTES = 0;
  private static final long PLAN_WORK_MEMORY = 8;

  /** {@code struct ggml_type_traits_cpu}. */
  private static final long TRAITS_BYTES = 32;

  private static final long TRAITS_FROM_FLOAT = 0;
  private static final long TRAITS_VEC_DOT = 8;
  private static final long TRAITS_VEC_DOT_TYPE = 16;

  /** Where a {@code struct ggml_tensor} has its buffer. */
  private static final long TENSOR_BUFFER = 8;

  private static final FunctionDescriptor VEC_DOT =
      FunctionDescriptor.ofVoid(
          JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final FunctionDescriptor POINTER_OF_POINTER =
      FunctionDescriptor.of(ADDRESS, ADDRESS);

  private final String variant;
  private final NativeFunction typeTraits;
  private final NativeFunction rowSize;
  private final NativeFunction quantizeChunk;
  private final NativeFunction init;
  private final NativeFunction free;
  private final NativeFunction newTensor2d;
  private final NativeFunction mulMat;
  private final NativeFunction newGraph;
  private final NativeFunction buildForward;
  private final NativeFunction graphPlan;
  private final NativeFunction graphCompute;
  private final NativeFunction getData;
  private final NativeFunction poolParams;
  private final NativeFunction poolNew;
  private final NativeFunction poolFree;
  private final NativeFunction plainBufferType;
  private final NativeFunction bufferTypeName;
  private final NativeFunction allocateTensors;
  private final NativeFunction allocateBuffer;
  private final NativeFunction freeBuffer;
  private final NativeFunction setTensor;
  private final NativeFunction supportsOp;
  private final MemorySegment device;
  private final List<MemorySegment> packedBufferTypes;

  private GgmlLibrary(NativeLibrary base, NativeLibrary cpu, String variant) throws PeerAbsent {
    this.variant = variant;
    typeTraits = cpu.function("ggml_get_type_traits_cpu", FunctionDescriptor.of(ADDRESS, JAVA_INT));
    rowSize = base.function("ggml_row_size", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG));
    quantizeChunk =
        base.function(
            "ggml_quantize_chunk",
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS));
    init = base.function("ggml_init", FunctionDescriptor.of(ADDRESS, INIT_PARAMS));
    free = base.function("ggml_free", FunctionDescriptor.ofVoid(ADDRESS));
    newTensor2d =
        base.function(
            "ggml_new_tensor_2d",
            FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT, JAVA_LONG, JAVA_LONG));
    mulMat =
        base.function("ggml_mul_mat", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, ADDRESS));
    newGraph = base.function("ggml_new_graph", POINTER_OF_POINTER);
    buildForward =
        base.function("ggml_build_forward_expand", FunctionDescriptor.ofVoid(ADDRESS, ADDRESS));
    graphPlan =
        cpu.function("ggml_graph_plan", FunctionDescriptor.of(PLAN, ADDRESS, JAVA_INT, ADDRESS));
    graphCompute =
        cpu.function("ggml_graph_compute", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    getData = base.function("ggml_get_data", POINTER_OF_POINTER);
    poolParams =
        base.function(
            "ggml_threadpool_params_default", FunctionDescriptor.of(POOL_PARAMS, JAVA_INT));
    poolNew = cpu.function("ggml_threadpool_new", POINTER_OF_POINTER);
    poolFree = cpu.function("ggml_threadpool_free", FunctionDescriptor.ofVoid(ADDRESS));
    plainBufferType = base.function("ggml_backend_cpu_buffer_type", FunctionDescriptor.of(ADDRESS));
    bufferTypeName = base.function("ggml_backend_buft_name", POINTER_OF_POINTER);
    allocateTensors =
        base.function(
            "ggml_backend_alloc_ctx_tensors_from_buft",
            FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));
    allocateBuffer =
        base.function(
            "ggml_backend_buft_alloc_buffer", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG));
    freeBuffer = base.function("ggml_backend_buffer_free", FunctionDescriptor.ofVoid(ADDRESS));
    setTensor =
        base.function(
            "ggml_backend_tensor_set",
            FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG));
    supportsOp =
        base.function(
            "ggml_backend_dev_supports_op", FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, ADDRESS));
    cpu.function("ggml_cpu_init", FunctionDescriptor.ofVoid()).call();
    silence(base);
    MemorySegment registry =
        cpu.function("ggml_backend_cpu_reg", FunctionDescriptor.of(ADDRESS)).pointer();
    device =
        base.function(
                "ggml_backend_reg_dev_get", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG))
            .pointer(registry, 0L);
    packedBufferTypes = packedBufferTypes(base, registry);
  }

  /**
   * Loads the base library and, of the CPU libraries in the folder, the one that scores highest on
   * this processor.
   */
  static GgmlLibrary load(Path folder) throws PeerAbsent {
    NativeLibrary base = NativeLibrary.load(folder.resolve("libggml-base.so"));
    NativeLibrary best = null;
    String bestName = "";
    int bestScore = 0;
    for (Path file : variants(folder)) {
      NativeLibrary library = NativeLibrary.load(file);
      int score =
          (int) library.function("ggml_backend_score", FunctionDescriptor.of(JAVA_INT)).call();
      if (score > bestScore) {
        best = library;
        bestScore = score;
        bestName = file.getFileName().toString().replace(VARIANT_PREFIX, "").replace(".so", "");
      }
    }
    if (best == null) {
      throw new PeerAbsent("no library in " + folder + " runs on this processor");
    }
    return new GgmlLibrary(base, best, bestName + " (score " + bestScore + ")");
  }

  private static List<Path> variants(Path folder) {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder, VARIANT_PREFIX + "*.so")) {
      stream.forEach(files::add);
    } catch (IOException e) {
      throw new UncheckedIOException("can't list " + folder, e);
    }
    files.sort(Comparator.naturalOrder());
    return files;
  }

  /** Its notes on each tensor that it packs would fill the table. */
  private static void silence(NativeLibrary base) throws PeerAbsent {
    MethodHandle nothing =
        MethodHandles.empty(
            MethodType.methodType(void.class, int.class, MemorySegment.class, MemorySegment.class));
    MemorySegment stub =
        Linker.nativeLinker()
            .upcallStub(
                nothing, FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, ADDRESS), Arena.global());
    base.function("ggml_log_set", FunctionDescriptor.ofVoid(ADDRESS, ADDRESS))
        .call(stub, MemorySegment.NULL);
  }

  private List<MemorySegment> packedBufferTypes(NativeLibrary base, MemorySegment registry)
      throws PeerAbsent {
    MemorySegment address;
    try (Arena arena = Arena.ofConfined()) {
      address =
          (MemorySegment)
              base.function(
                      "ggml_backend_reg_get_proc_address",
                      FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS))
                  .call(registry, arena.allocateFrom("ggml_backend_dev_get_extra_bufts"));
    }
    List<MemorySegment> types = new ArrayList<>();
    if (address.address() != 0) {
      MemorySegment list =
          NativeLibrary.at("get_extra_bufts", address, POINTER_OF_POINTER)
              .pointer(device)
              .reinterpret(Long.MAX_VALUE);
      for (long i = 0; list.getAtIndex(ADDRESS, i).address() != 0; i++) {
        types.add(list.getAtIndex(ADDRESS, i));
      }
    }
    return types;
  }

  /** The CPU library and its score. */
  String variant() {
    return variant;
  }

  /** How its weights can be packed ahead, in the order in which it prefers them. */
  List<MemorySegment> packedBufferTypes() {
    return packedBufferTypes;
  }

  /** Weights as they are. */
  MemorySegment plainBufferType() {
    return plainBufferType.pointer();
  }

  /** The name of a buffer type. */
  String name(MemorySegment bufferType) {
    return bufferTypeName.pointer(bufferType).reinterpret(Long.MAX_VALUE).getString(0);
  }

  /** Bytes of {@code n} elements. */
  long rowBytes(GgmlType type, long n) {
    return (long) rowSize.call(type.code(), n);
  }

  /** Rows of weights, quantized as its model files are; equal rows are quantized once. */
  MemorySegment weights(GgmlType type, Values values, Arena arena) {
    if (type == GgmlType.F32) {
      return NativeFloats.of(values, arena);
    }
    long rowBytes = rowBytes(type, values.columns());
    MemorySegment all = arena.allocate(rowBytes * values.rows(), NativeFloats.ALIGNMENT);
    try (Arena local = Arena.ofConfined()) {
      MemorySegment source =
          local.allocate(4L * values.period() * values.columns(), NativeFloats.ALIGNMENT);
      MemorySegment.copy(
          values.distinct(), 0, source, JAVA_FLOAT, 0, values.period() * values.columns());
      quantizeChunk.call(
          type.code(),
          source,
          all,
          0L,
          (long) values.period(),
          (long) values.columns(),
          MemorySegment.NULL);
    }
    NativeFloats.repeat(all, rowBytes * values.period());
    return all;
  }

  /** What goes with a type in a dot product, and the function. */
  record VecDot(GgmlType other, NativeFunction function) {}

  /** The dot product of a type. */
  VecDot vecDot(GgmlType type) {
    MemorySegment traits = traits(type);
    GgmlType other = GgmlType.of(traits.get(JAVA_INT, TRAITS_VEC_DOT_TYPE));
    return new VecDot(
        other, NativeLibrary.at("vec_dot " + type, traits.get(ADDRESS, TRAITS_VEC_DOT), VEC_DOT));
  }

  /** One row of activations, converted as a product converts them. */
  MemorySegment activations(GgmlType type, float[] values, Arena arena) {
    MemorySegment source = NativeFloats.allocate(values.length, arena);
    MemorySegment.copy(values, 0, source, JAVA_FLOAT, 0, values.length);
    if (type == GgmlType.F32) {
      return source;
    }
    MemorySegment row = arena.allocate(rowBytes(type, values.length), NativeFloats.ALIGNMENT);
    NativeLibrary.at(
            "from_float " + type,
            traits(type).get(ADDRESS, TRAITS_FROM_FLOAT),
            FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, JAVA_LONG))
        .call(source, row, (long) values.length);
    return row;
  }

  private MemorySegment traits(GgmlType type) {
    return typeTraits.pointer(type.code()).reinterpret(TRAITS_BYTES);
  }

  /** A context that holds descriptions only; the tensors' memory is in buffers. */
  MemorySegment newContext() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = arena.allocate(INIT_PARAMS);
      params.set(JAVA_LONG, 0, 1 << 20);
      params.set(JAVA_BOOLEAN, 16, true);
      return init.pointer(params);
    }
  }

  void freeContext(MemorySegment context) {
    free.call(context);
  }

  /** A tensor of {@code rows} rows of {@code columns} elements. */
  MemorySegment tensor(MemorySegment context, GgmlType type, long rows, long columns) {
    return newTensor2d.pointer(context, type.code(), columns, rows);
  }

  /** The description of x · wᵀ. */
  MemorySegment mulMat(MemorySegment context, MemorySegment w, MemorySegment x) {
    return mulMat.pointer(context, w, x);
  }

  /** Whether the product {@code op} would take weights {@code w} from a buffer of that type. */
  boolean supports(MemorySegment bufferType, MemorySegment w, MemorySegment op) {
    MemorySegment probe = allocateBuffer.pointer(bufferType, 0L);
    MemorySegment field = w.reinterpret(TENSOR_BUFFER + ADDRESS.byteSize());
    field.set(ADDRESS, TENSOR_BUFFER, probe);
    try {
      return (boolean) supportsOp.call(device, op);
    } finally {
      field.set(ADDRESS, TENSOR_BUFFER, MemorySegment.NULL);
      freeBuffer.call(probe);
    }
  }

  /** Memory for all tensors of a context. */
  MemorySegment allocate(MemorySegment context, MemorySegment bufferType) {
    return allocateTensors.pointer(context, bufferType);
  }

  void freeBuffer(MemorySegment buffer) {
    freeBuffer.call(buffer);
  }

  /** Copies into a tensor; its buffer's type may pack what it is given. */
  void set(MemorySegment tensor, MemorySegment data) {
    setTensor.call(tensor, data, 0L, data.byteSize());
  }

  /** A tensor's memory. */
  MemorySegment data(MemorySegment tensor, long bytes) {
    return getData.pointer(tensor).reinterpret(bytes);
  }

  /** The graph that ends in {@code result}. */
  MemorySegment graph(MemorySegment context, MemorySegment result) {
    MemorySegment graph = newGraph.pointer(context);
    buildForward.call(graph, result);
    return graph;
  }

  /** A pool of {@code threads} threads, the caller of {@link #compute} among them. */
  MemorySegment newPool(int threads) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = (MemorySegment) poolParams.call((SegmentAllocator) arena, threads);
      return poolNew.pointer(params);
    }
  }

  void freePool(MemorySegment pool) {
    poolFree.call(pool);
  }

  /** How a graph is computed, with the working memory that takes. */
  MemorySegment plan(MemorySegment graph, int threads, MemorySegment pool, Arena arena) {
    MemorySegment plan =
        (MemorySegment) graphPlan.call((SegmentAllocator) arena, graph, threads, pool);
    long bytes = plan.get(JAVA_LONG, PLAN_WORK_BYTES);
    if (bytes > 0) {
      plan.set(ADDRESS, PLAN_WORK_MEMORY, arena.allocate(bytes, NativeFloats.ALIGNMENT));
    }
    return plan;
  }

  /** {@code int ggml_graph_compute(graph, plan)}: 0 if it went well. */
  NativeFunction compute() {
    return graphCompute;
  }
}
