package dev.minifloat.cuda;

import dev.minifloat.MinifloatException;

/**
 * A function of the CUDA driver failed. The message has the function, its arguments, the {@code
 * CUresult} with its name and the driver's text, and what is known beyond that: what a compiler
 * said, how much memory there was, which kernels were running.
 */
public final class CudaException extends MinifloatException {
  private static final long serialVersionUID = 1L;

  private final String function;
  private final int result;
  private final String resultName;

  /** An exception for a result of a function. */
  public CudaException(String message, String function, int result, String resultName) {
    super(message);
    this.function = function;
    this.result = result;
    this.resultName = resultName;
  }

  /** The same failure, told with what a caller knows of it. */
  public CudaException(String message, CudaException cause) {
    super(message, cause);
    this.function = cause.function;
    this.result = cause.result;
    this.resultName = cause.resultName;
  }

  /** The function, as the library exports it: {@code cuMemAlloc_v2}. */
  public String function() {
    return function;
  }

  /** The number of the {@code CUresult}: 2 for {@code CUDA_ERROR_OUT_OF_MEMORY}. */
  public int result() {
    return result;
  }

  /** The name of the {@code CUresult}. */
  public String resultName() {
    return resultName;
  }
}
