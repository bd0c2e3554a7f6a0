package dev.minifloat.cli.kernels;

import dev.minifloat.kernels.KernelEntry;
import java.util.Map;

/**
 * What a block of a product's kernel does, as the simulator counts it. Counts are of warps'
 * instructions in PTX, of which the assembler makes more or fewer machine instructions.
 *
 * @param kernel which
 * @param scales how operands are scaled
 * @param rate what its matrix instructions multiply
 * @param depth elements of K that the counts of the loop are of
 * @param products matrix instructions of the loop
 * @param others its other instructions, by class
 * @param conflicts its bank conflicts
 * @param globalBytes bytes that it reads from global memory
 * @param leastBytes bytes of the tiles' elements, and of one scale for each that they have
 * @param sharedBytes bytes that it moves to and from shared memory
 * @param outside instructions of the block outside its loop
 * @param outsideConflicts bank conflicts there
 */
public record LoopFigures(
    KernelEntry kernel,
    String scales,
    Card.Rate rate,
    long depth,
    long products,
    Map<String, Long> others,
    long conflicts,
    long globalBytes,
    long leastBytes,
    long sharedBytes,
    long outside,
    long outsideConflicts) {
  /** Copies the map. */
  public LoopFigures {
    others = Map.copyOf(others);
  }

  /** Instructions of the loop that multiply no matrices. */
  public long otherInstructions() {
    return others.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Of these, so many for each that does. */
  public double othersPerProduct() {
    return (double) otherInstructions() / products;
  }

  /** Operations of the loop, a multiply-add counting as two. */
  double operations() {
    return 2.0 * kernel.tile().get(0) * kernel.tile().get(1) * depth;
  }

  /** Bytes read from global memory for a thousand operations. */
  public double globalBytesPerThousand() {
    return globalBytes * 1000 / operations();
  }

  /** Bytes moved to and from shared memory for a thousand operations. */
  public double sharedBytesPerThousand() {
    return sharedBytes * 1000 / operations();
  }

  /** What is read from global memory, as a multiple of what the tiling has to read. */
  public double globalExcess() {
    return (double) globalBytes / leastBytes;
  }
}
