/**
 * The CUDA driver as objects: {@link dev.minifloat.cuda.internal.driver.Driver} makes calls and
 * turns their results into exceptions, {@link dev.minifloat.cuda.internal.driver.PrimaryContext}
 * makes them with a device's context current, and everything else is something that a context
 * holds: streams, events, memory, modules, graphs.
 *
 * <p>All classes may be used by any thread, virtual ones too, unless they say otherwise. What is
 * closed twice is closed once; what is used after that throws {@link IllegalStateException}. Things
 * keep their context alive, so the order of closing doesn't matter.
 */
package dev.minifloat.cuda.internal.driver;
