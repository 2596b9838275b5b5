/* Seconds from some fixed moment, never going back: for timing stages. */
#if defined(_WIN32)
#include "cpu/cpu.h" /* first: windows.h makes macros of near and far */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

double oz_cpu_clock(void) {
  LARGE_INTEGER count, rate;
  QueryPerformanceCounter(&count);
  QueryPerformanceFrequency(&rate);
  return (double)count.QuadPart / (double)rate.QuadPart;
}
#else
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "cpu/cpu.h"

double oz_cpu_clock(void) {
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif
