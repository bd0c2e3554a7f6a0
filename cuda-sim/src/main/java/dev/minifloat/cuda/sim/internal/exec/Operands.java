package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.internal.ptx.Register;
import java.util.List;

/** An instruction's operands as offsets into a frame, for whoever makes it ready to run. */
final class Operands {
  /** Where nobody wants a result. */
  static final int NOWHERE = -1;

  private final FunctionDecoder decoder;
  private final Instruction instruction;

  Operands(FunctionDecoder decoder, Instruction instruction) {
    this.decoder = decoder;
    this.instruction = instruction;
  }

  static PtxException unsupported(Instruction i) {
    return new PtxException(
        i.position(), "'" + i.name() + "' is not an instruction that the simulator executes");
  }

  static PtxType wide(PtxType type) {
    return switch (type) {
      case U16 -> PtxType.U32;
      case S16 -> PtxType.S32;
      case U32 -> PtxType.U64;
      case S32 -> PtxType.S64;
      default -> throw new IllegalStateException("nothing is twice as wide as " + type);
    };
  }

  FunctionDecoder decoder() {
    return decoder;
  }

  int count() {
    return instruction.operands().size();
  }

  boolean isPresent(int index) {
    return index < count() && get(index) != null;
  }

  Operand get(int index) {
    return instruction.operands().get(index);
  }

  private static Operand first(Operand operand) {
    return operand instanceof Operand.Pair pair ? pair.first() : operand;
  }

  /** The offset of a destination register; {@link #NOWHERE} for {@code _}. */
  int destination(int index) {
    return destination(first(get(index)));
  }

  static int destination(Operand operand) {
    return operand instanceof Operand.Reg reg ? reg.register().index() * 32 : NOWHERE;
  }

  /** The offset of a destination, or of a register that nobody reads. */
  int destinationOr(int index) {
    int offset = destination(index);
    return offset == NOWHERE ? decoder.scratch() : offset;
  }

  /** The width of a destination register. */
  int destinationBits(int index) {
    return bits(first(get(index)));
  }

  static int bits(Operand operand) {
    return operand instanceof Operand.Reg reg ? reg.register().type().bits() : 64;
  }

  int source(int index, PtxType type) {
    return decoder.source(get(index), type);
  }

  long constant(int index) {
    return ((Operand.Immediate) get(index)).bits();
  }

  /** The number of a destination predicate; {@link #NOWHERE} for {@code _}. */
  int predicateDestination(int index) {
    return predicate(first(get(index)));
  }

  /** The number of the second predicate of a pair; {@link #NOWHERE} if there is none. */
  int predicateOfPair(int index) {
    return get(index) instanceof Operand.Pair pair ? predicate(pair.second()) : NOWHERE;
  }

  private static int predicate(Operand operand) {
    return operand instanceof Operand.Reg reg ? reg.register().index() : NOWHERE;
  }

  PredicateSource predicateSource(int index) {
    if (get(index) instanceof Operand.Immediate constant) {
      return new PredicateSource(-1, constant.bits() == 0);
    }
    Operand.Reg reg = (Operand.Reg) get(index);
    return new PredicateSource(reg.register().index(), reg.negated());
  }

  /** The elements of a vector, or the one operand. */
  List<Operand> elements(int index) {
    Operand operand = get(index);
    return operand instanceof Operand.Vector vector ? vector.elements() : List.of(operand);
  }

  int[] sources(int index, PtxType type) {
    return elements(index).stream().mapToInt(element -> decoder.source(element, type)).toArray();
  }

  int[] destinations(int index) {
    return elements(index).stream().mapToInt(Operands::destination).toArray();
  }

  Op ternary(PtxType a, PtxType b, PtxType c, LaneOps.Ternary function) {
    return LaneOps.ternary(destination(0), source(1, a), source(2, b), source(3, c), function);
  }

  AddressSource address(int index) {
    Operand.Address address = (Operand.Address) get(index);
    Operand base = address.base();
    boolean narrow = base instanceof Operand.Reg reg && reg.register().type().bits() == 32;
    PtxType type = narrow ? PtxType.B32 : PtxType.B64;
    return new AddressSource(decoder.source(base, type), address.offset(), narrow);
  }

  static boolean isPredicate(Register register) {
    return register.isPredicate();
  }

  /** Sets a predicate for lanes of a mask; nothing if nobody wants it. */
  static void setPredicate(Frame frame, int predicate, int mask, int lanes) {
    if (predicate >= 0) {
      frame.predicates[predicate] = (frame.predicates[predicate] & ~mask) | (lanes & mask);
    }
  }
}
