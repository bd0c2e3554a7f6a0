package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.Variable;
import java.util.List;
import java.util.Set;

/**
 * A function made ready to run.
 *
 * @param function what it was made from
 * @param firstPc the number of its first instruction among the module's
 * @param slots its registers, those for constants included
 * @param predicates its predicates
 * @param constants what the last registers hold from the start
 * @param parameterBytes parameter memory of a lane: its own, and those it passes on
 * @param localBytes stack of a lane
 * @param shared the shared variables it names
 * @param callees the functions it calls
 */
record Code(
    PtxFunction function,
    int firstPc,
    int slots,
    int predicates,
    List<Constant> constants,
    int parameterBytes,
    int localBytes,
    Set<Variable> shared,
    Set<String> callees) {}
