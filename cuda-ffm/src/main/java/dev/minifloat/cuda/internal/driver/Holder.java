package dev.minifloat.cuda.internal.driver;

import java.lang.ref.WeakReference;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who retained a context and made everything in it. When it is forgotten without being closed, all
 * of that is too: one warning names it and where it was opened, in place of one for each thing.
 */
public final class Holder {
  private static final Logger LOG = LoggerFactory.getLogger("dev.minifloat.cuda");

  /** Of contexts that stand for themselves. */
  static final Holder NOBODY = new Holder("", "", null);

  private final String name;
  private final String place;
  private final WeakReference<Object> holder;
  private final AtomicBoolean warned = new AtomicBoolean();

  private Holder(String name, String place, WeakReference<Object> holder) {
    this.name = name;
    this.place = place;
    this.holder = holder;
  }

  /**
   * Describes a holder that is being made.
   *
   * @param holder isn't kept from being collected
   * @param name what warnings call it
   * @param makers classes through which it is made: the first frame of another is where that was
   *     asked for
   */
  public static Holder of(Object holder, String name, Set<Class<?>> makers) {
    String place =
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
            .walk(
                frames ->
                    frames
                        .dropWhile(
                            frame ->
                                frame.getDeclaringClass() == Holder.class
                                    || makers.contains(frame.getDeclaringClass()))
                        .findFirst()
                        .map(frame -> frame.toStackTraceElement().toString())
                        .orElse("an unknown place"));
    return new Holder(name, place, new WeakReference<>(holder));
  }

  /** Warns of something that was never closed, unless it is a part of what was warned of. */
  void warn(String forgotten) {
    // References are cleared before cleaners run for what was collected with their referents.
    if (holder == null || !holder.refersTo(null)) {
      LOG.warn("{}", forgotten);
      return;
    }
    if (warned.compareAndSet(false, true)) {
      LOG.warn(
          "{}, opened in {}, was never closed; what it held is given back now that nobody can use"
              + " it",
          name,
          place);
    }
    LOG.debug("{}", forgotten);
  }
}
