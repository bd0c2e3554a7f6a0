package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.Scope;
import dev.minifloat.cli.trace.Commands;
import dev.minifloat.cli.trace.Debugger;
import dev.minifloat.cli.trace.PtxText;
import dev.minifloat.cli.trace.Screen;
import dev.minifloat.cli.trace.ScriptedCommands;
import dev.minifloat.cli.trace.Sources;
import dev.minifloat.cli.trace.TypedCommands;
import dev.minifloat.cli.trace.Workloads;
import dev.minifloat.cuda.CudaBackend;
import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.sim.PtxKernel;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.cuda.sim.trace.Place;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.kernels.KernelEntry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Steps a kernel on a simulated GPU. */
@Command(
    name = "trace",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Step a CUDA kernel on a simulated GPU: PTX line by line, with registers, the matrices that a"
          + " warp's registers hold, shared memory with its banks, barriers.",
      "KERNEL is one of this program's kernels, which a small operation launches, or a PTX file."
          + " 'help' at the prompt lists the commands."
    },
    footer = {
      "",
      "Examples:",
      "  minifloat trace gemm_f8_native_e4m3_e4m3",
      "  minifloat trace gemm_f16 --shape 64,64,256 --warp 2 --script lecture.txt",
      "  minifloat trace saxpy.ptx --threads 64 --arg 2.0 --arg f32*64 --arg f32*64",
      "  printf 'to mma\\nmatrix\\nquit\\n' | minifloat trace gemm_f16"
    })
final class TraceCommand extends BaseCommand {
  @Parameters(
      index = "0",
      paramLabel = "KERNEL|FILE.ptx",
      description = "A kernel of the catalog ('minifloat kernels' names many), or a PTX file.")
  String subject;

  @Option(
      names = "--device",
      paramLabel = "sm_XX",
      description = "The simulated device (default: the oldest that runs the kernel).")
  String device;

  @Option(
      names = "--shape",
      paramLabel = "M,N,K",
      split = ",",
      description =
          "Extents of the product that launches a kernel of the catalog (default: one tile).")
  List<Integer> shape = List.of();

  @Option(names = "--entry", paramLabel = "NAME", description = "The kernel of a PTX file.")
  String entry;

  @Option(
      names = "--grid",
      paramLabel = "X[,Y[,Z]]",
      defaultValue = "1",
      description = "Blocks that a PTX file's kernel is launched with (default: 1).")
  String grid;

  @Option(
      names = "--threads",
      paramLabel = "X[,Y[,Z]]",
      defaultValue = "32",
      description = "Threads of a block of it (default: 32).")
  String threads;

  @Option(
      names = "--shared",
      paramLabel = "BYTES",
      defaultValue = "0",
      description = "Dynamic shared memory of a block of it.")
  int shared;

  @Option(
      names = "--arg",
      paramLabel = "ARG",
      description =
          "One for each parameter of it, in order: an integer, a number with a point, f32*N or"
              + " i32*N for the address of the numbers 0 … N - 1, bytes*N for that of N zeros.")
  List<String> arguments = List.of();

  @Option(
      names = "--block",
      paramLabel = "X[,Y[,Z]]",
      defaultValue = "0",
      description = "The block to begin with (default: 0).")
  String block;

  @Option(names = "--warp", paramLabel = "N", defaultValue = "0", description = "The warp.")
  int warp;

  @Option(names = "--lane", paramLabel = "N", defaultValue = "0", description = "The lane.")
  int lane;

  @Option(
      names = "--script",
      paramLabel = "FILE",
      description =
          "Read commands from a file, - for standard input, which is also read where it is no"
              + " terminal. The trace ends with them.")
  String script;

  @Override
  public Integer call() throws IOException {
    if (lane < 0 || lane > 31 || warp < 0 || warp > 31) {
      throw usage("--warp and --lane: a block has 32 warps at most, a warp 32 lanes");
    }
    if (!shape.isEmpty() && (shape.size() != 3 || shape.stream().anyMatch(extent -> extent < 1))) {
      throw usage("--shape: M,N,K, each at least 1");
    }
    return subject.endsWith(".ptx") ? traceFile() : traceKernel();
  }

  // ---- A kernel of the catalog
  // --------------------------------------------------------------------

  private int traceKernel() throws IOException {
    KernelCatalog catalog = KernelCatalog.load();
    List<KernelEntry> named =
        catalog.kernels().stream().filter(kernel -> kernel.entry().equals(subject)).toList();
    if (named.isEmpty()) {
      throw usage("KERNEL: there is no kernel \"" + subject + "\"" + similar(catalog));
    }
    String kind = device == null ? oldest(named) : kind(device);
    int capability = capability(kind);
    KernelEntry kernel = parsed("--device", () -> catalog.kernel(subject, capability));
    PtxText ptx = PtxText.of(new String(catalog.open(kernel.file()), StandardCharsets.UTF_8));
    try (Session session = open(ptx, subject, Path.of(""))) {
      launch(session.debugger(), kernel, kind);
      if (!session.debugger().hasBegun()) {
        throw new CommandFailure(
            "on %s no small operation launches %s%s"
                .formatted(
                    kind, subject, shape.isEmpty() ? "" : ", with --shape as it is; leave it out"));
      }
      return session.end();
    }
  }

  private static String similar(KernelCatalog catalog) {
    List<String> operations =
        catalog.kernels().stream().map(KernelEntry::entry).distinct().toList();
    return "; there are " + String.join(", ", operations);
  }

