package dev.minifloat.bench.peers;

/** Why a peer can't be used; the message says what to do about it. */
final class PeerAbsent extends Exception {
  private static final long serialVersionUID = 1;

  PeerAbsent(String reason) {
    super(reason);
  }

  PeerAbsent(String reason, Throwable cause) {
    super(reason, cause);
  }
}
