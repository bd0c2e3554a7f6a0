package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.driver.CUDA_MEMCPY2D_st;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Copies and fills (CUDA Driver API, "API synchronization behavior"). What the host's memory is
 * decides when it is touched: page-locked memory when the work runs, other memory before the call
 * returns.
 */
final class CopyApi {
  private static final int HOST = 1;
  private static final int DEVICE = 2;
  private static final int UNIFIED = 4;

  private final Simulation simulation;

  CopyApi(Simulation simulation) {
    this.simulation = simulation;
  }

  /** One side of a copy: where it starts, and bytes from row to row. */
  private record Side(boolean onDevice, long address, long pitch) {}

  void cuMemcpyHtoD(long target, MemorySegment source, long bytes) {
    now(device(target, bytes), host(source.address(), bytes), bytes, 1);
  }

  void cuMemcpyDtoH(MemorySegment target, long source, long bytes) {
    now(host(target.address(), bytes), device(source, bytes), bytes, 1);
  }

  void cuMemcpyDtoD(long target, long source, long bytes) {
    now(device(target, bytes), device(source, bytes), bytes, 1);
  }

  void cuMemcpyHtoDAsync(long target, MemorySegment source, long bytes, MemorySegment stream) {
    later(stream, device(target, bytes), host(source.address(), bytes), bytes, 1);
  }

  void cuMemcpyDtoHAsync(MemorySegment target, long source, long bytes, MemorySegment stream) {
    later(stream, host(target.address(), bytes), device(source, bytes), bytes, 1);
  }

  void cuMemcpyDtoDAsync(long target, long source, long bytes, MemorySegment stream) {
    later(stream, device(target, bytes), device(source, bytes), bytes, 1);
  }

  void cuMemcpyAsync(long target, long source, long bytes, MemorySegment stream) {
    later(stream, unified(target, bytes), unified(source, bytes), bytes, 1);
  }

  void cuMemcpy2D(MemorySegment copy) {
    MemorySegment c = Native.at(copy, CUDA_MEMCPY2D_st.sizeof(), "pCopy");
    now(target(c), source(c), CUDA_MEMCPY2D_st.WidthInBytes(c), CUDA_MEMCPY2D_st.Height(c));
  }

  void cuMemcpy2DAsync(MemorySegment copy, MemorySegment stream) {
    MemorySegment c = Native.at(copy, CUDA_MEMCPY2D_st.sizeof(), "pCopy");
    later(
        stream, target(c), source(c), CUDA_MEMCPY2D_st.WidthInBytes(c), CUDA_MEMCPY2D_st.Height(c));
  }

  private static Side device(long address, long pitch) {
    return new Side(true, address, pitch);
  }

  private static Side host(long address, long pitch) {
    return new Side(false, address, pitch);
  }

  private Side unified(long address, long pitch) {
    boolean onDevice = simulation.holder(address, simulation.current().device()) != null;
    return new Side(onDevice, address, pitch);
  }

  private Side source(MemorySegment c) {
    return side(
        CUDA_MEMCPY2D_st.srcMemoryType(c),
        CUDA_MEMCPY2D_st.srcHost(c).address(),
        CUDA_MEMCPY2D_st.srcDevice(c),
        CUDA_MEMCPY2D_st.srcPitch(c),
        CUDA_MEMCPY2D_st.srcY(c),
        CUDA_MEMCPY2D_st.srcXInBytes(c),
        c);
  }

  private Side target(MemorySegment c) {
    return side(
        CUDA_MEMCPY2D_st.dstMemoryType(c),
        CUDA_MEMCPY2D_st.dstHost(c).address(),
        CUDA_MEMCPY2D_st.dstDevice(c),
        CUDA_MEMCPY2D_st.dstPitch(c),
        CUDA_MEMCPY2D_st.dstY(c),
        CUDA_MEMCPY2D_st.dstXInBytes(c),
        c);
  }

  private Side side(
      int type, long onHost, long onDevice, long pitch, long y, long x, MemorySegment c) {
    long width = CUDA_MEMCPY2D_st.WidthInBytes(c);
    if (pitch < Math.addExact(x, width) && CUDA_MEMCPY2D_st.Height(c) > 1) {
      throw CuResult.INVALID_VALUE.because(
          "a pitch of %d bytes is less than %d + %d".formatted(pitch, x, width));
    }
    long offset = Math.addExact(Math.multiplyExact(y, pitch), x);
    return switch (type) {
      case HOST -> host(onHost + offset, pitch);
      case DEVICE -> device(onDevice + offset, pitch);
      case UNIFIED -> unified(onDevice + offset, pitch);
      default -> throw CuResult.INVALID_VALUE.because("memory type " + type);
    };
  }

