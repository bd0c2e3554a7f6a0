package dev.minifloat.cuda.internal.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.UnsupportedOpException;
import dev.minifloat.cuda.internal.plan.ProductChoice.Extents;
import dev.minifloat.cuda.internal.plan.ProductChoice.Skinny;
import dev.minifloat.cuda.internal.plan.ProductChoice.Tiled;
import dev.minifloat.kernels.KernelCatalog;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Grids of products that are larger than CUDA's largest in one dimension. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ProductChoiceTest {
  private static final int MOST = LaunchGrid.MAX_YZ;

  private final Views views = new Views();
  private final KernelSet kernels = new KernelSet(KernelCatalog.load(), _ -> true, 80);
  private final DeviceView x =
      DeviceView.of(views.tensor(DType.BF16, Scaling.none(), MOST + 1L, 1, 8), 2);

  @AfterAll
  void close() {
    views.close();
  }

  private Optional<ProductChoice> tensorCores(Extents of) {
    return ProductChoice.tensorCores(kernels, x, x, DType.F32, of, Verdicts.unheard());
  }

  private Optional<ProductChoice> skinny(Extents of) {
    return ProductChoice.skinny(kernels, x, x, of, Verdicts.unheard());
  }

  /** A grid's layers take one matrix after the other where there are more of these. */
  @Test
  void moreMatricesThanLayersGoRound() {
    for (long batch : new long[] {1, MOST, MOST + 1L, 1L << 33}) {
      Extents of = new Extents(batch, 1, 1, 8);
      Tiled any = (Tiled) ProductChoice.any(kernels, x, x, of);
      assertEquals(Math.min(batch, MOST), any.grid().z());
      Tiled made = (Tiled) tensorCores(of).orElseThrow();
      assertEquals("gemm_bf16", made.kernel().entry());
      assertEquals(Math.min(batch, MOST), made.grid().z());
    }
  }

  /** The kernels for few rows don't go round. */
  @Test
  void moreGroupsOfRowsThanLayersAreMultipliedInTiles() {
    Skinny most = (Skinny) skinny(new Extents(MOST, 1, 1, 8)).orElseThrow();
    assertEquals(MOST, most.grid().z());
    assertEquals(Optional.empty(), skinny(new Extents(MOST + 1L, 1, 1, 8)));
    assertEquals(Optional.empty(), skinny(new Extents(MOST / 2 + 1L, 9, 1, 8)));
  }

  @Test
  void rowsBeyondTheGridAreRefusedByName() {
    UnsupportedOpException refusal =
        assertThrows(
            UnsupportedOpException.class,
            () -> ProductChoice.any(kernels, x, x, new Extents(1, 1L << 40, 1, 8)));
    assertEquals(true, refusal.getMessage().contains("cut it into slices"), refusal.getMessage());
  }
}
