package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Pooling;
import dev.minifloat.Rounding;
import dev.minifloat.encoder.BertWeights;
import dev.minifloat.encoder.EncoderOptions;
import dev.minifloat.encoder.KnownModel;
import dev.minifloat.encoder.ModelArchive;
import dev.minifloat.encoder.SentenceEncoder;
import dev.minifloat.formats.OnnxFile;
import dev.minifloat.reference.ReferenceBackend;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class ContestantsTest {
  private static final Path MODELS = Path.of("..", "encoder", "target", "models");

  @TestFactory
  Stream<DynamicTest> oursComputesWhatTheOracleSays() {
    return SmallWorkloads.all().stream().map(workload -> test(new Ours(MODELS), workload));
  }

  @TestFactory
  Stream<DynamicTest> scalarJavaComputesWhatTheOracleSays() {
    return SmallWorkloads.all().stream()
        .filter(
            workload -> {
              try (Scalar scalar = new Scalar()) {
                Optional<Contestant> contestant = scalar.prepare(workload);
                contestant.ifPresent(Contestant::close);
                return contestant.isPresent();
              }
            })
        .map(workload -> test(new Scalar(), workload));
  }

  private static DynamicTest test(Peer peer, Workload workload) {
    return DynamicTest.dynamicTest(
        TextTable.title(workload),
        () -> {
          try (peer;
              Contestant contestant = peer.prepare(workload).orElseThrow()) {
            contestant.run();
            assertEquals(Optional.empty(), new Oracle().fault(workload, contestant));
          }
        });
  }

  @Test
  void weightsLargerThanCachesRepeatTheirRows() {
    Workload.Gemv workload = new Workload.Gemv(Format.NVFP4, 600, 64, 2);
    assertEquals(256, workload.w().period());
    try (Ours ours = new Ours(MODELS);
        Contestant contestant = ours.prepare(workload).orElseThrow()) {
      contestant.run();
      assertEquals(Optional.empty(), new Oracle().fault(workload, contestant));
      float[] result = contestant.result();
      assertEquals(result[3], result[259]);
    }
  }

  @Test
  void embeddingsAreThoseOfTheReferenceBackend() {
    Workload.Encode workload = new Workload.Encode(2, 12, Format.F32, 2);
    ModelArchive archive = ModelArchive.open(KnownModel.MINILM, MODELS);
    List<float[]> expected;
    try (ReferenceBackend reference = new ReferenceBackend();
        OnnxFile file = OnnxFile.open(archive.onnx());
        SentenceEncoder encoder =
            new SentenceEncoder(
                reference,
                BertWeights.read(file, KnownModel.MINILM.heads()),
                null,
                EncoderOptions.of(Pooling.MEAN))) {
      expected = encoder.embedTokens(workload.ids());
    }
    try (Ours ours = new Ours(MODELS);
        Contestant contestant = ours.prepare(workload).orElseThrow()) {
      contestant.run();
      float[] result = contestant.result();
      for (int i = 0; i < result.length; i++) {
        int width = expected.getFirst().length;
        assertEquals(expected.get(i / width)[i % width], result[i], 2e-6);
      }
    }
  }

  @Test
  void withoutTheModelNothingIsEncoded() {
    try (Ours ours = new Ours(Path.of("nowhere"))) {
      assertTrue(ours.prepare(new Workload.Encode(1, 8, Format.F32, 1)).isEmpty());
    }
  }

  @Test
  void scalarJavaLeavesOutWhatItCannotDo() {
    try (Scalar scalar = new Scalar()) {
      assertTrue(
          scalar
              .prepare(new Workload.Convert(DType.F32, DType.BF16, Rounding.stochastic(1), 4096, 1))
              .isEmpty());
      assertTrue(scalar.prepare(new Workload.Gemm(Format.F32, 512, 512, 512, 1)).isEmpty());
    }
  }

  @Test
  void anUnknownContestantIsNamed() {
    try (Contestants contestants = new Contestants(List.of(new Scalar()), List.of())) {
      Workload dot = new Workload.Dot(Format.F32, 64);
      contestants.prepareChecked(Scalar.NAME, dot).close();
      IllegalArgumentException e =
          assertThrows(
              IllegalArgumentException.class, () -> contestants.prepareChecked("nobody", dot));
      assertTrue(e.getMessage().contains("nobody"), e.getMessage());
    }
  }
}