  /** The oldest simulated device that runs a kernel, by the name without a suffix. */
  private static String oldest(List<KernelEntry> named) {
    return SimulatedDriver.kinds().stream()
        .filter(kind -> kind.matches("sm_\\d+"))
        .filter(
            kind ->
                named.stream().anyMatch(kernel -> kernel.file().target().runsOn(capability(kind))))
        .findFirst()
        .orElseThrow(
            () ->
                new CommandFailure(
                    "no simulated device runs %s, which is for %s"
                        .formatted(
                            named.getFirst().entry(), named.getFirst().file().target().devices())));
  }

  private static int capability(String kind) {
    return Integer.parseInt(kind.replaceAll("\\D", ""));
  }

  private String kind(String name) {
    String kind = name.replaceFirst("[af]$", "");
    if (!SimulatedDriver.kinds().contains(kind)) {
      throw usage(
          "--device: there is no simulated device \"%s\"; there are %s"
              .formatted(name, String.join(", ", SimulatedDriver.kinds())));
    }
    return kind;
  }

  private void launch(Debugger debugger, KernelEntry kernel, String kind) {
    try (SimulatedDriver driver =
            SimulatedDriver.builder().device(kind).tracer(debugger).output(out()::print).build();
        Backend backend = CudaBackend.on("trace", driver.lookup(), 0);
        Scope scope = backend.scope()) {
      for (Consumer<Scope> use : new Workloads(kernel, shape).uses()) {
        use.accept(scope);
        backend.synchronize();
        if (debugger.hasBegun()) {
          return;
        }
      }
    } catch (CudaException e) {
      // What a trace that was ended leaves is a fault of the device.
      if (!debugger.hasQuit()) {
        throw e;
      }
    }
  }

  // ---- A PTX file
  // ---------------------------------------------------------------------------------

  private int traceFile() throws IOException {
    Path path = Path.of(subject);
    String text = Files.readString(path, StandardCharsets.ISO_8859_1);
    PtxKernel kernel = parsed("FILE", () -> PtxKernel.parse(text, entry));
    Place gridSize = place("--grid", grid, 1);
    Place blockSize = place("--threads", threads, 1);
    List<PtxKernel.Argument> given = new ArrayList<>();
    for (String argument : arguments) {
      given.add(parsed("--arg", () -> argument(argument)));
    }
    Path folder = path.toAbsolutePath().getParent();
    try (Session session = open(PtxText.of(text), kernel.name(), folder)) {
      Optional<String> fault =
          parsed(
              "FILE",
              () ->
                  kernel.run(
                      device == null ? "sm_89" : kind(device),
                      gridSize,
                      blockSize,
                      shared,
                      given,
                      session.debugger(),
                      out()::print));
      if (fault.isPresent() && !session.debugger().hasQuit()) {
        throw new CommandFailure(fault.get());
      }
      return session.end();
    }
  }

  private static PtxKernel.Argument argument(String text) {
    int star = text.indexOf('*');
    if (star < 0) {
      return text.matches("-?\\d+|0x[0-9a-fA-F]+")
          ? PtxKernel.Argument.integer(Long.decode(text))
          : PtxKernel.Argument.floating(Double.parseDouble(text));
    }
    int count = Integer.parseInt(text.substring(star + 1));
    String kind = text.substring(0, star);
    if (kind.equals("bytes")) {
      return PtxKernel.Argument.buffer(new byte[count]);
    }
    ByteBuffer bytes = ByteBuffer.allocate(count * 4).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      switch (kind) {
        case "f32" -> bytes.putFloat(i);
        case "i32" -> bytes.putInt(i);
        default ->
            throw new IllegalArgumentException(
                "\"" + text + "\" is no number, f32*N, i32*N or bytes*N");
      }
    }
    return PtxKernel.Argument.buffer(bytes.array());
  }

  private Place place(String option, String text, int rest) {
    if (!text.matches("\\d{1,9}(,\\d{1,9}){0,2}")) {
      throw usage(option + ": one to three numbers, as 4,2,1, not \"" + text + "\"");
    }
    String[] parts = text.split(",", -1);
    int[] extents = {rest, rest, rest};
    for (int i = 0; i < parts.length; i++) {
      extents[i] = Integer.parseInt(parts[i]);
    }
    return new Place(extents[0], extents[1], extents[2]);
  }

  // ---- The conversation
  // ---------------------------------------------------------------------------

  /** A debugger with the commands that it is given. */
  private record Session(Debugger debugger, Commands commands) implements AutoCloseable {
    int end() {
      if (!debugger.hasQuit()) {
        debugger.ended();
      }
      return 0;
    }

    @Override
    public void close() {
      try {
        commands.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private Session open(PtxText ptx, String kernel, Path folder) throws IOException {
    Commands commands;
    Screen screen;
    if (script == null && Terminal.isInteractive()) {
      TypedCommands typed = new TypedCommands();
      commands = typed;
      screen = new Screen(typed.writer(), typed.hasColors() && Terminal.wantsColor(), typed::width);
    } else {
      PrintWriter out = out();
      commands = new ScriptedCommands(script(), out);
      screen = new Screen(out, false, TraceCommand::columns);
    }
    Place first = place("--block", block, 0);
    return new Session(
        new Debugger(kernel, ptx, new Sources(folder), commands, screen, first, warp, lane),
        commands);
  }

  private BufferedReader script() throws IOException {
    return script == null || script.equals("-")
        ? new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
        : Files.newBufferedReader(Path.of(script));
  }

  /** Columns for what isn't printed to a terminal: what COLUMNS says, or 100. */
  private static int columns() {
    String columns = System.getenv("COLUMNS");
    return columns != null && columns.matches("\\d{1,4}") ? Integer.parseInt(columns) : 100;
  }
}
