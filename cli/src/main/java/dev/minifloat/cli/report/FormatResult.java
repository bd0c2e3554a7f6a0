package dev.minifloat.cli.report;

import dev.minifloat.encoder.Fidelity;
import dev.minifloat.encoder.Footprint;
import dev.minifloat.encoder.WeightFormat;

/**
 * What one format of the weights costs and saves on one backend.
 *
 * @param backend the backend's name
 * @param format the format
 * @param bytes what the weights take
 * @param fidelity how far embeddings are from those with F32 weights on the same backend
 * @param errors the differences of their components
 * @param tokensPerSecond median of the repetitions; padding doesn't count
 * @param repetitions how often it was timed after warming up
 */
public record FormatResult(
    String backend,
    WeightFormat format,
    Footprint bytes,
    Fidelity fidelity,
    ErrorHistogram errors,
    double tokensPerSecond,
    int repetitions) {}
