/* Files that are whole or not there: a temporary name in the same folder, sync, rename, sync the
 * folder. SPDX-License-Identifier: Apache-2.0 */
#include "geo_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct ooze_file {
  char *path; /* the final name */
  char *temporary;
  char *folder;
  int fd;
  uint64_t written, hurried; /* bytes; of these, told the disk to begin with */
};

enum { HURRY = 16 << 20 };

static ooze_result refused(ooze_message *why, const char *operation, const char *path, int error) {
  char reason[160];
  oz_os_reason(error, reason, sizeof reason);
  return oz_fail(why, error == ENOENT ? OOZE_ERROR_NOT_FOUND : OOZE_ERROR_IO, "%s: cannot %s: %s",
                 path, operation, reason);
}

static void forget(ooze_file *file) {
  free(file->path);
  free(file->temporary);
  free(file->folder);
  free(file);
}

/* "dir/name.bgeo" is written as "dir/.name.bgeo.tmp-<host>-<process>-<number>", or alike as
 * "dir/.tmp-<host>-<process>-<number>.name.bgeo": hidden from listings and wildcards, not shared
 * between machines on one disk, and known by ooze_file_sweep to be left over once the process is
 * gone. */
static ooze_result create(const char *path, int alike, ooze_file **out, ooze_message *why) {
  static atomic_uint serial;
  if (out) *out = NULL;
  if (!path || !path[0] || !out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name given");
  size_t length = strlen(path), base = length;
  while (base > 0 && !oz_os_is_slash(path[base - 1])) base--;
  if (base == length)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "%s: names a folder, not a file", path);
  ooze_file *file = calloc(1, sizeof *file);
  if (!file) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
  file->fd = -1;
  file->path = malloc(length + 1);
  file->temporary = malloc(length + 64);
  file->folder = malloc(base + 2);
  if (!file->path || !file->temporary || !file->folder) {
    forget(file);
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", path);
  }
  memcpy(file->path, path, length + 1);
  if (base)
    snprintf(file->folder, base + 2, "%.*s", (int)base, path);
  else
    memcpy(file->folder, ".", 2);
  int error = EEXIST;
  for (int attempt = 0; attempt < 100 && error == EEXIST; attempt++) {
    char mark[48];
    snprintf(mark, sizeof mark, ".tmp-%08x-%u-%u", oz_os_host(), oz_os_process(),
             atomic_fetch_add(&serial, 1u));
    snprintf(file->temporary, length + 64, "%.*s%s.%s%s", (int)base, path, alike ? mark : "",
             path + base, alike ? "" : mark);
    error = oz_os_create(file->temporary, &file->fd);
  }
  if (error) {
    char reason[160];
    oz_os_reason(error, reason, sizeof reason);
    forget(file);
    return oz_fail(why, error == ENOENT ? OOZE_ERROR_NOT_FOUND : OOZE_ERROR_IO,
                   "%s: cannot create a temporary file in its folder: %s; expected a folder that "
                   "is there and takes files",
                   path, reason);
  }
  *out = file;
  return OOZE_OK;
}

ooze_result ooze_file_create(const char *path, ooze_file **out, ooze_message *why) {
  return create(path, 0, out, why);
}

ooze_result ooze_file_create_alike(const char *path, ooze_file **out, ooze_message *why) {
  return create(path, 1, out, why);
}

ooze_result ooze_file_can_create(const char *path, ooze_message *why) {
  ooze_file *file = NULL;
  uint64_t bytes;
  int fd;
  OZ_TRY_OK(ooze_file_create(path, &file, why));
  ooze_file_discard(file);
  const int error = oz_os_open(path, &fd, &bytes);
  if (!error) oz_os_close(fd);
  return error == EISDIR
             ? oz_fail(why, OOZE_ERROR_IO, "%s: is a folder; expected the name of a file", path)
             : OOZE_OK;
}

int ooze_file_exists(const char *path) {
  int fd;
  uint64_t bytes;
  if (!path || !path[0] || oz_os_open(path, &fd, &bytes)) return 0;
  oz_os_close(fd);
  return 1;
}

ooze_result ooze_file_remove(const char *path, ooze_message *why) {
  if (!path || !path[0]) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name given");
  const int error = oz_os_remove(path);
  return error ? refused(why, "remove", path, error) : OOZE_OK;
}

const char *ooze_file_path(const ooze_file *file) { return file ? file->temporary : ""; }

ooze_result ooze_file_put(ooze_file *file, const void *bytes, size_t count, ooze_message *why) {
  if (!file) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file");
  int error = oz_os_write(file->fd, bytes, count);
  file->written += error ? 0 : count;
  if (file->written - file->hurried >= HURRY) {
    oz_os_hurry(file->fd, file->hurried, file->written - file->hurried);
    file->hurried = file->written;
  }
  return error ? refused(why, "write", file->path, error) : OOZE_OK;
}

void ooze_file_discard(ooze_file *file) {
  if (!file) return;
  if (file->fd >= 0) oz_os_close(file->fd);
  oz_os_remove(file->temporary);
  forget(file);
}

ooze_result ooze_file_commit(ooze_file *file, uint32_t sync, ooze_message *why) {
  return oz_file_commit(file, sync, NULL, NULL, why);
}

ooze_result oz_file_commit(ooze_file *file, uint32_t sync, int (*ready)(void *user), void *user,
                           ooze_message *why) {
  if (!file) return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file");
  const char *operation = "sync";
  int error = sync ? oz_os_sync(file->fd) : 0;
  if (!error) {
    operation = "close"; /* network disks may report a full disk only here */
    error = oz_os_close(file->fd);
    file->fd = -1;
  }
  if (!error && ready && !ready(user)) {
    ooze_file_discard(file);
    return OOZE_CANCELLED;
  }
  if (!error) {
    operation = "rename to its final name";
    error = oz_os_rename(file->temporary, file->path);
  }
  if (error) {
    ooze_result result = refused(why, operation, file->path, error);
    ooze_file_discard(file);
    return result;
  }
  /* From here on the file is whole under its name; a folder that cannot be synced is still worth a
   * word. */
  error = sync ? oz_os_sync_folder(file->folder) : 0;
  ooze_result result = error ? refused(why, "sync the folder of", file->path, error) : OOZE_OK;
  forget(file);
  return result;
}

/* ---- Left-overs -------------------------------------------------------------------------- */

typedef struct sweep {
  const char *folder;
  uint32_t removed;
} sweep;

static void sweep_one(void *user, const char *name) {
  sweep *job = user;
  if (name[0] != '.') return;
  const char *mark = NULL;
  for (const char *at = strstr(name, ".tmp-"); at; at = strstr(at + 1, ".tmp-")) mark = at;
  unsigned host, process, serial;
  int used = 0;
  if (!strncmp(name, ".tmp-", 5)) mark = name; /* alike: the name follows */
  if (!mark || sscanf(mark, ".tmp-%8x-%u-%u%n", &host, &process, &serial, &used) != 3 ||
      mark[used] != (mark == name ? '.' : 0))
    return;
  if (host != oz_os_host() || process == 0 || !oz_os_process_gone(process)) return;
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s", job->folder, name) < (int)sizeof path &&
      oz_os_remove(path) == 0)
    job->removed++;
}

uint32_t ooze_file_sweep(const char *folder) {
  sweep job = {folder && folder[0] ? folder : ".", 0};
  oz_os_list(job.folder, sweep_one, &job);
  return job.removed;
}

ooze_result oz_is_file(const char *path, ooze_message *why) {
  int fd;
  uint64_t bytes;
  int error = oz_os_open(path, &fd, &bytes);
  if (error == EISDIR)
    return oz_fail(why, OOZE_ERROR_IO, "%s: is a folder; expected a file in it", path);
  if (error) return refused(why, "open", path, error);
  oz_os_close(fd);
  return OOZE_OK;
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* A plain read, not a mapping: a mapped file that is truncated meanwhile kills the process.
 */
ooze_result ooze_file_read(const char *path, uint64_t max_bytes, void **out, size_t *out_bytes,
                           ooze_message *why) {
  if (out) *out = NULL;
  if (!path || !path[0] || !out || !out_bytes)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "no file name given");
  int fd;
  uint64_t bytes = 0;
  int error = oz_os_open(path, &fd, &bytes);
  if (error == EINVAL)
    return oz_fail(why, OOZE_ERROR_IO, "%s: cannot read: not a regular file", path);
  if (error) return refused(why, "open", path, error);
  if (bytes > max_bytes || bytes >= SIZE_MAX) {
    oz_os_close(fd);
    return oz_fail(why, OOZE_ERROR_LIMIT, "%s: has %llu bytes; the limit is %llu", path,
                   (unsigned long long)bytes, (unsigned long long)max_bytes);
  }
  char *memory = malloc((size_t)bytes + 1);
  if (!memory) {
    oz_os_close(fd);
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory for its %llu bytes", path,
                   (unsigned long long)bytes);
  }
  size_t have = 0;
  while (have < bytes && !error) {
    size_t more = 0;
    error = oz_os_read(fd, memory + have, (size_t)bytes - have, &more);
    if (more == 0) break;
    have += more;
  }
  oz_os_close(fd);
  if (error || have != bytes) {
    free(memory);
    if (error) return refused(why, "read", path, error);
    return oz_fail(why, OOZE_ERROR_IO, "%s: became shorter while it was read", path);
  }
  memory[have] = 0;
  *out = memory;
  *out_bytes = have;
  return OOZE_OK;
}
