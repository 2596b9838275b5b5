/* Colliders from meshes and files: the checks, and the child process that reads a .vdb which nobody vouches for.
 * OpenVDB trusts the sizes in a file; a flipped bit can make it hang, ask for all memory or crash. So a child does the
 * reading, with limits of memory and time, and sends bricks through a pipe; the worst that a file can do is end the
 * child. */
#if !defined(_WIN32)
#define _GNU_SOURCE
#endif
#include "surface_vdb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#if !defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

void ooze_sdf_free(ooze_sdf *sdf) {
  if (!sdf) return;
  free(sdf->bricks);
  ooze_sdf_default(sdf);
}

static ooze_result check_desc(const ooze_sdf_desc *d, ooze_message *why) {
  if (!d || d->size != sizeof *d)
    return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "ooze_sdf_desc: fill it with its _default()");
  if (!(d->voxel > 0.0f) || !isfinite(d->voxel))
    return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "voxel is %g m; expected above 0", d->voxel);
  if (!(d->exterior_band >= 1.0f && d->exterior_band <= 100.0f) ||
      !(d->interior_band >= 1.0f && d->interior_band <= 100.0f))
    return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "bands are %g and %g voxels; expected 1 to 100", d->exterior_band,
                           d->interior_band);
  if (!(d->thickness >= 0.0f) || !isfinite(d->thickness))
    return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "thickness is %g m; expected 0 or more", d->thickness);
  if (d->mode > OOZE_SDF_SHELL)
    return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "mode is %u; expected OOZE_SDF_*", d->mode);
  return OOZE_OK;
}

typedef struct corner {
  float x[3];
  uint32_t index;
} corner;

static int corner_order(const void *a, const void *b) {
  const corner *p = (const corner *)a, *q = (const corner *)b;
  int i;
  for (i = 0; i < 3; ++i)
    if (p->x[i] != q->x[i]) return p->x[i] < q->x[i] ? -1 : 1;
  return p->index < q->index ? -1 : p->index > q->index;
}

/* Closed: every edge is shared by an even number of triangles. Points at one place count as one, since many exporters
 * repeat them along seams. Returns -1 without memory. */
static int is_closed(const float *points, uint32_t point_count, const uint32_t *triangles, uint32_t triangle_count) {
  corner *corners = (corner *)oz_allocate(point_count, sizeof *corners);
  uint32_t *same = (uint32_t *)oz_allocate(point_count, sizeof *same), *dummy = NULL, i;
  uint64_t *edges = (uint64_t *)oz_allocate(triangle_count, 3 * sizeof *edges);
  size_t n = 0, k, run;
  int closed = -1, a;
  dummy = (uint32_t *)oz_allocate(triangle_count, 3 * sizeof *dummy);
  if (corners && same && edges && dummy && triangle_count < 0x40000000u) {
    for (i = 0; i < point_count; ++i) {
      for (a = 0; a < 3; ++a) corners[i].x[a] = points[3 * (size_t)i + (size_t)a] + 0.0f; /* -0 is 0 */
      corners[i].index = i;
    }
    qsort(corners, point_count, sizeof *corners, corner_order);
    for (i = 0; i < point_count; ++i)
      same[corners[i].index] = i && !memcmp(corners[i].x, corners[i - 1].x, sizeof corners[i].x)
                                   ? same[corners[i - 1].index]
                                   : corners[i].index;
    for (i = 0; i < triangle_count; ++i)
      for (a = 0; a < 3; ++a) {
        uint32_t p = same[triangles[3 * (size_t)i + (size_t)a]],
                 q = same[triangles[3 * (size_t)i + (size_t)((a + 1) % 3)]];
        if (p == q) continue; /* a triangle without area */
        edges[n++] = p < q ? (uint64_t)p << 32 | q : (uint64_t)q << 32 | p;
      }
    if (oz_sort_keys(edges, dummy, (uint32_t)n)) {
      closed = n > 0;
      for (k = 0; k < n && closed; k += run) {
        for (run = 1; k + run < n && edges[k + run] == edges[k]; ++run) {
        }
        closed = run % 2 == 0;
      }
    }
  }
  oz_release(corners);
  oz_release(same);
  oz_release(edges);
  oz_release(dummy);
  return closed;
}

int ooze_mesh_is_closed(const ooze_mesh *mesh) {
  uint64_t i;
  if (!mesh || mesh->triangle_count > 0x3fffffffu) return -1;
  for (i = 0; i < 3 * mesh->triangle_count; ++i)
    if (mesh->triangles[i] >= mesh->point_count) return -1;
  return is_closed(mesh->positions, mesh->point_count, mesh->triangles, (uint32_t)mesh->triangle_count);
}

