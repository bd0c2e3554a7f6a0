package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.BitSet;

/**
 * The tokens of a WordPiece model and their ids. A map of strings to boxed integers would take five
 * times the memory of the file it was read from; here the UTF-8 bytes of all tokens lie in one
 * array, found through an open-addressing table of entry numbers.
 *
 * <pre>
 *   pool      t h e # # i n g ...        entry e is pool[offsets[e], offsets[e + 1])
 *   offsets   0     3         8          ids[e] is its id
 *   table     hash(bytes) → entry + 1, linear probing; 0 is a free slot
 * </pre>
 */
final class Vocabulary {
  /** Ids lie below this: no model has more embedding rows, and a set of seen ids stays small. */
  static final int ID_LIMIT = 1 << 24;

  private static final long HASH_FACTOR = 0x9E3779B97F4A7C15L;

  private final byte[] pool;
  private final int[] offsets;
  private final int[] ids;
  private final int[] table;
  private final int size;
  private final int longest;
  private final int[] entriesById;

  private Vocabulary(Builder builder) {
    size = builder.size;
    longest = builder.longest;
    table = builder.table;
    // Each array is let go before the next is copied: only one is there twice at any time.
    pool = Arrays.copyOf(builder.pool, builder.offsets[size]);
    builder.pool = null;
    offsets = Arrays.copyOf(builder.offsets, size + 1);
    builder.offsets = null;
    ids = Arrays.copyOf(builder.ids, size);
    builder.ids = null;
    entriesById = builder.ascending ? null : orderById(ids, builder.seen);
  }

  /** The number of tokens. */
  int size() {
    return size;
  }

  /** The largest id, or −1 if there are no tokens. */
  int maxId() {
    return size == 0 ? -1 : ids[entryAtRank(size - 1)];
  }

  /** The id of a token, or −1. */
  int id(String token) {
    byte[] bytes = token.getBytes(UTF_8);
    return id(hash(0, bytes, 0, bytes.length), bytes, bytes.length);
  }

  /** The token of an id, or null. */
  String token(int id) {
    int low = 0;
    int high = size - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int entry = entryAtRank(middle);
      if (ids[entry] == id) {
        return new String(pool, offsets[entry], offsets[entry + 1] - offsets[entry], UTF_8);
      }
      if (ids[entry] < id) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return null;
  }

  /** The length in bytes of the longest token. */
  int longest() {
    return longest;
  }

  /** The hash of a token from that of its beginning; the hash of nothing is 0. */
  static long hash(long hash, byte[] bytes, int from, int to) {
    long h = hash;
    for (int i = from; i < to; i++) {
      h = hash(h, bytes[i]);
    }
    return h;
  }

  /** The hash of a token from that of all but its last byte. */
  static long hash(long hash, byte next) {
    return (hash + (next & 0xFF) + 1) * HASH_FACTOR;
  }

  /** The id of the token {@code bytes[0, length)} with that hash, or −1. */
  int id(long hash, byte[] bytes, int length) {
    int entry = find(table, pool, offsets, hash, bytes, length);
    return entry < 0 ? -1 : ids[entry];
  }

  private int entryAtRank(int rank) {
    return entriesById == null ? rank : entriesById[rank];
  }

  private static int find(
      int[] table, byte[] pool, int[] offsets, long hash, byte[] bytes, int length) {
    int mask = table.length - 1;
    for (int slot = slot(hash, mask); table[slot] != 0; slot = (slot + 1) & mask) {
      int entry = table[slot] - 1;
      if (Arrays.equals(pool, offsets[entry], offsets[entry + 1], bytes, 0, length)) {
        return entry;
      }
    }
    return -1;
  }

  private static int slot(long hash, int mask) {
    return (int) (hash ^ (hash >>> 32)) & mask;
  }

  /** The entries in the order of their ids, which are the set bits of {@code seen}. */
  private static int[] orderById(int[] ids, BitSet seen) {
    long[] words = seen.toLongArray();
    int[] before = new int[words.length];
    for (int w = 1; w < words.length; w++) {
      before[w] = before[w - 1] + Long.bitCount(words[w - 1]);
    }
    int[] order = new int[ids.length];
    for (int entry = 0; entry < ids.length; entry++) {
      int id = ids[entry];
      long lower = words[id >> 6] & ((1L << (id & 63)) - 1);
      order[before[id >> 6] + Long.bitCount(lower)] = entry;
    }
    return order;
  }

  /** Takes tokens one by one, in any order of ids. */
  static final class Builder {
    private byte[] pool = new byte[1 << 12];
    private int[] offsets = new int[1 << 10];
    private int[] ids = new int[1 << 10];
    private int[] table = new int[1 << 11];
    private final BitSet seen = new BitSet();
    private int size;
    private int longest;
    private boolean ascending = true;

    /**
     * Adds a token.
     *
     * @return null, or what is wrong with it: already there, an id outside [0, {@link #ID_LIMIT})
     *     or already taken, or more text than one array holds
     */
    String add(String token, long id) {
      if (id < 0 || id >= ID_LIMIT) {
        return "the id " + id + " is outside 0 to " + (ID_LIMIT - 1);
      }
      if (seen.get((int) id)) {
        return "the id " + id + " is given to two tokens";
      }
      byte[] bytes = token.getBytes(UTF_8);
      long hash = hash(0, bytes, 0, bytes.length);
      if (find(table, pool, offsets, hash, bytes, bytes.length) >= 0) {
        return "the token appears twice";
      }
      int end = offsets[size];
      if (bytes.length > Integer.MAX_VALUE - 16 - end) {
        return "the tokens before this one fill 2 GiB";
      }
      reserve(end + bytes.length);
      System.arraycopy(bytes, 0, pool, end, bytes.length);
      ascending &= size == 0 || ids[size - 1] < id;
      ids[size] = (int) id;
      seen.set((int) id);
      size++;
      offsets[size] = end + bytes.length;
      longest = Math.max(longest, bytes.length);
      insert(table, hash, size);
      return null;
    }

    /** The vocabulary; the builder is of no use afterwards. */
    Vocabulary build() {
      return new Vocabulary(this);
    }

    private void reserve(int bytes) {
      if (bytes > pool.length) {
        pool = Arrays.copyOf(pool, grown(pool.length, bytes));
      }
      if (size + 1 == offsets.length) {
        int entries = grown(offsets.length, size + 2);
        offsets = Arrays.copyOf(offsets, entries);
        ids = Arrays.copyOf(ids, entries);
      }
      if (size + 1 > table.length / 4 * 3) {
        int[] larger = new int[2 * table.length];
        for (int entry = 0; entry < size; entry++) {
          insert(larger, hash(0, pool, offsets[entry], offsets[entry + 1]), entry + 1);
        }
        table = larger;
      }
    }

    private static int grown(int length, int needed) {
      return (int) Math.min(Integer.MAX_VALUE - 16, Math.max(needed, length + (long) length / 2));
    }

    private static void insert(int[] table, long hash, int entryPlusOne) {
      int mask = table.length - 1;
      int slot = slot(hash, mask);
      while (table[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      table[slot] = entryPlusOne;
    }
  }
}
