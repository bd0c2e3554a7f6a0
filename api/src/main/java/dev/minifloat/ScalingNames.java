package dev.minifloat;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text forms of {@link Scaling}. */
final class ScalingNames {
  private static final Pattern BLOCK =
      Pattern.compile("(?:block)?\\s*\\(?\\s*(\\d{1,9})\\s*[,x×]\\s*(\\d{1,9})\\s*\\)?");

  private ScalingNames() {}

  static Scaling parse(String name) {
    String wanted = name.strip().toLowerCase(Locale.ROOT);
    return switch (wanted) {
      case "none" -> Scaling.none();
      case "tensor" -> Scaling.tensor();
      case "rows", "row" -> Scaling.rows();
      case "columns", "column" -> Scaling.columns();
      case "mx" -> Scaling.mx();
      case "nvfp4" -> Scaling.nvfp4();
      default -> {
        Matcher block = BLOCK.matcher(wanted);
        if (!block.matches()) {
          throw new IllegalArgumentException(
              "scaling: \""
                  + name
                  + "\" is none of none, tensor, rows, columns, block(R,C), mx, nvfp4");
        }
        yield Scaling.block(Integer.parseInt(block.group(1)), Integer.parseInt(block.group(2)));
      }
    };
  }
}
