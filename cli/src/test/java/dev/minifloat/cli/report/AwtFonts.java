package dev.minifloat.cli.report;

import java.awt.AWTError;
import java.awt.Font;
import java.awt.font.FontRenderContext;

/** Whether this machine has fonts that AWT can use: small containers don't. */
public final class AwtFonts {
  private AwtFonts() {}

  /** Tries to measure a text. */
  public static boolean areUsable() {
    try {
      Font font = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
      return font.getStringBounds("x", new FontRenderContext(null, true, true)).getWidth() > 0;
    } catch (RuntimeException | LinkageError | InternalError | AWTError _) {
      return false;
    }
  }
}
