/**
 * From the operands of an operation to the launches that compute it: which kernel, what grid, what
 * parameters. Nothing here needs a driver.
 */
package dev.minifloat.cuda.internal.plan;
