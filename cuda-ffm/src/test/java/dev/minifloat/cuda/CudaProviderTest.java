package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Backend;
import dev.minifloat.BackendUnavailableException;
import dev.minifloat.Backends;
import dev.minifloat.spi.Availability;
import org.junit.jupiter.api.Test;

class CudaProviderTest {
  @Test
  void itIsFoundByName() {
    assertTrue(Backends.names().contains("cuda"));
  }

  /** With a device it opens; without one it says what is missing, as opening does. */
  @Test
  void itOpensOrSaysWhyNot() {
    CudaProvider provider = new CudaProvider();
    switch (provider.availability()) {
      case Availability.Available(String device) -> {
        try (Backend backend = provider.create()) {
          assertEquals(device, backend.info().device());
        }
      }
      case Availability.Unavailable(var reasons) -> {
        BackendUnavailableException refusal =
            assertThrows(BackendUnavailableException.class, provider::create);
        assertTrue(refusal.getMessage().contains(reasons.getFirst().what()));
        assertTrue(refusal.getMessage().contains(reasons.getFirst().remedy()));
      }
    }
  }
}
