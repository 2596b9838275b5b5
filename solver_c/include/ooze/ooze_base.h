/* Results, messages and hooks: a part of ooze.h. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_BASE_H
#define OOZE_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(OOZE_SHARED)
#ifdef OOZE_BUILDING
#define OOZE_API __declspec(dllexport)
#else
#define OOZE_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define OOZE_API __attribute__((visibility("default")))
#else
#define OOZE_API
#endif

/* ---- Results ----------------------------------------------------------------------------- */

/* 0 is good; above 0 is news; -1 to -99 means refused, with nothing changed; -100 and below means
 * the state is lost. */
typedef int32_t ooze_result;
enum {
  OOZE_OK = 0,
  /* the progress hook asked to stop; the state is that of the last whole substep */
  OOZE_CANCELLED = 1,
  /* the step is done; some particles went non-finite and were reset (ooze_stats counts them) */
  OOZE_CONTAINED = 2,
  OOZE_ERROR_ARGUMENT = -1,    /* a value is missing, non-finite or out of range */
  OOZE_ERROR_MEMORY = -2,      /* an allocation failed */
  OOZE_ERROR_NOT_FOUND = -3,   /* no such id, handle, name or file */
  OOZE_ERROR_UNSUPPORTED = -4, /* this build or this machine has no such thing */
  OOZE_ERROR_FORMAT = -5,      /* bytes that are not as they should be */
  OOZE_ERROR_IO = -6,          /* the operating system refused a file operation */
  OOZE_ERROR_LIMIT = -7,       /* larger than a stated limit */
  OOZE_ERROR_DEVICE = -8,      /* the GPU or its driver refused; the solver is as before */
  /* more particles went non-finite than can be contained, or are faster than anything explains */
  OOZE_LOST_DIVERGED = -100,
  OOZE_LOST_DEVICE = -101,   /* the device failed in mid-step */
  OOZE_LOST_ABANDONED = -102 /* the hook `abandon` ended a substep in the middle */
};

/* A sentence for people. Functions that have no solver to keep it in take one of these, or NULL. */
typedef struct ooze_message {
  char text[480]; /* UTF-8, zero-terminated */
} ooze_message;

OOZE_API uint32_t ooze_version(void);         /* major * 10000 + minor * 100 + patch */
OOZE_API const char *ooze_version_text(void); /* "0.2.0" */
/* compiler, vector widths, task system, optional parts */
OOZE_API const char *ooze_build_text(void);
OOZE_API const char *ooze_result_name(ooze_result r);

/* All fields 0 and the size told: the start of every ooze_*_default. */
#define OOZE_CLEAR(s) (memset((s), 0, sizeof *(s)), (void)((s)->size = (uint32_t)sizeof *(s)))

/* ---- Hooks of the host ---------------------------------------------------------- */

typedef void (*ooze_range_fn)(void *arg, uint32_t begin, uint32_t end);
enum { OOZE_LOG_INFO = 0, OOZE_LOG_WARNING = 1, OOZE_LOG_ERROR = 2 };

/* Any member may be NULL. All but parallel_for's body are called on the thread that called the
 * library. */
typedef struct ooze_hooks {
  uint32_t size;
  void *user;
  /* NULL on failure; alignment is a power of two <= 4096 */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory, size_t bytes);
  void (*log)(void *user, int level, const char *text);
  /* 0 to 1 within ooze_step; non-zero cancels at the next substep */
  int (*progress)(void *user, double fraction);
  /* Calls body over [0, count) in any order and split, on any threads, and returns when all is
   * done. */
  void (*parallel_for)(void *user, uint32_t count, ooze_range_fn body, void *arg);
  /* Many times within a substep of the CPU; non-zero ends the step there with OOZE_LOST_ABANDONED.
   * For a host that has no use for the state any more, or has a checkpoint of it. */
  int (*abandon)(void *user);
} ooze_hooks;
static inline void ooze_hooks_default(ooze_hooks *h) { OOZE_CLEAR(h); }

typedef struct ooze_solver ooze_solver;

#ifdef __cplusplus
}
#endif
#endif
