package dev.minifloat.cli;

import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.Optional;

/**
 * Where results go. A {@link PrintStream} swallows the reason why something could not be written; a
 * full disk must not look like success.
 */
final class StandardOutput extends FilterOutputStream {
  private IOException failure;

  StandardOutput(OutputStream out) {
    super(out);
  }

  /** The stream that commands print to. */
  PrintStream printStream(Charset charset) {
    return new PrintStream(new BufferedOutputStream(this, 1 << 13), true, charset);
  }

  /** The first reason why something could not be written. */
  Optional<IOException> failure() {
    return Optional.ofNullable(failure);
  }

  /** Whether the reader went away, as {@code head} does when it has seen enough: no failure. */
  boolean isUnwanted() {
    return failure != null && "Broken pipe".equals(failure.getMessage());
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failure = failure == null ? e : failure;
      throw e;
    }
  }
}
