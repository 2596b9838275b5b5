/* A lock on a folder that its holder's end releases. SPDX-License-Identifier: Apache-2.0 */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE /* flock */
#endif
#include "geo_internal.h"
#include "folders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

struct oz_lock {
#ifdef _WIN32
  HANDLE file;
#else
  int fd;
#endif
  char path[];
};

static oz_lock *make(const char *folder) {
  const size_t room = strlen(folder) + sizeof "/.lock";
  oz_lock *lock = malloc(sizeof *lock + room);
  if (lock) snprintf(lock->path, room, "%s/.lock", folder);
  return lock;
}

static ooze_result taken(const char *folder, const char *holder, ooze_message *why) {
  return oz_fail(why, OOZE_ERROR_IO,
                 "%s: another run%s%s%s writes into this folder; wait for its end, or give another "
                 "folder with -o",
                 folder, holder[0] ? " (" : "", holder, holder[0] ? ")" : "");
}

#ifdef _WIN32
ooze_result oz_folder_lock(const char *folder, oz_lock **out, int *supported, ooze_message *why) {
  oz_lock *lock = make(folder);
  *out = NULL;
  *supported = 1;
  if (!lock) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", folder);
  lock->file = CreateFileA(lock->path, GENERIC_WRITE, 0, NULL, OPEN_ALWAYS,
                           FILE_ATTRIBUTE_HIDDEN | FILE_FLAG_DELETE_ON_CLOSE, NULL);
  if (lock->file != INVALID_HANDLE_VALUE) {
    *out = lock;
    return OOZE_OK;
  }
  const int error = (int)GetLastError();
  char reason[160];
  free(lock);
  if (error == ERROR_SHARING_VIOLATION) return taken(folder, "", why);
  oz_os_reason(-error, reason, sizeof reason);
  return oz_fail(why, OOZE_ERROR_IO, "%s: cannot lock the folder: %s", folder, reason);
}

void oz_folder_unlock(oz_lock *lock) {
  if (!lock) return;
  CloseHandle(lock->file);
  free(lock);
}

#else
/* The holder may remove the file between our opening and our locking it: then the lock is one of a
 * file without a name, which keeps no other run out. */
static int still_named(const oz_lock *lock) {
  struct stat named, held;
  return stat(lock->path, &named) == 0 && fstat(lock->fd, &held) == 0 &&
         named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

ooze_result oz_folder_lock(const char *folder, oz_lock **out, int *supported, ooze_message *why) {
  oz_lock *lock = make(folder);
  int error = 0;
  char text[300] = "", reason[160];
  *out = NULL;
  *supported = 1;
  if (!lock) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", folder);
  for (int attempt = 0; attempt < 100; attempt++) {
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    error = lock->fd < 0 ? errno : 0;
    if (error) break;
    error = flock(lock->fd, LOCK_EX | LOCK_NB) ? errno : 0;
    if (!error && still_named(lock)) {
      char host[200] = "";
      gethostname(host, sizeof host - 1);
      const int length = snprintf(text, sizeof text, "process %u on %s", oz_os_process(), host);
      /* for the message to others alone: the lock holds without it */
      if (ftruncate(lock->fd, 0) == 0) oz_os_write(lock->fd, text, (size_t)length);
      *out = lock;
      return OOZE_OK;
    }
    if (error) {
      const ssize_t length = read(lock->fd, text, sizeof text - 1);
      text[length > 0 ? length : 0] = 0;
    }
    close(lock->fd);
    if (error) break;
  }
  free(lock);
  if (error == EWOULDBLOCK || !error) return taken(folder, text, why);
  *supported = error != ENOLCK && error != ENOTSUP && error != ENOSYS && error != EINVAL;
  if (!*supported) return OOZE_OK;
  oz_os_reason(error, reason, sizeof reason);
  return oz_fail(why, OOZE_ERROR_IO, "%s: cannot lock the folder: %s", folder, reason);
}

void oz_folder_unlock(oz_lock *lock) {
  if (!lock) return;
  unlink(lock->path); /* while it is held: no other run can have taken it meanwhile */
  close(lock->fd);
  free(lock);
}
#endif
