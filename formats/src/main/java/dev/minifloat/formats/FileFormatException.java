package dev.minifloat.formats;

import dev.minifloat.MinifloatException;
import java.util.Optional;
import java.util.OptionalLong;

/** A file is not what its format demands. The message names the file, the tensor and the byte. */
public final class FileFormatException extends MinifloatException {
  private static final long serialVersionUID = 1L;

  /** More of a name than this tells nobody anything; a damaged file can claim megabytes. */
  private static final int LONGEST_NAME = 200;

  private final String file;
  private final String tensor;
  private final long offset;

  /**
   * A complaint about a place in a file.
   *
   * @param file the file, as the caller named it
   * @param tensor the tensor concerned, or null
   * @param offset the byte of the file where the trouble shows, or −1 if there is no such place
   * @param problem what is wrong there, and what to do if anything can be done
   */
  public FileFormatException(String file, String tensor, long offset, String problem) {
    this(file, tensor, offset, problem, null);
  }

  /** A complaint with the exception that led to it. */
  public FileFormatException(
      String file, String tensor, long offset, String problem, Throwable cause) {
    super(message(file, tensor, offset, problem), cause);
    this.file = file;
    this.tensor = tensor;
    this.offset = offset;
  }

  private static String message(String file, String tensor, long offset, String problem) {
    StringBuilder text = new StringBuilder(file);
    if (tensor != null) {
      text.append(": tensor ").append(quote(tensor));
    }
    if (offset >= 0) {
      text.append(": byte ").append(offset);
    }
    return text.append(": ").append(problem).toString();
  }

  /**
   * Text of a file in quotes, fit for one line: control characters escaped, the middle of long text
   * left out.
   */
  static String quote(String text) {
    String shown =
        text.length() <= LONGEST_NAME
            ? text
            : text.substring(0, LONGEST_NAME / 2)
                + "…"
                + text.substring(text.length() - LONGEST_NAME / 2);
    return "\"" + Printable.of(shown) + "\"";
  }

  /** The file, as the caller named it. */
  public String file() {
    return file;
  }

  /** The tensor concerned, if it is one. */
  public Optional<String> tensor() {
    return Optional.ofNullable(tensor);
  }

  /** The byte of the file where the trouble shows, if there is such a place. */
  public OptionalLong offset() {
    return offset < 0 ? OptionalLong.empty() : OptionalLong.of(offset);
  }
}
