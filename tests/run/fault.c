/* Preloaded before a program: the Nth allocation or the Nth call that writes fails.
 * OOZE_FAULT=malloc:N, malloc+:N (that one and all after it), write:N, sync:N, close:N, rename:N,
 * open:N, thread:N or thread+:N (fewer than N at a time); OOZE_FAULT_ERRNO=number (default ENOSPC).
 * OOZE_FAULT_COUNT=file gets the number of calls. OOZE_FAULT_CPUS=N: as on a machine of that many
 * processors, 64 at most. OOZE_FAULT_SLOW=N: threads begin N ms after their start.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MALLOC, WRITE, SYNC, CLOSE, RENAME, OPEN, THREAD, KINDS };
static const char *const names[KINDS] = {"malloc", "write", "sync",  "close",
                                         "rename", "open",  "thread"};
static atomic_long calls[KINDS];
static atomic_long hasty, unbegun; /* threads started while another had not begun; those */
static int kind = -1, lasting, error_number = ENOSPC;
static long fatal;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("OOZE_FAULT"), *number = getenv("OOZE_FAULT_ERRNO");
  if (number) error_number = atoi(number);
  for (int k = 0; text && k < KINDS; k++) {
    const size_t length = strlen(names[k]);
    if (strncmp(text, names[k], length) != 0) continue;
    lasting = text[length] == '+';
    fatal = atol(text + length + lasting + 1);
    kind = k;
  }
  for (int k = 0; k < KINDS; k++) atomic_store(&calls[k], 0);
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("OOZE_FAULT_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  long seen[KINDS];
  for (int k = 0; k < KINDS; k++) seen[k] = atomic_load(&calls[k]);
  if (!file) return;
  for (int k = 0; k < KINDS; k++) fprintf(file, "%s %ld\n", names[k], seen[k]);
  fprintf(file, "hasty %ld\n", atomic_load(&hasty));
  fclose(file);
}

/* Past destructors, as the program leaves. */
void _Exit(int code) {
  end();
  _exit(code);
}

static int fails(int which) {
  const long n = atomic_fetch_add(&calls[which], 1) + 1;
  if (which != kind || !(lasting ? n >= fatal : n == fatal)) return 0;
  errno = which == MALLOC ? ENOMEM : error_number;
  return 1;
}

void *malloc(size_t bytes) { return fails(MALLOC) ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) {
  return fails(MALLOC) ? NULL : __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  return bytes && fails(MALLOC) ? NULL : __libc_realloc(old, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  return fails(MALLOC) ? NULL : __libc_memalign(alignment, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  return fails(MALLOC) ? NULL : __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  void *made = fails(MALLOC) ? NULL : __libc_memalign(alignment, bytes);
  if (made) *out = made;
  return made ? 0 : ENOMEM;
}

/* Regular files alone: a pipe or a terminal is no disk. */
static int is_file(int fd) {
  struct stat about;
  return fd > 2 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*next)(int, const void *, size_t);
  if (!next) next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  if (is_file(fd) && fails(WRITE)) {
    /* half of it arrives, as on a disk that becomes full */
    if (count > 1 && next(fd, bytes, count / 2) > 0 && error_number == 0) return (ssize_t)count / 2;
    errno = error_number;
    return -1;
  }
  return next(fd, bytes, count);
}
int fsync(int fd) {
  static int (*next)(int);
  if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return fails(SYNC) ? -1 : next(fd);
}
int close(int fd) {
  static int (*next)(int);
  if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "close");
  const int fault = is_file(fd) && fails(CLOSE);
  const int result = next(fd);
  if (fault) errno = error_number;
  return fault ? -1 : result;
}
int rename(const char *from, const char *to) {
  static int (*next)(const char *, const char *);
  if (!next) next = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  return fails(RENAME) ? -1 : next(from, to);
}

#define OPEN_AS(name)                                                           \
  int name(const char *path, int flags, ...) {                                  \
    static int (*next)(const char *, int, ...);                                 \
    if (!next) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
    va_list list;                                                               \
    va_start(list, flags);                                                      \
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;             \
    va_end(list);                                                               \
    if (flags & O_CREAT && fails(OPEN)) return -1;                              \
    return next(path, flags, mode);                                             \
  }
OPEN_AS(open)
OPEN_AS(open64)

/* ---- Threads ---- */

static atomic_long alive;
typedef struct work {
  void *(*begin_at)(void *);
  void *arg;
} work;
static void *counted(void *arg) {
  const work w = *(work *)arg;
  free(arg);
  const char *text = getenv("OOZE_FAULT_SLOW");
  if (text) usleep((unsigned)atoi(text) * 1000);
  atomic_fetch_sub(&unbegun, 1);
  void *result = w.begin_at(w.arg);
  atomic_fetch_sub(&alive, 1);
  return result;
}
int pthread_create(pthread_t *out, const pthread_attr_t *as, void *(*begin_at)(void *), void *arg) {
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!next)
    next = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
        RTLD_NEXT, "pthread_create");
  const int full = kind == THREAD && lasting && atomic_load(&alive) + 1 >= fatal;
  if ((fails(THREAD) && !lasting) || full) return EAGAIN;
  if (atomic_fetch_add(&unbegun, 1) > 0) atomic_fetch_add(&hasty, 1);
  work *w = __libc_malloc(sizeof *w);
  *w = (work){begin_at, arg};
  atomic_fetch_add(&alive, 1);
  const int result = next(out, as, counted, w);
  if (result) free(w), atomic_fetch_sub(&alive, 1), atomic_fetch_sub(&unbegun, 1);
  return result;
}

/* ---- Processors ---- */

static int processors(void) {
  const char *text = getenv("OOZE_FAULT_CPUS");
  const int n = text ? atoi(text) : 0;
  return n > 64 ? 64 : n;
}
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *out) {
  static int (*next)(pid_t, size_t, cpu_set_t *);
  if (!next) next = (int (*)(pid_t, size_t, cpu_set_t *))dlsym(RTLD_NEXT, "sched_getaffinity");
  if (!processors() || bytes < sizeof *out) return next(pid, bytes, out);
  CPU_ZERO(out);
  for (int k = 0; k < processors(); k++) CPU_SET(k, out);
  return 0;
}
long sysconf(int name) {
  static long (*next)(int);
  if (!next) next = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  const int of_cpus = name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF;
  return of_cpus && processors() ? processors() : next(name);
}
