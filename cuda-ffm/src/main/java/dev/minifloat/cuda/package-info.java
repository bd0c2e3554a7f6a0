/** The backend on NVIDIA GPUs. */
package dev.minifloat.cuda;
