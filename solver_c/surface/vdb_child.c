/* The child process that reads a .vdb of unknown origin. SPDX-License-Identifier: Apache-2.0
 *
 * OpenVDB trusts the sizes in a file; a flipped bit can make it hang, ask for all memory or crash.
 * So a child does the reading, with limits of memory and time, and sends its result through a pipe;
 * the worst that a file can do is end the child. */
#if !defined(_WIN32)
#define _GNU_SOURCE
#endif
#include "vdb.h"

#include <stdio.h>
#include <stdlib.h>
#if !defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct child_head {
  int32_t result;
  ooze_message why;
  uint64_t bytes;
  char fixed[OZ_PARCEL_FIXED];
} child_head;

static int write_all(int fd, const void *data, size_t bytes) {
  const char *p = (const char *)data;
  while (bytes) {
    ssize_t n = write(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    p += n;
    bytes -= (size_t)n;
  }
  return 1;
}

/* 1 all there, 0 the other end closed, -1 out of time. */
static int read_all(int fd, void *data, size_t bytes, double deadline) {
  char *p = (char *)data;
  while (bytes) {
    double left = deadline - oz_seconds();
    struct pollfd wait = {fd, POLLIN, 0};
    ssize_t n;
    if (left <= 0.0) return -1;
    n = poll(&wait, 1, left > 1.0 ? 1000 : (int)(left * 1000.0) + 1);
    if (n < 0 && errno != EINTR) return 0;
    if (n <= 0) continue;
    n = read(fd, p, bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return 0;
    p += n;
    bytes -= (size_t)n;
  }
  return 1;
}

static void child(const ooze_sdf_desc *d, oz_parcel_fn work, void *user, int fd) {
  static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT, SIGPIPE};
  child_head head;
  oz_parcel parcel;
  struct rlimit limit;
  size_t i;
  int null = open("/dev/null", O_WRONLY);
  memset(&head, 0, sizeof head);
  memset(&parcel, 0, sizeof parcel);
  for (i = 0; i < sizeof deadly / sizeof *deadly; ++i)
    signal(deadly[i], SIG_DFL); /* the host's handlers are not for us */
  if (null >= 0) {
    dup2(null, 1);
    dup2(null, 2);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  {
    /* On top of the memory that the parent has mapped already. */
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;
    if (f) {
      if (fscanf(f, "%llu", &pages) != 1) pages = 0;
      fclose(f);
    }
    limit.rlim_cur = limit.rlim_max =
        (rlim_t)(pages * (unsigned long long)sysconf(_SC_PAGESIZE) + d->max_memory);
    setrlimit(RLIMIT_AS, &limit);
  }
#endif
  limit.rlim_cur = limit.rlim_max = (rlim_t)d->max_seconds + 1;
  setrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = limit.rlim_max = 0;
  setrlimit(RLIMIT_CORE, &limit);
  head.result = work(user, &parcel, &head.why);
  head.bytes = head.result == OOZE_OK ? parcel.bytes : 0;
  memcpy(head.fixed, parcel.fixed, sizeof head.fixed);
  if (write_all(fd, &head, sizeof head) && head.bytes)
    write_all(fd, parcel.data, (size_t)head.bytes);
  _exit(0);
}

ooze_result oz_vdb_child(const ooze_sdf_desc *d, const char *path, oz_parcel_fn work, void *user,
                         uint64_t most, oz_parcel *out, ooze_message *why) {
  int pipes[2], got, status = 0;
  double deadline = oz_seconds() + d->max_seconds;
  child_head head;
  ooze_result r = OOZE_OK;
  pid_t pid;
  memset(out, 0, sizeof *out);
  oz_vdb_prepare();
  if (pipe(pipes)) return oz_fail(why, OOZE_ERROR_IO, "%s: no pipe: %s", path, strerror(errno));
  fcntl(pipes[0], F_SETFD, FD_CLOEXEC);
  fcntl(pipes[1], F_SETFD, FD_CLOEXEC);
  pid = fork();
  if (pid < 0) {
    close(pipes[0]);
    close(pipes[1]);
    return oz_fail(why, OOZE_ERROR_IO, "%s: cannot start the process that reads it: %s", path,
                   strerror(errno));
  }
  if (pid == 0) {
    close(pipes[0]);
    child(d, work, user, pipes[1]);
  }
  close(pipes[1]);
  memset(&head, 0, sizeof head);
  got = read_all(pipes[0], &head, sizeof head, deadline);
  if (got == 1 && head.result != OOZE_OK) {
    head.why.text[sizeof head.why.text - 1] = 0;
    r = oz_fail(why, head.result, "%s", head.why.text);
  } else if (got == 1) {
    memcpy(out->fixed, head.fixed, sizeof out->fixed);
    out->bytes = head.bytes;
    if (head.bytes > most) {
      r = oz_fail(why, OOZE_ERROR_FORMAT, "%s: the reader sent %llu bytes", path,
                  (unsigned long long)head.bytes);
    } else if (head.bytes && !(out->data = malloc((size_t)head.bytes))) {
      r = oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory for %llu bytes", path,
                  (unsigned long long)head.bytes);
    } else if (head.bytes) {
      got = read_all(pipes[0], out->data, (size_t)head.bytes, deadline);
    }
  }
  close(pipes[0]);
  if (got == -1 || r) kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!r && got == -1)
    r = oz_fail(why, OOZE_ERROR_LIMIT,
                "%s: not read within %g s (max_seconds); damaged, or larger than thought", path,
                d->max_seconds);
  if (!r && got == 0)
    r = oz_fail(why, OOZE_ERROR_FORMAT, "%s: damaged: the process that read it ended by signal %d",
                path, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  if (r) {
    free(out->data);
    out->data = NULL;
  }
  return r;
}
#else
/* No fork: in this process, unguarded. */
ooze_result oz_vdb_child(const ooze_sdf_desc *d, const char *path, oz_parcel_fn work, void *user,
                         uint64_t most, oz_parcel *out, ooze_message *why) {
  (void)d;
  memset(out, 0, sizeof *out);
  ooze_result r = work(user, out, why);
  if (!r && out->bytes > most) r = oz_fail(why, OOZE_ERROR_LIMIT, "%s: too large", path);
  if (r) {
    free(out->data);
    out->data = NULL;
  }
  return r;
}
#endif
