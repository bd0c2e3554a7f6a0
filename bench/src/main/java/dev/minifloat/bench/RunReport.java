package dev.minifloat.bench;

import dev.minifloat.bench.peers.Peers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Everything that a quick run found out.
 *
 * @param facts what it ran on and how, in this order
 * @param peers name and variant of each contestant
 * @param absent peers that weren't there
 * @param limits what the machine can do
 * @param measured the figures
 * @param failures contestants that failed or computed something wrong, and how
 * @param warnings what makes the figures doubtful
 */
public record RunReport(
    Map<String, String> facts,
    Map<String, String> peers,
    List<Peers.Absent> absent,
    Limits limits,
    Measurements measured,
    List<String> failures,
    List<String> warnings) {

  /**
   * A line of the results.
   *
   * @param workload what was done
   * @param ours our figure, in the workload's unit; NaN if we failed, or were not measured here
   * @param peers figures of others at this work, and of what its bars refer to
   * @param limit the limit, or 0 for none
   */
  public record Row(Workload workload, double ours, Map<String, Double> peers, double limit) {
    /** Our figure as a multiple of a peer's. */
    double ratio(String peer) {
      return workload.unit().ratio(ours, peers.get(peer));
    }

    /** Whether there is a figure of ours. */
    public boolean isMeasured() {
      return !Double.isNaN(ours);
    }

    /** Our figure, or nothing. */
    public String oursText() {
      return isMeasured() ? Unit.text(ours) : "";
    }

    /** Our part of the limit in percent, or nothing. */
    public String partOfLimit() {
      return isMeasured() && limit != 0 ? Math.round(100 * ours / limit) + " %" : "";
    }

    /** A peer's figure and, in brackets, ours as a multiple of it, if there is one. */
    public String peerText(String peer) {
      double figure = peers.get(peer);
      return isMeasured()
          ? "%s (%s×)".formatted(Unit.text(figure), Unit.text(ratio(peer)))
          : Unit.text(figure);
    }
  }

  /** A line for each workload. */
  public List<Row> rows() {
    return measured.workloads().stream().map(w -> row(w, measured, limits)).toList();
  }

  /** The line of one workload. */
  static Row row(Workload workload, Measurements measured, Limits limits) {
    Map<String, Double> peers = new LinkedHashMap<>();
    measured
        .of(workload)
        .forEach(
            (name, seconds) -> {
              if (!name.equals(Ours.NAME) && !MemoryTraffic.isName(name)) {
                peers.put(name, workload.figure(seconds));
              }
            });
    elsewhere(workload)
        .forEach(
            (name, reference) ->
                measured
                    .of(reference.workload(), reference.contestant())
                    .ifPresent(seconds -> peers.put(name, workload.figure(seconds))));
    double ours =
        measured.of(workload, Ours.NAME).stream()
            .map(workload::figure)
            .findAny()
            .orElse(Double.NaN);
    double limit =
        MemoryTraffic.seconds(workload, measured).stream()
            .map(workload::figure)
            .findAny()
            .orElseGet(() -> limits.of(workload));
    return new Row(workload, ours, peers, limit);
  }

  private record Elsewhere(String contestant, Workload workload) {}

  /** Figures of other workloads that a row shows, by the name it shows them under. */
  private static Map<String, Elsewhere> elsewhere(Workload workload) {
    Map<String, Elsewhere> found = new LinkedHashMap<>();
    if (workload instanceof Workload.Gemm gemm && gemm.type() != Format.F32) {
      Plan.WIDENING.forEach(name -> put(found, name, gemm.of(Format.F32)));
    }
    for (Bar bar : Bar.of(workload)) {
      if (bar.reference() instanceof Bar.Fastest fastest && !fastest.workload().equals(workload)) {
        fastest.contestants().forEach(name -> put(found, name, fastest.workload()));
      }
    }
    return found;
  }

  private static void put(Map<String, Elsewhere> found, String contestant, Workload workload) {
    found.put(contestant + " " + workload.format(), new Elsewhere(contestant, workload));
  }

  /** Names of all that were measured: the peers, then ours at other vector widths. */
  public List<String> contestants() {
    return Stream.concat(
            peers.keySet().stream(),
            measured.workloads().stream()
                .flatMap(workload -> measured.of(workload).keySet().stream())
                .filter(name -> !MemoryTraffic.isName(name)))
        .distinct()
        .toList();
  }

  /** What came of every bar. */
  public List<Bar.Verdict> verdicts() {
    List<Bar.Verdict> verdicts = new ArrayList<>();
    for (Workload workload : measured.workloads()) {
      for (Bar bar : Bar.of(workload)) {
        verdicts.add(bar.verdict(workload, measured, limits));
      }
    }
    return verdicts;
  }
}
