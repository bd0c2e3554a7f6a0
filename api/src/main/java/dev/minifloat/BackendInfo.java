package dev.minifloat;

/**
 * What a backend runs on.
 *
 * @param device the processor or card, as people call it
 * @param vectorBits width of its vectors; 0 where that says nothing
 * @param threads threads it computes with
 */
public record BackendInfo(String device, int vectorBits, int threads) {}
