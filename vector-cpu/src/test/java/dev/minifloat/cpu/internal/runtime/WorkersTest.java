package dev.minifloat.cpu.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkersTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 8})
  void everyTaskRunsOnce(int threads) {
    try (Workers workers = new Workers(threads)) {
      for (int tasks : new int[] {0, 1, 2, 3, 7, 1000}) {
        AtomicIntegerArray runs = new AtomicIntegerArray(tasks);
        workers.run(tasks, runs::incrementAndGet);
        for (int i = 0; i < tasks; i++) {
          assertEquals(1, runs.get(i));
        }
      }
    }
  }

  @Test
  void tasksRunAtOnceOnAsManyThreads() {
    try (Workers workers = new Workers(3)) {
      Set<Thread> seen = ConcurrentHashMap.newKeySet();
      CountDownLatch all = new CountDownLatch(3);
      // Each task waits until three of them run, so it ends only if there are three threads.
      workers.run(
          3,
          _ -> {
            seen.add(Thread.currentThread());
            all.countDown();
            await(all);
          });
      assertEquals(3, seen.size());
      assertTrue(seen.contains(Thread.currentThread()));
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void oneTaskStaysOnTheCaller() {
    try (Workers workers = new Workers(4)) {
      Thread[] ran = new Thread[1];
      workers.run(1, _ -> ran[0] = Thread.currentThread());
      assertSame(Thread.currentThread(), ran[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void anExceptionReachesTheCallerAndLeavesThePoolUsable(int threads) {
    try (Workers workers = new Workers(threads)) {
      IllegalStateException fault = new IllegalStateException("task 5");
      for (int round = 0; round < 20; round++) {
        IllegalStateException thrown =
            assertThrows(
                IllegalStateException.class,
                () ->
                    workers.run(
                        100,
                        task -> {
                          if (task == 5) {
                            throw fault;
                          }
                        }));
        assertSame(fault, thrown);
      }
      AtomicLong sum = new AtomicLong();
      workers.run(10, sum::addAndGet);
      assertEquals(45, sum.get());
    }
  }

  @Test
  void anErrorReachesTheCaller() {
    try (Workers workers = new Workers(2)) {
      assertThrows(
          StackOverflowError.class,
          () ->
              workers.run(
                  8,
                  _ -> {
                    throw new StackOverflowError();
                  }));
    }
  }

  @Test
  void aTaskMayRunTasks() {
    try (Workers workers = new Workers(3)) {
      AtomicLong sum = new AtomicLong();
      workers.run(
          20,
          outer ->
              workers.run(20, inner -> workers.run(2, _ -> sum.addAndGet((long) outer * inner))));
      assertEquals(2L * 190 * 190, sum.get());
    }
  }

  @Test
  void manyCallersPlatformAndVirtualShareThePool() throws Exception {
    try (Workers workers = new Workers(3);
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor();
        ExecutorService platform = Executors.newFixedThreadPool(4)) {
      List<Future<Long>> sums = new ArrayList<>();
      for (int caller = 0; caller < 200; caller++) {
        ExecutorService executor = caller % 2 == 0 ? virtual : platform;
        sums.add(
            executor.submit(
                () -> {
                  AtomicLong sum = new AtomicLong();
                  workers.run(50, sum::addAndGet);
                  return sum.get();
                }));
      }
      for (Future<Long> sum : sums) {
        assertEquals(1225, sum.get());
      }
    }
  }

  @Test
  void anInterruptedCallerStillWaitsForItsTasksAndStaysInterrupted() {
    try (Workers workers = new Workers(3)) {
      AtomicLong sum = new AtomicLong();
      Thread.currentThread().interrupt();
      workers.run(1000, sum::addAndGet);
      assertTrue(Thread.interrupted());
      assertEquals(499_500, sum.get());
    }
  }

  @Test
  void closingEndsTheThreadsAndLeavesLaterWorkToTheCaller() throws Exception {
    Set<Thread> seen = ConcurrentHashMap.newKeySet();
    Workers workers = new Workers(3);
    CountDownLatch all = new CountDownLatch(3);
    workers.run(
        3,
        _ -> {
          seen.add(Thread.currentThread());
          all.countDown();
          await(all);
        });
    workers.close();
    workers.close();
    for (Thread thread : seen) {
      if (thread != Thread.currentThread()) {
        assertTrue(thread.isDaemon());
        thread.join();
      }
    }
    Set<Thread> after = ConcurrentHashMap.newKeySet();
    workers.run(10, _ -> after.add(Thread.currentThread()));
    assertEquals(Set.of(Thread.currentThread()), after);
  }

  @Test
  void aPoolHasAtLeastOneThread() {
    assertThrows(IllegalArgumentException.class, () -> new Workers(0));
    try (Workers workers = new Workers(2)) {
      assertEquals(2, workers.threads());
    }
  }
}
