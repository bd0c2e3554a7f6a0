package dev.minifloat.contract;

import java.util.Objects;

/**
 * One thing that a backend must get right. Running it again gives the same answer: its data come
 * from a fixed seed.
 */
public final class Check {
  private final String group;
  private final String name;
  private final Body body;

  /** What a check does; any exception is a failure. */
  @FunctionalInterface
  interface Body {
    void run() throws Exception;
  }

  Check(String group, String name, Body body) {
    this.group = Objects.requireNonNull(group, "group");
    this.name = Objects.requireNonNull(name, "name");
    this.body = Objects.requireNonNull(body, "body");
  }

  /** The area it belongs to, such as {@code gemm}. */
  public String group() {
    return group;
  }

  /** Its name, unique and the same on every run, beginning with the group and a slash. */
  public String name() {
    return group + "/" + name;
  }

  /**
   * Runs it.
   *
   * @throws ContractViolation if the backend is wrong, or throws what it should not
   */
  public void run() {
    try {
      body.run();
    } catch (ContractViolation e) {
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ContractViolation(name() + ": interrupted", e);
    } catch (Exception e) {
      throw new ContractViolation(name() + ": threw " + e, e);
    }
  }

  @Override
  public String toString() {
    return name();
  }
}
