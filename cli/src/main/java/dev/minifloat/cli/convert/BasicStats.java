package dev.minifloat.cli.convert;

import dev.minifloat.formats.StorageType;
import java.lang.foreign.MemorySegment;
import java.util.function.LongToDoubleFunction;

/** What the values of a tensor of any type are like. Of complex numbers the real part counts. */
public final class BasicStats {
  private long elements;
  private long zeros;
  private long nans;
  private long infinities;
  private long firstNotFinite = -1;
  private double amax;
  private double smallest = Double.POSITIVE_INFINITY;
  private double sum;

  /** Adds the elements with indices from {@code from} to {@code to}, the latter excluded. */
  public void add(StorageType type, MemorySegment data, long from, long to) {
    add(i -> type.decode(data, i), from, to);
  }

  /**
   * Adds values with indices from {@code from} to {@code to}, the latter excluded.
   *
   * @param values the value of an index
   */
  public void add(LongToDoubleFunction values, long from, long to) {
    for (long i = from; i < to; i++) {
      double value = values.applyAsDouble(i);
      double magnitude = Math.abs(value);
      if (!(magnitude <= Double.MAX_VALUE)) {
        addNotFinite(value, i);
      } else if (magnitude == 0) {
        zeros++;
      } else {
        amax = Math.max(amax, magnitude);
        smallest = Math.min(smallest, magnitude);
        sum += value;
      }
    }
    elements += to - from;
  }

  private void addNotFinite(double value, long index) {
    if (Double.isNaN(value)) {
      nans++;
    } else {
      infinities++;
    }
    if (firstNotFinite < 0) {
      firstNotFinite = index;
    }
  }

  /** Adds what another has seen, of higher indices. */
  public void add(BasicStats other) {
    elements += other.elements;
    zeros += other.zeros;
    nans += other.nans;
    infinities += other.infinities;
    firstNotFinite = firstNotFinite < 0 ? other.firstNotFinite : firstNotFinite;
    amax = Math.max(amax, other.amax);
    smallest = Math.min(smallest, other.smallest);
    sum += other.sum;
  }

  /** The largest finite |x|, 0 if there is none. */
  public double amax() {
    return amax;
  }

  /** The smallest |x| that is not zero, 0 if all are. */
  public double smallest() {
    return Double.isInfinite(smallest) ? 0 : smallest;
  }

  /** The mean of the finite values, 0 if there are none. */
  public double mean() {
    long finite = elements - nans - infinities;
    return finite == 0 ? 0 : sum / finite;
  }

  /** How many values are zero, in percent. */
  public double zeroPercent() {
    return elements == 0 ? 0 : 100.0 * zeros / elements;
  }

  /** How many values are NaN. */
  public long nans() {
    return nans;
  }

  /** How many values are infinite. */
  public long infinities() {
    return infinities;
  }

  /** Row-major index of the first NaN or infinity, −1 if there is none. */
  public long firstNotFinite() {
    return firstNotFinite;
  }
}