  /** The bytes from a side's first to its last; checks that they can be there. */
  private static long extent(Side side, long width, long height) {
    if (width < 0 || height < 0) {
      throw CuResult.INVALID_VALUE.because("%d × %d bytes".formatted(height, width));
    }
    return Math.addExact(Math.multiplyExact(side.pitch(), height - 1), width);
  }

  private Work.Place place(Side side, long width, long height, String parameter) {
    long extent = extent(side, width, height);
    if (!side.onDevice()) {
      Native.at(side.address(), extent, parameter);
      return new Work.Place.Host(side.address(), side.pitch());
    }
    Device holder = simulation.holder(side.address(), simulation.current().device());
    if (holder == null || !holder.memory().contains(side.address(), extent)) {
      throw CuResult.INVALID_VALUE.because(
          "%s: %d bytes at 0x%x don't lie within one living allocation"
              .formatted(parameter, extent, side.address()));
    }
    return new Work.Place.Device(holder.memory(), side.address(), side.pitch());
  }

  private boolean isPageable(Side side, long width, long height) {
    return !side.onDevice()
        && simulation.hostMemory().around(side.address(), extent(side, width, height)) == null;
  }

  private Work.Copy copy(Side target, Side source, long width, long height) {
    return new Work.Copy(
        place(target, width, height, "dst"), place(source, width, height, "src"), width, height);
  }

  /** The same copy with its source's bytes as they are now. */
  private static Work.Copy staged(Work.Copy copy, Side source) {
    long extent = extent(source, copy.width(), copy.height());
    byte[] bytes =
        MemorySegment.ofAddress(source.address())
            .reinterpret(extent)
            .toArray(ValueLayout.JAVA_BYTE);
    return new Work.Copy(
        copy.target(), new Work.Place.Staged(bytes, source.pitch()), copy.width(), copy.height());
  }

  /**
   * A copy that names no stream. From pageable memory to the device it waits for earlier work, and
   * returns when it has read the source: the device may get the bytes later. Within the device it
   * doesn't wait.
   */
  private void now(Side target, Side source, long width, long height) {
    Stream legacy = simulation.current().legacy();
    simulation.requireNoCapture();
    if (width == 0 || height == 0) {
      return;
    }
    Work.Copy copy = copy(target, source, width, height);
    if (target.onDevice() && source.onDevice()) {
      simulation.submit(legacy, copy);
    } else if (target.onDevice() && isPageable(source, width, height)) {
      simulation.submit(legacy, new Work.Mark("start of a copy"));
      simulation.finish(legacy);
      simulation.submit(legacy, staged(copy, source));
    } else {
      simulation.submit(legacy, copy);
      simulation.finish(legacy);
    }
  }

  /** A copy in a stream. To pageable memory it is over when the call returns. */
  private void later(MemorySegment hStream, Side target, Side source, long width, long height) {
    Stream stream = simulation.stream(hStream);
    if (width == 0 || height == 0) {
      return;
    }
    Work.Copy copy = copy(target, source, width, height);
    boolean captured = stream.capture != null;
    if (!captured && target.onDevice() && isPageable(source, width, height)) {
      simulation.submit(stream, staged(copy, source));
      return;
    }
    simulation.submit(stream, copy);
    if (!captured && isPageable(target, width, height)) {
      simulation.finish(stream);
    }
  }

  void cuMemsetD8(long address, byte value, long count) {
    fill(simulation.current().legacy(), address, 1, value, count);
  }

  void cuMemsetD16(long address, short value, long count) {
    fill(simulation.current().legacy(), address, 2, value, count);
  }

  void cuMemsetD32(long address, int value, long count) {
    fill(simulation.current().legacy(), address, 4, value, count);
  }

  void cuMemsetD8Async(long address, byte value, long count, MemorySegment stream) {
    fill(simulation.stream(stream), address, 1, value, count);
  }

  void cuMemsetD16Async(long address, short value, long count, MemorySegment stream) {
    fill(simulation.stream(stream), address, 2, value, count);
  }

  void cuMemsetD32Async(long address, int value, long count, MemorySegment stream) {
    fill(simulation.stream(stream), address, 4, value, count);
  }

  private void fill(Stream stream, long address, int size, int value, long count) {
    if (count == 0) {
      return;
    }
    if (address % size != 0) {
      throw CuResult.INVALID_VALUE.because("0x%x is no multiple of %d".formatted(address, size));
    }
    long bytes = Math.multiplyExact(count, size);
    Device holder = simulation.holder(address, stream.context().device());
    if (holder == null || !holder.memory().contains(address, bytes)) {
      throw CuResult.INVALID_VALUE.because(
          "%d bytes at 0x%x don't lie within one living allocation".formatted(bytes, address));
    }
    simulation.submit(stream, new Work.Fill(holder.memory(), address, size, value, count));
  }
}
