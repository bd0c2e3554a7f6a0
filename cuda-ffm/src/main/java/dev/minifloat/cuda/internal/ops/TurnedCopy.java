package dev.minifloat.cuda.internal.ops;

import dev.minifloat.cuda.internal.driver.DeviceMemory;
import dev.minifloat.cuda.internal.plan.DeviceView;
import dev.minifloat.cuda.internal.plan.Turn;

/** A turned copy of an operand for the length of a product; the operand, if it needs none. */
final class TurnedCopy implements AutoCloseable {
  private final DeviceView operand;
  private final Turn turn;
  private final DeviceMemory data;
  private final DeviceMemory scales;

  /**
   * Takes memory for a copy.
   *
   * @param turn null for none
   */
  TurnedCopy(CommandQueue queue, DeviceView operand, Turn turn) {
    this.operand = operand;
    this.turn = turn;
    this.data = turn == null ? null : queue.temporary(turn.dataBytes());
    this.scales = turn == null ? null : scales(queue, turn, data);
  }

  private static DeviceMemory scales(CommandQueue queue, Turn turn, DeviceMemory data) {
    boolean done = false;
    try {
      DeviceMemory scales =
          turn.turnsScales() ? queue.temporary(turn.scales() * Float.BYTES) : null;
      done = true;
      return scales;
    } finally {
      if (!done) {
        data.close();
      }
    }
  }

  /** Makes the copy. */
  DeviceView view(Copies copies) {
    if (turn == null) {
      return operand;
    }
    long scalesAddress = scales == null ? 0 : scales.address();
    copies.turn(turn, data.address(), scalesAddress);
    return turn.to(data.address(), scalesAddress);
  }

  @Override
  public void close() {
    if (scales != null) {
      scales.close();
    }
    if (data != null) {
      data.close();
    }
  }
}