ooze_result oz_sdf_check_mesh(const ooze_sdf_desc *d, const float *points, uint32_t point_count,
                              const uint32_t *triangles, uint32_t triangle_count, int *out_closed, ooze_message *why) {
  double area = 0.0, bricks, reach = 0.0;
  uint32_t i;
  int a;
  ooze_result r = check_desc(d, why);
  if (r) return r;
  if (!points || !triangles || !point_count || !triangle_count)
    return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "the mesh has %u points and %u triangles", point_count,
                           triangle_count);
  if (triangle_count > d->max_triangles)
    return oz_surface_fail(why, OOZE_ERROR_LIMIT, "the mesh has %u triangles; the limit is %u (max_triangles)",
                           triangle_count, d->max_triangles);
  for (i = 0; i < point_count; ++i)
    for (a = 0; a < 3; ++a) {
      float x = points[3 * (size_t)i + (size_t)a];
      if (!isfinite(x)) return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "point %u of the mesh is not finite", i);
      reach = fmax(reach, fabs(x));
    }
  if (reach / d->voxel > 1 << 23)
    return oz_surface_fail(why, OOZE_ERROR_LIMIT,
                           "the mesh reaches %g m out, %g voxels of %g m; the limit is %d voxels", reach,
                           reach / d->voxel, d->voxel, 1 << 23);
  for (i = 0; i < triangle_count; ++i) {
    const uint32_t *t = triangles + 3 * (size_t)i;
    const float *p, *q, *s;
    double u[3], v[3], c[3];
    if (t[0] >= point_count || t[1] >= point_count || t[2] >= point_count)
      return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "triangle %u names point %u of %u", i,
                             t[0] >= point_count   ? t[0]
                             : t[1] >= point_count ? t[1]
                                                   : t[2],
                             point_count);
    p = points + 3 * (size_t)t[0];
    q = points + 3 * (size_t)t[1];
    s = points + 3 * (size_t)t[2];
    for (a = 0; a < 3; ++a) {
      u[a] = (double)q[a] - p[a];
      v[a] = (double)s[a] - p[a];
    }
    for (a = 0; a < 3; ++a) c[a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
    area += 0.5 * sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
  }
  /* A brick covers at least 64 voxels of a surface; asking beforehand keeps a slip of the unit from filling the memory.
   */
  bricks = area / ((double)d->voxel * d->voxel) / 64.0 * (1.0 + (d->exterior_band + d->interior_band) / 8.0);
  if (bricks > d->max_bricks)
    return oz_surface_fail(
        why, OOZE_ERROR_LIMIT,
        "the mesh of %g m^2 needs about %.0f bricks at a voxel of %g m; the limit is %u (max_bricks)", area, bricks,
        d->voxel, d->max_bricks);
  *out_closed =
      d->mode == OOZE_SDF_AUTO ? is_closed(points, point_count, triangles, triangle_count) : d->mode == OOZE_SDF_CLOSED;
  if (*out_closed < 0)
    return oz_surface_fail(why, OOZE_ERROR_MEMORY, "no memory for the edges of %u triangles", triangle_count);
  return OOZE_OK;
}

#if !defined(_WIN32)

