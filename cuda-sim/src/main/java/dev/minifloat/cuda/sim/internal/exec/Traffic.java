package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import java.util.Arrays;

/**
 * Counts what one warp instruction after the other moves: sectors of global memory, passes over
 * shared banks.
 */
final class Traffic {
  private static final int BANKS = 32;

  private final Counters counters;
  private final boolean write;
  private int bytes;
  private final long[] sectors = new long[64];
  private int sectorCount;
  private final long[] words = new long[32];
  private int wordCount;

  /** Whether each word lies behind the one before, so that all differ. */
  private boolean rising;

  private final int[] perBank = new int[BANKS];

  /**
   * The traffic of a warp.
   *
   * @param write whether it goes to memory
   */
  Traffic(Counters counters, boolean write) {
    this.counters = counters;
    this.write = write;
  }

  /**
   * Begins with an instruction.
   *
   * @param each bytes that each lane moves
   */
  Traffic begin(int each) {
    bytes = each;
    sectorCount = 0;
    wordCount = 0;
    rising = true;
    return this;
  }

  /** A lane moves its bytes. */
  void add(StateSpace space, long address) {
    if (space == StateSpace.GLOBAL) {
      addSector(address >>> 5);
      if (write) {
        counters.globalBytesWritten += bytes;
      } else {
        counters.globalBytesRead += bytes;
      }
    } else if (space == StateSpace.SHARED) {
      long word = (address & 0xFF_FFFF) >>> 2;
      rising &= wordCount == 0 || word > words[wordCount - 1];
      words[wordCount++] = word;
      if (write) {
        counters.sharedBytesWritten += bytes;
      } else {
        counters.sharedBytesRead += bytes;
      }
    }
  }

  private void addSector(long sector) {
    for (int i = sectorCount - 1; i >= 0; i--) {
      if (sectors[i] == sector) {
        return;
      }
    }
    sectors[sectorCount++] = sector;
  }

  /** Counts what was added. */
  void finish() {
    if (write) {
      counters.globalSectorsWritten += sectorCount;
    } else {
      counters.globalSectorsRead += sectorCount;
    }
    // 8 bytes a lane go in two passes of 16 lanes, 16 bytes in four of 8.
    int lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    for (int from = 0; from < wordCount; from += lanes) {
      int passes = passes(from, Math.min(wordCount, from + lanes));
      counters.sharedAccesses++;
      counters.bankConflicts += passes - 1;
    }
  }

  /** The most different words that one bank has to give. */
  private int passes(int from, int to) {
    Arrays.fill(perBank, 0);
    int most = 1;
    int wordsEach = Math.max(1, bytes / 4);
    for (int i = from; i < to; i++) {
      if (!rising && seen(from, i)) {
        continue;
      }
      for (int w = 0; w < wordsEach; w++) {
        int bank = (int) (words[i] + w) & BANKS - 1;
        most = Math.max(most, ++perBank[bank]);
      }
    }
    return most;
  }

  private boolean seen(int from, int at) {
    for (int i = from; i < at; i++) {
      if (words[i] == words[at]) {
        return true;
      }
    }
    return false;
  }
}
