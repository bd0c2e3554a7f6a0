package dev.minifloat.cuda.mutation;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Survivors that somebody looked at, from {@code survivors.txt}: a mutant's id, a bar, {@code
 * equivalent} or {@code gap}, a bar, and why.
 */
final class KnownSurvivors {
  private final Map<String, Reason> reasons = new LinkedHashMap<>();

  private record Reason(boolean equivalent, String text) {}

  private KnownSurvivors() {}

  static KnownSurvivors load() {
    KnownSurvivors known = new KnownSurvivors();
    try (InputStream in = KnownSurvivors.class.getResourceAsStream("survivors.txt")) {
      if (in == null) {
        throw new IllegalStateException("survivors.txt is not among the test's resources");
      }
      new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().forEach(known::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return known;
  }

  private void add(String line) {
    if (line.isBlank() || line.startsWith("#")) {
      return;
    }
    String[] parts = line.split("\\|", 3);
    String kind = parts.length == 3 ? parts[1].strip() : "";
    if (!kind.equals("equivalent") && !kind.equals("gap")) {
      throw new IllegalArgumentException("survivors.txt: " + line);
    }
    reasons.put(parts[0].strip(), new Reason(kind.equals("equivalent"), parts[2].strip()));
  }

  /** The ids of all. */
  Set<String> ids() {
    return reasons.keySet();
  }

  boolean contains(Mutant mutant) {
    return reasons.containsKey(mutant.id());
  }

  /** Whether a mutant is known to do the same as its kernel. */
  boolean isEquivalent(Mutant mutant) {
    return contains(mutant) && reasons.get(mutant.id()).equivalent();
  }

  Optional<String> explanation(Mutant mutant) {
    return Optional.ofNullable(reasons.get(mutant.id())).map(Reason::text);
  }
}
