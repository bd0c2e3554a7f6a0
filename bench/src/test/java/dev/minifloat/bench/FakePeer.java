package dev.minifloat.bench;

import java.util.Optional;
import java.util.function.UnaryOperator;

/** Does what another one does, and then something to its result. */
final class FakePeer implements Peer {
  private final String name;
  private final Peer peer;
  private final UnaryOperator<float[]> change;
  private final double tolerance;
  private Runnable extra = () -> {};

  /**
   * Makes the peer.
   *
   * @param tolerance what its contestants state; 0 for being exact
   */
  FakePeer(String name, Peer peer, double tolerance, UnaryOperator<float[]> change) {
    this.name = name;
    this.peer = peer;
    this.tolerance = tolerance;
    this.change = change;
  }

  /** Lets each run do something more. */
  FakePeer with(Runnable more) {
    extra = more;
    return this;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String variant() {
    return "fake";
  }

  @Override
  public Optional<Contestant> prepare(Workload workload) {
    return peer.prepare(workload).map(Changed::new);
  }

  @Override
  public void close() {
    peer.close();
  }

  private final class Changed implements Contestant {
    private final Contestant contestant;

    Changed(Contestant contestant) {
      this.contestant = contestant;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public void run() {
      contestant.run();
      extra.run();
    }

    @Override
    public float[] result() {
      return change.apply(contestant.result());
    }

    @Override
    public boolean isExact() {
      return tolerance == 0;
    }

    @Override
    public double tolerance() {
      return tolerance;
    }

    @Override
    public void close() {
      contestant.close();
    }
  }
}
