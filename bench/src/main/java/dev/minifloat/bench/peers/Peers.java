package dev.minifloat.bench.peers;

import dev.minifloat.bench.Peer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The peers of this machine.
 *
 * @param present those that run here
 * @param absent the others
 */
public record Peers(List<Peer> present, List<Absent> absent) implements AutoCloseable {
  /**
   * One that can't run.
   *
   * @param name its name
   * @param reason why not, and what to do about it
   */
  public record Absent(String name, String reason) {}

  /** Looks for a peer that may come in variants. */
  private interface Search {
    List<Peer> find() throws PeerAbsent;
  }

  /** Keeps copies. */
  public Peers {
    present = List.copyOf(present);
    absent = List.copyOf(absent);
  }

  /**
   * Looks for each: the native libraries in the folder that {@code bench/peers/install} fills, Java
   * ones on the class path. Never throws.
   *
   * @param folder {@code bench/peers/lib}
   * @param models folder of the jars that hold models
   */
  public static Peers discover(Path folder, Path models) {
    List<Peer> present = new ArrayList<>();
    List<Absent> absent = new ArrayList<>();
    look("ggml", () -> GgmlPeer.load(folder), present, absent);
    look("OpenBLAS", () -> List.of(OpenBlasPeer.load(folder)), present, absent);
    look("oneDNN", () -> OneDnnPeer.load(folder), present, absent);
    look("Jlama", () -> List.of(JlamaPeer.load()), present, absent);
    look("Lucene", () -> List.of(LucenePeer.load()), present, absent);
    look("JVector", () -> List.of(JVectorPeer.load()), present, absent);
    look("ONNX Runtime", () -> List.of(OnnxRuntimePeer.load(models)), present, absent);
    return new Peers(present, absent);
  }

  private static void look(String name, Search search, List<Peer> present, List<Absent> absent) {
    try {
      present.addAll(search.find());
    } catch (PeerAbsent e) {
      absent.add(new Absent(name, e.getMessage()));
    } catch (LinkageError e) {
      absent.add(
          new Absent(name, "it isn't installed; run bench/peers/install (" + e.getMessage() + ")"));
    } catch (RuntimeException e) {
      absent.add(new Absent(name, "it failed to start: " + e));
    }
  }

  @Override
  public void close() {
    present.forEach(Peer::close);
  }
}
