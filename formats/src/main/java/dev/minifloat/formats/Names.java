package dev.minifloat.formats;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Help for whoever asks for a tensor by a name that the file hasn't. */
final class Names {
  private static final int MOST = 3;

  private Names() {}

  /** A clause that lists tensors whose names contain what was asked for, or the reverse. */
  static String hint(String wanted, List<TensorInfo> tensors) {
    if (tensors.isEmpty()) {
      return "; it has none at all";
    }
    String lower = wanted.toLowerCase(Locale.ROOT);
    String similar =
        tensors.stream()
            .map(TensorInfo::name)
            .filter(name -> isLike(name.toLowerCase(Locale.ROOT), lower))
            .limit(MOST)
            .map(FileFormatException::quote)
            .collect(Collectors.joining(", "));
    return similar.isEmpty()
        ? "; the first of its "
            + tensors.size()
            + " is "
            + FileFormatException.quote(tensors.getFirst().name())
        : "; there is " + similar;
  }

  private static boolean isLike(String name, String wanted) {
    return !name.isEmpty() && !wanted.isEmpty() && (name.contains(wanted) || wanted.contains(name));
  }
}
