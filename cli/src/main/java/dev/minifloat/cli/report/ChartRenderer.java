package dev.minifloat.cli.report;

import java.util.List;

/** Draws the charts of a report. */
public interface ChartRenderer {
  /**
   * The charts of one backend's results.
   *
   * @throws ChartException if this machine can't draw them
   */
  List<Chart> render(BackendResult result) throws ChartException;

  /**
   * A picture.
   *
   * @param title what it shows
   * @param caption how to read it
   * @param svg an SVG element to be put into HTML, with ids of its own
   */
  record Chart(String title, String caption, String svg) {}

  /** Why no picture could be drawn. */
  final class ChartException extends Exception {
    private static final long serialVersionUID = 1L;

    /** With the reason and its cause. */
    public ChartException(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
