/** The page with the charts of a run. */
package dev.minifloat.bench.report;