typedef struct child_head {
  int32_t result;
  ooze_message why;
  ooze_sdf sdf; /* its pointer means nothing here */
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

static void child(const ooze_sdf_desc *d, const char *path, const char *grid, int fd) {
  static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT, SIGPIPE};
  child_head head;
  struct rlimit limit;
  size_t i;
  int null = open("/dev/null", O_WRONLY);
  memset(&head, 0, sizeof head);
  for (i = 0; i < sizeof deadly / sizeof *deadly; ++i)
    signal(deadly[i], SIG_DFL); /* the host's handlers are not for us */
  if (null >= 0) {
    dup2(null, 1);
    dup2(null, 2);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  {
    /* On top of what the parent has mapped already. */
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;
    if (f) {
      if (fscanf(f, "%llu", &pages) != 1) pages = 0;
      fclose(f);
    }
    limit.rlim_cur = limit.rlim_max = (rlim_t)(pages * (unsigned long long)sysconf(_SC_PAGESIZE) + d->max_memory);
    setrlimit(RLIMIT_AS, &limit);
  }
#endif
  limit.rlim_cur = limit.rlim_max = (rlim_t)d->max_seconds + 1;
  setrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = limit.rlim_max = 0;
  setrlimit(RLIMIT_CORE, &limit);
  ooze_sdf_default(&head.sdf);
  head.result = oz_vdb_read(d, path, grid, &head.sdf, &head.why);
  if (write_all(fd, &head, sizeof head) && head.result == OOZE_OK)
    write_all(fd, head.sdf.bricks, head.sdf.brick_count * sizeof *head.sdf.bricks);
  _exit(0);
}

static ooze_result guarded_read(const ooze_sdf_desc *d, const char *path, const char *grid, ooze_sdf *out,
                                ooze_message *why) {
  int pipes[2], got, status = 0;
  double deadline = oz_seconds() + d->max_seconds;
  child_head head;
  ooze_result r = OOZE_OK;
  pid_t pid;
  oz_vdb_prepare();
  if (pipe(pipes)) return oz_surface_fail(why, OOZE_ERROR_IO, "%s: no pipe: %s", path, strerror(errno));
  fcntl(pipes[0], F_SETFD, FD_CLOEXEC);
  fcntl(pipes[1], F_SETFD, FD_CLOEXEC);
  pid = fork();
  if (pid < 0) {
    close(pipes[0]);
    close(pipes[1]);
    return oz_surface_fail(why, OOZE_ERROR_IO, "%s: cannot start the process that reads it: %s", path, strerror(errno));
  }
  if (pid == 0) {
    close(pipes[0]);
    child(d, path, grid, pipes[1]);
  }
  close(pipes[1]);
  memset(&head, 0, sizeof head);
  got = read_all(pipes[0], &head, sizeof head, deadline);
  if (got == 1 && head.result != OOZE_OK) {
    head.why.text[sizeof head.why.text - 1] = 0;
    r = oz_surface_fail(why, head.result, "%s", head.why.text);
  } else if (got == 1) {
    *out = head.sdf;
    out->bricks = NULL;
    if (!out->brick_count || out->brick_count > d->max_bricks) {
      r = oz_surface_fail(why, OOZE_ERROR_FORMAT, "%s: the reader sent %u bricks", path, out->brick_count);
    } else if (!(out->bricks = (ooze_sdf_brick *)malloc(out->brick_count * sizeof *out->bricks))) {
      r = oz_surface_fail(why, OOZE_ERROR_MEMORY, "%s: no memory for %u bricks", path, out->brick_count);
    } else {
      got = read_all(pipes[0], out->bricks, out->brick_count * sizeof *out->bricks, deadline);
    }
  }
  close(pipes[0]);
  if (got == -1 || r) kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!r && got == -1)
    r = oz_surface_fail(why, OOZE_ERROR_LIMIT,
                        "%s: not read within %g s (max_seconds); damaged, or larger than thought", path,
                        d->max_seconds);
  if (!r && got == 0)
    r = oz_surface_fail(why, OOZE_ERROR_FORMAT, "%s: damaged: the process that read it ended by signal %d", path,
                        WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return r;
}
#endif

ooze_result ooze_sdf_from_vdb(const ooze_sdf_desc *d, const char *path, const char *grid, ooze_sdf *out,
                              ooze_message *why) {
  unsigned char magic[8];
  struct stat st;
  FILE *f;
  size_t n;
  ooze_result r = check_desc(d, why);
  if (r) return r;
  if (!path || !out) return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "ooze_sdf_from_vdb: a pointer is NULL");
  if (!(d->max_seconds > 0.0f && d->max_seconds <= 86400.0f))
    return oz_surface_fail(why, OOZE_ERROR_ARGUMENT, "max_seconds is %g; expected 0 to 86400", d->max_seconds);
  ooze_sdf_default(out);
  if (!ooze_surface_has_vdb())
    return oz_surface_fail(why, OOZE_ERROR_UNSUPPORTED, "%s: this build has no OpenVDB", path);
  if (stat(path, &st)) return oz_surface_fail(why, OOZE_ERROR_NOT_FOUND, "%s: no such file", path);
  if ((st.st_mode & S_IFMT) != S_IFREG) return oz_surface_fail(why, OOZE_ERROR_IO, "%s: not a plain file", path);
  if ((uint64_t)st.st_size > d->max_file_bytes)
    return oz_surface_fail(why, OOZE_ERROR_LIMIT, "%s: %llu bytes; the limit is %llu (max_file_bytes)", path,
                           (unsigned long long)st.st_size, (unsigned long long)d->max_file_bytes);
  f = fopen(path, "rb");
  if (!f) return oz_surface_fail(why, OOZE_ERROR_IO, "%s: cannot be opened", path);
  n = fread(magic, 1, sizeof magic, f);
  fclose(f);
  if (n != sizeof magic || memcmp(magic, " BDV\0\0\0\0", 8))
    return oz_surface_fail(why, OOZE_ERROR_FORMAT, "%s: not an OpenVDB file", path);
#if defined(_WIN32)
  r = oz_vdb_read(d, path, grid, out, why);
#else
  r = guarded_read(d, path, grid, out, why);
#endif
  if (r) ooze_sdf_free(out);
  return r;
}
