/* SPDX-License-Identifier: Apache-2.0 */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "base/seconds.h"

double oz_seconds(void) {
  LARGE_INTEGER count, rate;
  QueryPerformanceCounter(&count);
  QueryPerformanceFrequency(&rate);
  return (double)count.QuadPart / (double)rate.QuadPart;
}
#else
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "base/seconds.h"

double oz_seconds(void) {
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif
