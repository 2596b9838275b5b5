/* Frames to an mp4 through ffmpeg, where there is one. ffmpeg reads raw pixels from its standard
 * input and writes to a temporary name; the movie gets its own name only after ffmpeg said that all
 * went well. SPDX-License-Identifier: Apache-2.0 */
#if !defined(_WIN32)
#define _GNU_SOURCE
#endif
#include "surface/level_set.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(_WIN32)
struct ooze_movie {
  int unused;
};
ooze_result ooze_movie_can_write(const char *path, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                 "%s: movies are not written on this system; write frames", path);
}
ooze_result ooze_movie_open(const char *path, uint32_t width, uint32_t height, double fps,
                            ooze_movie **out, ooze_message *why) {
  (void)width;
  (void)height;
  (void)fps;
  (void)out;
  return ooze_movie_can_write(path, why);
}
ooze_result ooze_movie_add(ooze_movie *m, const ooze_image *frame, ooze_message *why) {
  (void)m;
  (void)frame;
  (void)why;
  return OOZE_ERROR_UNSUPPORTED;
}
ooze_result ooze_movie_close(ooze_movie *m, ooze_message *why) {
  (void)m;
  (void)why;
  return OOZE_ERROR_UNSUPPORTED;
}
void ooze_movie_abandon(ooze_movie *m) { (void)m; }
#else

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct ooze_movie {
  ooze_file *file;
  FILE *complaints; /* ffmpeg's standard error */
  int feed;
  pid_t pid;
  uint32_t width, height, frames;
};

static int find_program(const char *name, char *out, size_t capacity) {
  const char *p = getenv("PATH"), *end;
  for (; p && *p; p = *end ? end + 1 : end) {
    end = strchr(p, ':');
    if (!end) end = p + strlen(p);
    if (snprintf(out, capacity, "%.*s/%s", (int)(end - p), p, name) < (int)capacity &&
        access(out, X_OK) == 0)
      return 1;
  }
  return 0;
}

static ooze_result find_ffmpeg(const char *path, char *out, size_t capacity, ooze_message *why) {
  if (find_program("ffmpeg", out, capacity)) return OOZE_OK;
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED,
                 "%s: ffmpeg is not installed (not found in PATH); write .png frames instead",
                 path);
}

ooze_result ooze_movie_can_write(const char *path, ooze_message *why) {
  char program[1024];
  if (!path) return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_movie_can_write: a pointer is NULL");
  return find_ffmpeg(path, program, sizeof program, why);
}

ooze_result ooze_movie_open(const char *path, uint32_t width, uint32_t height, double fps,
                            ooze_movie **out, ooze_message *why) {
  char program[1024], size[32], rate[32], target[4200];
  int ends[2];
  ooze_movie *m;
  ooze_result r;
  if (!path || !out || !width || !height || !(fps > 0.0 && fps <= 1000.0))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "a movie of %u x %u pixels at %g frames a second",
                   width, height, fps);
  *out = NULL;
  if ((r = find_ffmpeg(path, program, sizeof program, why))) return r;
  m = (ooze_movie *)calloc(1, sizeof *m);
  if (!m) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: no memory", path);
  m->width = width;
  m->height = height;
  r = ooze_file_create(path, &m->file, why);
  if (r) {
    free(m);
    return r;
  }
  m->complaints = tmpfile();
  /* A socket instead of a pipe: send() can be told not to raise SIGPIPE in the host when ffmpeg
   * dies. */
  if (!m->complaints || socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
    r = oz_fail(why, OOZE_ERROR_IO, "%s: no socket for ffmpeg: %s", path, strerror(errno));
    if (m->complaints) fclose(m->complaints);
    ooze_file_discard(m->file);
    free(m);
    return r;
  }
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  snprintf(size, sizeof size, "%ux%u", width, height);
  snprintf(rate, sizeof rate, "%g", fps);
  /* a colon in a name is no protocol behind a slash */
  snprintf(target, sizeof target, "%s%s", ooze_file_path(m->file)[0] == '/' ? "" : "./",
           ooze_file_path(m->file));
  m->pid = fork();
  if (m->pid == 0) {
    int null = open("/dev/null", O_WRONLY);
    dup2(ends[1], 0);
    dup2(null, 1);
    dup2(fileno(m->complaints), 2);
    /* yuv420p needs even sides; faststart lets a browser play while it loads. */
    execl(program, program, "-y", "-nostdin", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt",
          "rgb24", "-s", size, "-r", rate, "-i", "pipe:0", "-an", "-vf",
          "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p",
          "-movflags", "+faststart", "-f", "mp4", target, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  m->feed = ends[0];
  if (m->pid < 0) {
    r = oz_fail(why, OOZE_ERROR_IO, "%s: ffmpeg cannot be started: %s", path, strerror(errno));
    m->pid = 0;
    ooze_movie_abandon(m);
    return r;
  }
  *out = m;
  return OOZE_OK;
}

ooze_result ooze_movie_add(ooze_movie *m, const ooze_image *frame, ooze_message *why) {
  size_t left;
  const uint8_t *p;
  if (!m || !frame || !frame->rgb)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_movie_add: a pointer is NULL");
  if (frame->width != m->width || frame->height != m->height)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "a frame of %u x %u in a movie of %u x %u pixels",
                   frame->width, frame->height, m->width, m->height);
  p = frame->rgb;
  for (left = (size_t)m->width * m->height * 3; left;) {
    ssize_t n = send(m->feed, p, left, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return oz_fail(why, OOZE_ERROR_IO, "ffmpeg stopped reading at frame %u", m->frames);
    p += n;
    left -= (size_t)n;
  }
  ++m->frames;
  return OOZE_OK;
}

static void finish(ooze_movie *m) {
  if (m->complaints) fclose(m->complaints);
  free(m);
}

ooze_result ooze_movie_close(ooze_movie *m, ooze_message *why) {
  int status = 0;
  ooze_result r;
  if (!m) return OOZE_OK;
  close(m->feed);
  while (waitpid(m->pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status)) {
    char line[256] = "";
    rewind(m->complaints);
    if (!fgets(line, sizeof line, m->complaints)) line[0] = 0;
    line[strcspn(line, "\r\n")] = 0;
    r = oz_fail(why, OOZE_ERROR_IO, "ffmpeg failed after %u frames (status %d): %s", m->frames,
                status, line);
    ooze_file_discard(m->file);
  } else {
    r = ooze_file_commit(m->file, 1, why);
  }
  finish(m);
  return r;
}

void ooze_movie_abandon(ooze_movie *m) {
  if (!m) return;
  close(m->feed);
  if (m->pid > 0) {
    kill(m->pid, SIGKILL);
    while (waitpid(m->pid, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  ooze_file_discard(m->file);
  finish(m);
}
#endif
