package dev.minifloat.bench.peers;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A shared library. It stays loaded until the JVM ends, since the threads that such libraries start
 * may outlive every user.
 */
final class NativeLibrary {
  private static final Linker LINKER = Linker.nativeLinker();

  private final Path file;
  private final SymbolLookup symbols;

  private NativeLibrary(Path file, SymbolLookup symbols) {
    this.file = file;
    this.symbols = symbols;
  }

  /**
   * Loads a library, and those it needs that lie beside it.
   *
   * @throws PeerAbsent if the file is missing, damaged, for another system, or needs what isn't
   *     there
   */
  static NativeLibrary load(Path file) throws PeerAbsent {
    if (!System.getProperty("os.name").equals("Linux")
        || !System.getProperty("os.arch").equals("amd64")) {
      throw new PeerAbsent("its libraries are for Linux on x86-64 only");
    }
    if (!Files.isRegularFile(file)) {
      throw new PeerAbsent(file + " is missing; run bench/peers/install");
    }
    ElfFile.check(file);
    try {
      return new NativeLibrary(file, SymbolLookup.libraryLookup(file, Arena.global()));
    } catch (IllegalArgumentException e) {
      throw new PeerAbsent(
          file + " can't be loaded; \"ldd " + file + "\" tells which library it lacks", e);
    } catch (IllegalCallerException e) {
      throw new PeerAbsent("it needs --enable-native-access=ALL-UNNAMED", e);
    }
  }

  /** Whether there is such a symbol. */
  boolean has(String name) {
    return symbols.find(name).isPresent();
  }

  /**
   * A function.
   *
   * @throws PeerAbsent if the library lacks it
   */
  NativeFunction function(String name, FunctionDescriptor type, Linker.Option... options)
      throws PeerAbsent {
    Optional<MemorySegment> symbol = symbols.find(name);
    if (symbol.isEmpty()) {
      throw new PeerAbsent(
          file
              + " has no function "
              + name
              + "; is it of the version that bench/peers/install takes?");
    }
    return at(name, symbol.get(), type, options);
  }

  /** A function that another one gave a pointer to. */
  static NativeFunction at(
      String name, MemorySegment address, FunctionDescriptor type, Linker.Option... options) {
    return new NativeFunction(name, LINKER.downcallHandle(address, type, options));
  }
}
