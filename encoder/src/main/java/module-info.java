/** Sentence encoders of the BERT family: tokenizer, weights and forward pass. */
module dev.minifloat.encoder {
  requires transitive dev.minifloat;
  requires transitive dev.minifloat.formats;
  requires tools.jackson.core;

  exports dev.minifloat.encoder;
}
