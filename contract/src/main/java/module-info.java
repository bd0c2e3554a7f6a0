/** The suite that every backend must pass, and the tables and fixtures that it compares with. */
module dev.minifloat.contract {
  requires transitive dev.minifloat;

  exports dev.minifloat.contract;
}
