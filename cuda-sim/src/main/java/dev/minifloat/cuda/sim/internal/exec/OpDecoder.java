package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** Chooses what makes an instruction ready to run. */
final class OpDecoder {
  private OpDecoder() {}

  static Op decode(Operands o, Instruction i, int firstPc) {
    return switch (i.opcode()) {
      case "mov" -> MoveOps.move(o, i);
      case "ld", "ldu" -> MemoryOps.load(o, i);
      case "st" -> MemoryOps.store(o, i);
      case "atom", "red" -> MemoryOps.atomic(o, i);
      case "cvta" -> MemoryOps.convertAddress(o, i);
      case "isspacep" -> MemoryOps.isSpace(o, i);
      case "cp" -> MemoryOps.asynchronous(o, i);
      case "prefetch" -> i.has(".tensormap") ? BulkCopyOps.prefetchMap(o) : MemoryOps.nothing();
      case "prefetchu", "membar", "nanosleep", "pmevent" -> MemoryOps.nothing();
      case "fence" -> ClusterOps.fence(i);
      // No launch here begins before the one it depends on has ended.
      case "griddepcontrol" -> MemoryOps.nothing();
      case "createpolicy" -> MoveOps.constant(o, 0);
      case "mbarrier" -> MbarrierOps.decode(o, i);
      case "mapa" -> ClusterOps.mapAddress(o, i);
      case "getctarank" -> ClusterOps.rank(o, i);
      case "setmaxnreg" -> ClusterOps.registers(o, i);
      case "cvt" -> ConvertOps.convert(o, i);
      case "setp" -> CompareOps.setPredicate(o, i);
      case "set" -> CompareOps.setNumber(o, i);
      case "selp" -> CompareOps.select(o, i);
      case "slct" -> CompareOps.selectBySign(o, i);
      case "bra" -> ControlOps.branch(firstPc + i.targets().get(0));
      case "brx" ->
          ControlOps.indexedBranch(
              o, i.targets().stream().mapToInt(target -> firstPc + target).toArray());
      case "call" -> CallOp.decode(o, i);
      case "ret" -> ControlOps.ret();
      case "exit" -> ControlOps.exit();
      case "trap", "brkpt" -> ControlOps.trap(i);
      case "shfl" -> WarpOps.shuffle(o, i);
      case "vote" -> WarpOps.vote(o, i);
      case "match" -> WarpOps.match(o, i);
      case "redux" -> WarpOps.reduce(o, i);
      case "elect" -> WarpOps.elect(o);
      case "activemask" -> WarpOps.activeMask(o);
      case "bar", "barrier" -> barrier(o, i);
      case "ldmatrix" -> MatrixOps.load(o, i);
      case "stmatrix" -> MatrixOps.store(o, i);
      case "movmatrix" -> MatrixOps.move(o, i);
      case "tcgen05" -> TensorOps.decode(o, i);
      case "wgmma" -> WgmmaOps.decode(o, i);
      case "mma" -> i.type() == PtxType.F64 ? new DoubleMmaOp(o) : new MmaOp(o, i);
      case "wmma" -> WmmaOps.decode(o, i);
      case "vadd2", "vsub2", "vabsdiff2", "vmin2", "vmax2" -> VideoOps.decode(o, i);
      case "vadd4", "vsub4", "vabsdiff4", "vmin4", "vmax4" -> VideoOps.decode(o, i);
      case "testp" -> FloatOps.testProperty(o, i);
      case "lop3" -> IntegerOps.lop3(o, i);
      case "bfi" -> IntegerOps.insert(o, i);
      case "addc", "subc", "madc" -> IntegerOps.carry(o, i);
      default -> arithmetic(o, i);
    };
  }

  private static Op barrier(Operands o, Instruction i) {
    if (i.has(".cluster")) {
      return ClusterOps.barrier(i);
    }
    if (i.has(".warp")) {
      return new WarpBarrierOp(o.source(0, PtxType.U32));
    }
    boolean aligned = i.opcode().equals("bar") || i.has(".aligned");
    boolean reduces = i.has(".red");
    BarrierOp.Action action =
        i.has(".arrive")
            ? BarrierOp.Action.ARRIVE
            : i.has(".popc")
                ? BarrierOp.Action.POPC
                : i.has(".and")
                    ? BarrierOp.Action.AND
                    : i.has(".or") ? BarrierOp.Action.OR : BarrierOp.Action.SYNC;
    int at = reduces ? 1 : 0;
    int id = o.source(at, PtxType.U32);
    int threads = o.isPresent(at + 1) ? o.source(at + 1, PtxType.U32) : Operands.NOWHERE;
    PredicateSource source = reduces ? o.predicateSource(3) : null;
    int destination =
        action == BarrierOp.Action.POPC
            ? o.destination(0)
            : reduces ? o.predicateDestination(0) : Operands.NOWHERE;
    return new BarrierOp(action, aligned, id, threads, source, destination);
  }

  private static Op arithmetic(Operands o, Instruction i) {
    PtxType type = i.type();
    if (type == PtxType.PRED) {
      return MoveOps.predicateLogic(o, i);
    }
    boolean fused = i.opcode().equals("fma") || i.opcode().equals("mad");
    if (HalfOps.isHalf(type)) {
      return switch (o.count()) {
        case 2 -> HalfOps.unary(o, i);
        case 3 -> HalfOps.binary(o, i);
        default -> HalfOps.multiplyAdd(o, i);
      };
    }
    if (type.isFloat()) {
      return switch (o.count()) {
        case 2 -> FloatOps.unary(o, i);
        case 3 -> FloatOps.binary(o, i);
        default -> FloatOps.multiplyAdd(o, i);
      };
    }
    if (type == PtxType.U16X2 || type == PtxType.S16X2) {
      return IntegerOps.packed(o, i);
    }
    if (i.has(".cc") && (fused || i.opcode().equals("add") || i.opcode().equals("sub"))) {
      return IntegerOps.carry(o, i);
    }
    return switch (o.count()) {
      case 2 -> IntegerOps.unary(o, i);
      case 3 -> i.opcode().equals("bfe") ? IntegerOps.ternary(o, i) : IntegerOps.binary(o, i);
      default -> IntegerOps.ternary(o, i);
    };
  }
}
