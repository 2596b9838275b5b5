/* The few calls that differ between operating systems. Everything above this file is the same
 * everywhere. SPDX-License-Identifier: Apache-2.0 */
#if defined(__linux__)
#define _GNU_SOURCE 1 /* sync_file_range */
#endif
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#endif
#include "geo_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static uint32_t name_hash(const char *name) { /* FNV-1a */
  uint32_t hash = 2166136261u;
  for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
  return hash;
}

#ifdef _WIN32
#include <io.h>
#include <windows.h>

/* negative: a Windows code, not an errno */
static int last_error(void) { return -(int)GetLastError(); }

int oz_os_create(const char *path, int *out_fd) {
  *out_fd = _open(path, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
  return *out_fd < 0 ? errno : 0;
}

int oz_os_write(int fd, const void *bytes, size_t count) {
  const char *at = bytes;
  while (count > 0) {
    unsigned part = count > (1u << 30) ? 1u << 30 : (unsigned)count;
    int done = _write(fd, at, part);
    if (done < 0) return errno;
    if (done == 0) return ENOSPC;
    at += done;
    count -= (size_t)done;
  }
  return 0;
}

void oz_os_hurry(int fd, uint64_t first, uint64_t count) { (void)fd, (void)first, (void)count; }
int oz_os_sync(int fd) { return _commit(fd) ? errno : 0; }
int oz_os_close(int fd) { return _close(fd) ? errno : 0; }
int oz_os_rename(const char *from, const char *to) {
  return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ? 0
                                                                                   : last_error();
}
int oz_os_sync_folder(const char *folder) {
  (void)folder;
  return 0;
} /* WRITE_THROUGH has done it */
int oz_os_remove(const char *path) { return DeleteFileA(path) ? 0 : last_error(); }

int oz_os_open(const char *path, int *out_fd, uint64_t *out_bytes) {
  struct _stat64 about;
  *out_fd = _open(path, _O_RDONLY | _O_BINARY);
  if (*out_fd < 0) return errno;
  if (_fstat64(*out_fd, &about) != 0 || !(about.st_mode & _S_IFREG)) {
    _close(*out_fd);
    return EINVAL;
  }
  *out_bytes = (uint64_t)about.st_size;
  return 0;
}

int oz_os_read(int fd, void *bytes, size_t count, size_t *out_count) {
  int done = _read(fd, bytes, count > (1u << 30) ? 1u << 30 : (unsigned)count);
  *out_count = done > 0 ? (size_t)done : 0;
  return done < 0 ? errno : 0;
}

int oz_os_read_at(int fd, uint64_t from, void *bytes, size_t count, size_t *out_count) {
  OVERLAPPED at = {.Offset = (DWORD)from, .OffsetHigh = (DWORD)(from >> 32)};
  DWORD done = 0;
  *out_count = 0;
  if (!ReadFile((HANDLE)_get_osfhandle(fd), bytes, count > (1u << 30) ? 1u << 30 : (DWORD)count,
                &done, &at) &&
      GetLastError() != ERROR_HANDLE_EOF)
    return last_error();
  *out_count = done;
  return 0;
}

int oz_os_times(const char *path, int64_t *out_ns) {
  struct _stat64 about;
  if (_stat64(path, &about) != 0) return errno;
  *out_ns = (int64_t)about.st_mtime * 1000000000;
  return 0;
}

int oz_os_list(const char *folder, void (*each)(void *user, const char *name), void *user) {
  char pattern[4096];
  WIN32_FIND_DATAA found;
  if (snprintf(pattern, sizeof pattern, "%s\\*", folder) >= (int)sizeof pattern)
    return ENAMETOOLONG;
  HANDLE search = FindFirstFileA(pattern, &found);
  if (search == INVALID_HANDLE_VALUE) return last_error();
  do each(user, found.cFileName);
  while (FindNextFileA(search, &found));
  FindClose(search);
  return 0;
}

void oz_os_reason(int error, char *out, size_t capacity) {
  if (error >= 0)
    snprintf(out, capacity, "%s", strerror(error));
  else if (!FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                           (DWORD)-error, 0, out, (DWORD)capacity, NULL))
    snprintf(out, capacity, "Windows error %d", -error);
}

