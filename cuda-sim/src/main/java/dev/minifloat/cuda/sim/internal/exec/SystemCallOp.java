package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A call of a {@link SystemFunction}: one lane after the other, as if each were alone. */
final class SystemCallOp extends Op {
  private final SystemFunction function;
  private final List<CallOp.Passed> arguments;
  private final List<CallOp.Passed> results;

  SystemCallOp(
      SystemFunction function, List<CallOp.Passed> arguments, List<CallOp.Passed> results) {
    this.function = function;
    this.arguments = arguments;
    this.results = results;
  }

  @Override
  void execute(Warp warp, Frame frame, int mask) {
    int failed = -1;
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      warp.lane = lane;
      switch (function) {
        case VPRINTF -> results.get(0).write(frame, lane, print(warp, frame, lane));
        case MALLOC ->
            results.get(0).write(frame, lane, heap(warp).allocate(value(0, frame, lane)));
        case FREE -> heap(warp).free(value(0, frame, lane));
        case ASSERT_FAIL -> {
          failed = failed < 0 ? lane : failed;
          Launch launch = warp.block.launch();
          launch.print(
              "%s: block: %s, thread: %s Assertion `%s` failed.\n"
                  .formatted(
                      place(warp, frame, lane),
                      brackets(warp.block.place()),
                      brackets(launch.blockSize().place(warp.thread(lane))),
                      text(warp, frame, lane, value(0, frame, lane))));
        }
      }
    }
    if (failed >= 0) {
      warp.lane = failed;
      throw new DeviceFault(
          DeviceFault.Kind.ASSERTION,
          "assertion `%s` failed at %s"
              .formatted(
                  text(warp, frame, failed, value(0, frame, failed)), place(warp, frame, failed)));
    }
  }

  private long value(int argument, Frame frame, int lane) {
    return arguments.get(argument).read(frame, lane);
  }

  private static DeviceHeap heap(Warp warp) {
    return warp.block.launch().heap();
  }

  /** File, line and function of an assertion. */
  private String place(Warp warp, Frame frame, int lane) {
    return "%s:%d: %s"
        .formatted(
            text(warp, frame, lane, value(1, frame, lane)),
            value(2, frame, lane),
            text(warp, frame, lane, value(3, frame, lane)));
  }

  private static String brackets(Dim3 place) {
    return "[%d,%d,%d]".formatted(place.x(), place.y(), place.z());
  }

  /** What printf returns: how many arguments it took; −1 without a format. */
  private long print(Warp warp, Frame frame, int lane) {
    long format = value(0, frame, lane);
    if (format == 0) {
      return -1 & Bits.M32;
    }
    Memory memory = new Memory(warp, frame, lane);
    PrintFormat printed =
        new PrintFormat(memory.string(format), memory, value(1, frame, lane)).run();
    warp.block.launch().print(printed.text());
    return printed.arguments();
  }

  private static String text(Warp warp, Frame frame, int lane, long address) {
    byte[] bytes = new Memory(warp, frame, lane).string(address);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** A lane's generic addresses, as printf reads them. */
  private record Memory(Warp warp, Frame frame, int lane) implements PrintFormat.Memory {
    @Override
    public long load(long address, int bytes) {
      MemoryAccess access = new MemoryAccess(warp, frame, false);
      access.open(lane, StateSpace.GENERIC, address, bytes);
      return access.load(0, bytes);
    }

    @Override
    public byte[] string(long address) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      for (long at = address; ; at++) {
        int one = (int) load(at, 1);
        if (one == 0) {
          return bytes.toByteArray();
        }
        bytes.write(one);
      }
    }
  }
}
