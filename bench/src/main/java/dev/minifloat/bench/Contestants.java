package dev.minifloat.bench;

import dev.minifloat.bench.peers.Peers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Ours, the peers that are here, and scalar Java, in this order.
 *
 * @param all everyone
 * @param absent peers that aren't here
 */
public record Contestants(List<Peer> all, List<Peers.Absent> absent) implements AutoCloseable {
  /** Names the folder that {@code bench/peers/install} fills. */
  public static final String PEERS_PROPERTY = "minifloat.peers";

  /** Names the folder of the encoder's model. */
  public static final String MODELS_PROPERTY = "minifloat.models";

  /** Held, or its level would be forgotten. */
  private static final Logger LOGGERS = Logger.getLogger("");

  /** Keeps copies. */
  public Contestants {
    all = List.copyOf(all);
    absent = List.copyOf(absent);
  }

  /** Opens everyone, with the folders that the two system properties name. */
  public static Contestants gather() {
    // Peers tell how they start; what matters of that is in their variants.
    LOGGERS.setLevel(Level.WARNING);
    Path models = Path.of(System.getProperty(MODELS_PROPERTY, "models"));
    Path folder = Path.of(System.getProperty(PEERS_PROPERTY, "bench/peers/lib"));
    Peers peers = Peers.discover(folder, models);
    List<Peer> all = new ArrayList<>();
    all.add(new Ours(models));
    all.addAll(peers.present());
    all.add(new Scalar());
    return new Contestants(all, peers.absent());
  }

  /** The variant of each by its name. */
  public Map<String, String> variants() {
    Map<String, String> variants = new LinkedHashMap<>();
    all.forEach(peer -> variants.put(peer.name(), peer.variant()));
    return variants;
  }

  /**
   * A contestant whose result was found right.
   *
   * @throws IllegalArgumentException if there is none of that name, or it doesn't do such work
   * @throws IllegalStateException if its result is wrong
   */
  public Contestant prepareChecked(String name, Workload workload) {
    Peer peer =
        all.stream()
            .filter(p -> p.name().equals(name))
            .findAny()
            .orElseThrow(() -> new IllegalArgumentException("contestant: there is no " + name));
    Contestant contestant =
        peer.prepare(workload)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "contestant: " + name + " doesn't do " + TextTable.title(workload)));
    contestant.run();
    new Oracle()
        .fault(workload, contestant)
        .ifPresent(
            fault -> {
              contestant.close();
              throw new IllegalStateException(
                  name + ", " + TextTable.title(workload) + ": " + fault);
            });
    return contestant;
  }

  @Override
  public void close() {
    all.forEach(Peer::close);
  }
}
