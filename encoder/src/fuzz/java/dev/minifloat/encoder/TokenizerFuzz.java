package dev.minifloat.encoder;

import com.code_intelligence.jazzer.junit.FuzzTest;

/** Fuzzes the reader of tokenizer files, and the tokenizers that come out of it. */
class TokenizerFuzz {
  @FuzzTest
  void fuzz(byte[] file) {
    FuzzTargets.tokenizer(file);
  }
}
