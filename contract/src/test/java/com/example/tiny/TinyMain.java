package com.example.tiny;

import dev.minifloat.Backend;
import dev.minifloat.Backends;
import dev.minifloat.contract.Check;
import dev.minifloat.contract.Contract;
import dev.minifloat.contract.ContractViolation;
import java.util.List;

/** Runs the contract on every tiny backend that {@link Backends} finds, as any program could. */
public final class TinyMain {
  /** Enough to meet each of the three faults, in a few seconds. */
  private static final List<String> CHECKS =
      List.of(
          "convert/F32 → F8_E4M3 ",
          "quantize/F8_E4M3 tensor",
          "gemm/F8_E4M3 rows × BF16 ",
          "softmax/F32 lengths");

  private TinyMain() {}

  /** Prints a line for each backend: its name, and the first check that fails or "passes". */
  public static void main(String[] args) {
    for (String name : Backends.names()) {
      if (name.startsWith("tiny")) {
        try (Backend backend = Backends.open(name)) {
          System.out.println(name + ": " + outcome(backend));
        }
      }
    }
    boolean named = TinyMain.class.getModule().isNamed();
    System.out.println("ran on the " + (named ? "module" : "class") + " path");
  }

  private static String outcome(Backend backend) {
    for (Check check : Contract.checks(backend)) {
      if (CHECKS.stream().anyMatch(check.name()::startsWith)) {
        try {
          check.run();
        } catch (ContractViolation e) {
          return "fails " + check.name();
        }
      }
    }
    return "passes";
  }
}
