package dev.minifloat.contract;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.fail;

import com.example.tiny.Fault;
import com.example.tiny.TinyBackend;
import dev.minifloat.Backend;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PlantedFaultsTest {
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void contractFindsTheFaultAndTheSoundBackendPassesTheSameCheck(Fault fault) {
    Check check = firstFailure(fault);
    try (Backend sound = new TinyBackend(Fault.NONE)) {
      Check same =
          checks(sound, fault).stream()
              .filter(c -> c.name().equals(check.name()))
              .findFirst()
              .orElse(null);
      if (same != null) {
        assertDoesNotThrow(same::run);
      }
    }
  }

  private static Check firstFailure(Fault fault) {
    try (Backend faulty = new TinyBackend(fault)) {
      for (Check check : checks(faulty, fault)) {
        try {
          check.run();
        } catch (ContractViolation e) {
          return check;
        }
      }
    }
    return fail("no check of group " + fault.group() + " finds " + fault);
  }

  private static List<Check> checks(Backend backend, Fault fault) {
    return Contract.checks(backend).stream()
        .filter(check -> check.group().equals(fault.group()))
        .toList();
  }
}
