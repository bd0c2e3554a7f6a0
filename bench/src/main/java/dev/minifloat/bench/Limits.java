package dev.minifloat.bench;

/**
 * What the machine can do at best, with all threads of a run and with one.
 *
 * @param threads how many "all" are
 * @param one with one thread
 * @param all with all threads together
 * @param l1Bytes bytes of the first data cache of a core
 * @param l2Bytes bytes of the second cache of a core
 * @param l3Bytes bytes of the cache that cores share; 0 for none known
 * @param dramBytes bytes of the memory that the DRAM figures were read from, and copied to
 */
public record Limits(
    int threads, Rates one, Rates all, long l1Bytes, long l2Bytes, long l3Bytes, long dramBytes) {
  /**
   * Rates of one number of threads: 10^9 operations or bytes a second.
   *
   * @param fma FP32 multiply-adds in vectors, two operations each
   * @param l1 loads from the first cache
   * @param l2 loads from the second cache
   * @param l3 loads from the third cache; 0 where there is none
   * @param dramRead loads from memory
   * @param dramCopy a copy in memory, bytes read and bytes written
   */
  public record Rates(
      double fma, double l1, double l2, double l3, double dramRead, double dramCopy) {
    /** The higher of each. */
    Rates max(Rates that) {
      return new Rates(
          Math.max(fma, that.fma),
          Math.max(l1, that.l1),
          Math.max(l2, that.l2),
          Math.max(l3, that.l3),
          Math.max(dramRead, that.dramRead),
          Math.max(dramCopy, that.dramCopy));
    }
  }

  /** The higher of each, of two measurements of one machine. */
  public Limits max(Limits that) {
    return new Limits(
        threads, one.max(that.one), all.max(that.all), l1Bytes, l2Bytes, l3Bytes, dramBytes);
  }

  /** The rates of a number of threads. */
  public Rates rates(int number) {
    return number == 1 ? one : all;
  }

  /** Bandwidth of loads of data of that many bytes a thread, from the cache that holds them. */
  public double loads(double bytes, int number) {
    Rates rates = rates(number);
    double share = bytes / number;
    if (share <= l1Bytes) {
      return rates.l1;
    }
    if (share <= l2Bytes) {
      return rates.l2;
    }
    // A shared cache is counted a quarter: other programs, and other machines, have the rest.
    return bytes <= l3Bytes / 4.0 && rates.l3 > 0 ? rates.l3 : rates.dramRead;
  }

  /**
   * The figure that a workload can't pass, in its unit; 0 where none of these limits applies.
   *
   * <p>Of products the roofline: what the multiply-adds or what the loads of the operands allow,
   * whichever is less. Of conversions and functions of rows the speed of a copy.
   */
  public double of(Workload workload) {
    int number = workload.threads();
    Rates rates = rates(number);
    return switch (workload) {
      case Workload.Dot _, Workload.Gemm _ -> roofline(workload);
      case Workload.Gemv w -> w.fromMemory() ? rates.dramRead : roofline(w);
      case Workload.Quantize _, Workload.Dequantize _, Workload.Convert _ -> rates.dramCopy;
      case Workload.Norm w -> w.bytes() <= l2Bytes ? loads(w.bytes(), number) : rates.dramCopy;
      case Workload.Encode _, Workload.FfmCall _ -> 0;
    };
  }

  private double roofline(Workload workload) {
    double loads = loads(workload.bytes(), workload.threads());
    return Math.min(rates(workload.threads()).fma, loads * workload.work() / workload.bytes());
  }
}
