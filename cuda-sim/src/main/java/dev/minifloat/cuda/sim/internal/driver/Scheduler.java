package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.exec.LaunchFault;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.Condition;

/**
 * Runs streams' work as late as the driver's documentation lets it: only when somebody waits for
 * it, and then nothing but what that wait is for. Who waits does the work on his own thread, so
 * that the driver needs none and two waits can't starve each other.
 *
 * <p>Only a host function runs without the driver's lock; whoever needs its stream meanwhile waits
 * for it to end.
 */
final class Scheduler {
  /** So much work may wait in a stream before a further piece makes the oldest run. */
  private static final int DEEPEST = 4096;

  private final Simulation simulation;
  private final Condition changed;
  private final Random order;

  Scheduler(Simulation simulation, Condition changed, long seed) {
    this.simulation = simulation;
    this.changed = changed;
    this.order = new Random(seed);
  }

  /** Puts work at a stream's end. */
  Task enqueue(Stream stream, Work work) {
    Context context = stream.context();
    context.requireWhole();
    if (stream.pending.size() >= DEEPEST) {
      complete(stream.pending.peekFirst());
      context.requireWhole();
    }
    Task task = new Task(stream, work);
    if (stream.role() == Stream.Role.LEGACY) {
      for (Stream other : context.streams()) {
        if (other != stream && other.isBlocking() && !other.pending.isEmpty()) {
          task.after.add(other.pending.peekLast());
        }
      }
    } else if (stream.isBlocking()) {
      Task last = context.legacy().pending.peekLast();
      if (last != null) {
        task.after.add(last);
      }
    }
    stream.pending.add(task);
    return task;
  }

  /** Runs what a task needs, and the task. */
  void complete(Task target) {
    Deque<Task> wanted = new ArrayDeque<>();
    wanted.push(target);
    while (!wanted.isEmpty()) {
      Task task = wanted.peek();
      if (task.done) {
        wanted.pop();
        continue;
      }
      Task head = task.stream.pending.peekFirst();
      if (head != task) {
        wanted.push(head);
        continue;
      }
      if (task.running) {
        changed.awaitUninterruptibly();
        continue;
      }
      Task unmet = task.unmet();
      if (unmet != null) {
        wanted.push(unmet);
      } else {
        run(task);
        wanted.pop();
      }
    }
  }

  private void run(Task task) {
    Context context = task.stream.context();
    task.running = true;
    try {
      context.device().advance(task.work.run(simulation, context));
    } catch (LaunchFault fault) {
      simulation.printed(fault.output());
      abandon(context, result(fault.kind()), fault.getMessage());
    } catch (DeviceFault fault) {
      abandon(context, result(fault.kind()), task.work.describe() + ": " + fault.getMessage());
    } catch (CudaFailure failure) {
      abandon(context, failure.result(), task.work.describe() + ": " + failure.getMessage());
    } catch (RuntimeException | Error e) {
      abandon(context, CuResult.LAUNCH_FAILED, task.work.describe() + ": " + e);
      throw e;
    } finally {
      if (!task.done) {
        task.stream.pending.pollFirst();
        task.end(context.device().time());
      }
      context.forgetIfDrained(task.stream);
      changed.signalAll();
    }
  }

  private void abandon(Context context, CuResult result, String trap) {
    simulation.trapped(trap, result == CuResult.DEINITIALIZED);
    context.breakWith(result, trap);
    for (Stream stream : context.streams()) {
      for (Task task : stream.pending) {
        task.end(context.device().time());
        if (task.work instanceof Work.Free free) {
          free.allocation().release();
        }
      }
      stream.pending.clear();
    }
  }

  private static CuResult result(DeviceFault.Kind kind) {
    return switch (kind) {
      case OUT_OF_BOUNDS, USE_AFTER_FREE, READ_ONLY -> CuResult.ILLEGAL_ADDRESS;
      case MISALIGNED -> CuResult.MISALIGNED_ADDRESS;
      case ILLEGAL_INSTRUCTION -> CuResult.ILLEGAL_INSTRUCTION;
      case STACK_OVERFLOW -> CuResult.HARDWARE_STACK_ERROR;
      case DEADLOCK, LIMIT -> CuResult.LAUNCH_TIMEOUT;
      case UNINITIALIZED_READ, RACE, TRAP -> CuResult.LAUNCH_FAILED;
      case ASSERTION -> CuResult.ASSERT;
      case STOPPED -> CuResult.DEINITIALIZED;
    };
  }

  void complete(Stream stream) {
    Task last = stream.pending.peekLast();
    if (last != null) {
      complete(last);
    }
    stream.context().releasePools();
  }

  /** Runs everything of a context, in an order among streams that the seed decides. */
  void complete(Context context) {
    List<Stream> streams = new ArrayList<>(context.streams());
    Collections.shuffle(streams, order);
    streams.forEach(this::complete);
  }

  /** Whether nothing up to a task is left to do. If something is, one piece of it is done. */
  boolean query(Task task) {
    if (task == null || task.done) {
      return true;
    }
    Task next = task;
    while (true) {
      Task head = next.stream.pending.peekFirst();
      Task before = head != next ? head : next.unmet();
      if (before == null) {
        break;
      }
      next = before;
    }
    if (!next.running) {
      run(next);
    }
    return false;
  }

  /** A random number below a bound, where the order is open. */
  int choose(int bound) {
    return order.nextInt(bound);
  }
}
