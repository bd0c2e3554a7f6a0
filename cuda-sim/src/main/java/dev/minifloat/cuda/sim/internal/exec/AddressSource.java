package dev.minifloat.cuda.sim.internal.exec;

/**
 * An address as an operand.
 *
 * @param register the offset of the register with its base
 * @param offset added to it
 * @param narrow whether the register has 32 bits, and the sum too
 */
record AddressSource(int register, long offset, boolean narrow) {
  long of(Frame frame, int lane) {
    long address = frame.registers[register + lane] + offset;
    return narrow ? address & Bits.M32 : address;
  }
}
