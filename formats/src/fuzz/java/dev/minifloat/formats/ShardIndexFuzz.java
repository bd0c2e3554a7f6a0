package dev.minifloat.formats;

import com.code_intelligence.jazzer.junit.FuzzTest;

/** Fuzzes the reader of indexes of sharded safetensors models. */
class ShardIndexFuzz {
  /** Parser buffers and small objects, and what the fuzzer's instrumentation adds. */
  private static final long SLACK = 1 << 20;

  @FuzzTest
  void fuzz(byte[] input) {
    FuzzTargets.withinMemory(FuzzTargets::shardIndex, input, SLACK);
  }
}
