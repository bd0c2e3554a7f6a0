package dev.minifloat.cuda.sim.internal.ptx;

import java.util.List;
import java.util.Map;

/**
 * A PTX text, parsed and checked.
 *
 * @param version its {@code .version}, times ten
 * @param target the words of its {@code .target}; the first names the architecture
 * @param addressSize bits of an address
 * @param variables the variables of its own level, in their order
 * @param functions kernels and functions by name
 */
public record PtxModule(
    int version,
    List<String> target,
    int addressSize,
    List<Variable> variables,
    Map<String, PtxFunction> functions) {

  /**
   * Parses and checks a module.
   *
   * @throws PtxException if the text isn't PTX, or holds something that the simulator doesn't
   *     execute
   */
  public static PtxModule parse(String text) {
    return new ModuleParser(text).parse();
  }

  /**
   * The version that a text states, times ten, without a look at the rest.
   *
   * @throws PtxException if it doesn't begin as PTX does
   */
  public static int version(String text) {
    return new ModuleParser(text).readVersion();
  }

  /**
   * The architecture that a text states, as {@code sm_80}, without a look at the rest.
   *
   * @throws PtxException if it doesn't begin as PTX does
   */
  public static String target(String text) {
    return new ModuleParser(text).readTarget();
  }

  /** The architecture's number: 80 for {@code sm_80}, 90 for {@code sm_90a}. */
  public int architecture() {
    return PtxTarget.of(target.get(0)).architecture();
  }
}