uint32_t oz_os_process(void) { return (uint32_t)GetCurrentProcessId(); }
bool oz_os_process_gone(uint32_t process) {
  HANDLE handle = OpenProcess(SYNCHRONIZE, FALSE, process);
  if (!handle) return GetLastError() == ERROR_INVALID_PARAMETER; /* no such process */
  const bool ended = WaitForSingleObject(handle, 0) == WAIT_OBJECT_0;
  CloseHandle(handle);
  return ended;
}
uint32_t oz_os_host(void) {
  char name[256] = "";
  DWORD length = sizeof name;
  GetComputerNameA(name, &length);
  return name_hash(name);
}
bool oz_os_is_slash(char c) { return c == '/' || c == '\\'; }

#else /* POSIX */
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

int oz_os_create(const char *path, int *out_fd) {
  *out_fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return *out_fd < 0 ? errno : 0;
}

int oz_os_write(int fd, const void *bytes, size_t count) {
  const char *at = bytes;
  while (count > 0) {
    ssize_t done = write(fd, at, count > (1u << 30) ? 1u << 30 : count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return ENOSPC;
    at += done;
    count -= (size_t)done;
  }
  return 0;
}

void oz_os_hurry(int fd, uint64_t first, uint64_t count) {
#if defined(__linux__)
  (void)sync_file_range(fd, (off_t)first, (off_t)count, SYNC_FILE_RANGE_WRITE);
#else
  (void)fd, (void)first, (void)count;
#endif
}

int oz_os_sync(int fd) {
  while (fsync(fd) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

int oz_os_close(int fd) { return close(fd) != 0 && errno != EINTR ? errno : 0; }
int oz_os_rename(const char *from, const char *to) { return rename(from, to) ? errno : 0; }
int oz_os_remove(const char *path) { return unlink(path) ? errno : 0; }

int oz_os_sync_folder(const char *folder) {
  int fd = open(folder, O_RDONLY | O_CLOEXEC), error;
  if (fd < 0) return errno;
  error = oz_os_sync(fd);
  close(fd);
  /* Some network and FUSE file systems cannot sync a folder; the file itself is safe by then. */
  return error == EINVAL || error == ENOTSUP || error == ENOSYS ? 0 : error;
}

int oz_os_open(const char *path, int *out_fd, uint64_t *out_bytes) {
  struct stat about;
  *out_fd = open(path, O_RDONLY | O_CLOEXEC |
                           O_NONBLOCK); /* a pipe must not hang us before it is refused */
  if (*out_fd < 0) return errno;
  int error = fstat(*out_fd, &about) != 0 ? errno
              : S_ISREG(about.st_mode)    ? 0
              : S_ISDIR(about.st_mode)    ? EISDIR
                                          : EINVAL;
  if (error) {
    close(*out_fd);
    return error;
  }
  *out_bytes = (uint64_t)about.st_size;
  return 0;
}

int oz_os_read(int fd, void *bytes, size_t count, size_t *out_count) {
  ssize_t done;
  do done = read(fd, bytes, count > (1u << 30) ? 1u << 30 : count);
  while (done < 0 && errno == EINTR);
  *out_count = done > 0 ? (size_t)done : 0;
  return done < 0 ? errno : 0;
}

int oz_os_read_at(int fd, uint64_t from, void *bytes, size_t count, size_t *out_count) {
  ssize_t done;
  do done = pread(fd, bytes, count > (1u << 30) ? 1u << 30 : count, (off_t)from);
  while (done < 0 && errno == EINTR);
  *out_count = done > 0 ? (size_t)done : 0;
  return done < 0 ? errno : 0;
}

int oz_os_times(const char *path, int64_t *out_ns) {
  struct stat about;
  if (stat(path, &about) != 0) return errno;
  *out_ns = (int64_t)about.st_mtime * 1000000000;
#ifdef __linux__
  *out_ns += about.st_mtim.tv_nsec;
#endif
  return 0;
}

int oz_os_list(const char *folder, void (*each)(void *user, const char *name), void *user) {
  DIR *open_folder = opendir(folder);
  if (!open_folder) return errno;
  for (struct dirent *entry; (entry = readdir(open_folder)) != NULL;) each(user, entry->d_name);
  closedir(open_folder);
  return 0;
}

void oz_os_reason(int error, char *out, size_t capacity) {
  snprintf(out, capacity, "%s", strerror(error));
}
uint32_t oz_os_process(void) { return (uint32_t)getpid(); }
bool oz_os_process_gone(uint32_t process) { return kill((pid_t)process, 0) != 0 && errno == ESRCH; }
uint32_t oz_os_host(void) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name_hash(name);
}
bool oz_os_is_slash(char c) { return c == '/'; }
#endif
