package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.trace.Place;
import dev.minifloat.cuda.sim.trace.TracedBarrier;
import dev.minifloat.cuda.sim.trace.TracedBlock;
import dev.minifloat.cuda.sim.trace.TracedLaunch;
import dev.minifloat.cuda.sim.trace.TracedMbarrier;
import dev.minifloat.cuda.sim.trace.TracedWarp;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** A block as a tracer sees it. */
final class BlockView implements TracedBlock {
  private final Block block;

  BlockView(Block block) {
    this.block = block;
  }

  @Override
  public TracedLaunch launch() {
    return block.launch().view();
  }

  @Override
  public Place place() {
    return LaunchView.place(block.place());
  }

  @Override
  public List<TracedWarp> warps() {
    List<TracedWarp> warps = new ArrayList<>();
    for (int i = 0; i < block.warpCount(); i++) {
      warps.add(new WarpView(block.warp(i)));
    }
    return warps;
  }

  @Override
  public List<TracedBarrier> barriers() {
    List<TracedBarrier> barriers = new ArrayList<>();
    for (int id = 0; id < Block.BARRIERS; id++) {
      Optional<TracedBarrier> barrier = block.barrier(id).view();
      barrier.ifPresent(barriers::add);
    }
    return barriers;
  }

  @Override
  public List<TracedMbarrier> mbarriers() {
    return block.mbarriers().stream()
        .map(Mbarrier::view)
        .sorted(Comparator.comparingInt(TracedMbarrier::offset))
        .toList();
  }

  @Override
  public byte[] shared(int offset, int length) {
    return block.shared().look(offset, length);
  }

  @Override
  public boolean isWritten(int offset) {
    return block.shared().isWritten(offset);
  }
}
