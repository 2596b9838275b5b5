/* A final name never holds half a file: full disks, kills, left-overs. SPDX-License-Identifier:
 * Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "io_check.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

OZ_TEST_MAIN()

/* With files of at most `most` bytes, as a full disk would have it. */
static ooze_result write_small(const char *path, const ooze_points *points, rlim_t most,
                               ooze_message *why) {
  struct rlimit old, tight;
  getrlimit(RLIMIT_FSIZE, &old);
  tight = old;
  tight.rlim_cur = most;
  void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tight);
  ooze_result result = ooze_points_write(path, points, NULL, why);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, before);
  return result;
}

OZ_CASE(a_full_disk_leaves_the_old_file_and_nothing_else) {
  static const char *const names[] = {"full.bgeo", "full.bgeo.sc", "full.ply", "full.geo"};
  ooze_points *small = io_sample(10, 0), *large = io_sample(50000, 0);
  for (int i = 0; i < 4; i++) {
    void *before, *after;
    size_t m, n;
    CHECK_GOOD(ooze_points_write(scratch_path(names[i]), small, NULL, why));
    CHECK_GOOD(ooze_file_read(scratch_path(names[i]), 1 << 20, &before, &m, why));
    int files = io_files_in(scratch_folder());
    CHECK_REFUSED(write_small(scratch_path(names[i]), large, 1 << 20, why), OOZE_ERROR_IO,
                  "cannot write: ");
    CHECK_REFUSED(write_small(scratch_path(names[i]), large, 1 << 20, why), OOZE_ERROR_IO,
                  names[i]);
    CHECK_EQ(io_files_in(scratch_folder()), files);
    CHECK_GOOD(ooze_file_read(scratch_path(names[i]), 1 << 20, &after, &n, why));
    CHECK(m == n && memcmp(before, after, n) == 0);
    ooze_io_free(before);
    ooze_io_free(after);
  }
  ooze_points_destroy(small);
  ooze_points_destroy(large);
}

OZ_CASE(a_folder_that_is_not_there_is_named) {
  ooze_points *points = io_sample(1, 0);
  CHECK_REFUSED(ooze_points_write("/nowhere/x.bgeo", points, NULL, why), OOZE_ERROR_NOT_FOUND,
                "/nowhere/x.bgeo: cannot create a temporary file in its folder: No such");
  CHECK_REFUSED(ooze_points_write("x/.bgeo/", points, NULL, why), OOZE_ERROR_UNSUPPORTED, "ending");
  ooze_points_destroy(points);
}

OZ_CASE(names_that_cannot_be_written_are_told_beforehand) {
  char folder[1200];
  const int files = io_files_in(scratch_folder());
  snprintf(folder, sizeof folder, "%s", scratch_path("folder.ply"));
  CHECK(mkdir(folder, 0700) == 0);
  CHECK_GOOD(ooze_mesh_can_write(scratch_path("new.obj"), why));
  CHECK_GOOD(ooze_mesh_can_write(scratch_path("NEW.PLY"), why));
  CHECK_GOOD(ooze_points_can_write(scratch_path("new.bgeo.sc"), why));
  CHECK_REFUSED(ooze_points_can_write(scratch_path("new.obj"), why), OOZE_ERROR_UNSUPPORTED,
                "new.obj: unknown ending; expected .bgeo");
  CHECK_REFUSED(ooze_mesh_can_write(scratch_path("new.stl"), why), OOZE_ERROR_UNSUPPORTED,
                "new.stl: unknown ending; expected .obj");
  CHECK_REFUSED(ooze_mesh_can_write("/nowhere/x.ply", why), OOZE_ERROR_NOT_FOUND,
                "expected a folder that is there");
  CHECK_REFUSED(ooze_mesh_can_write(folder, why), OOZE_ERROR_IO,
                "folder.ply: is a folder; expected the name of a file");
  CHECK_REFUSED(ooze_mesh_can_write(NULL, why), OOZE_ERROR_ARGUMENT, "no file name");
  CHECK(rmdir(folder) == 0);
  CHECK_EQ(io_files_in(scratch_folder()), files); /* the question leaves nothing behind */
}

OZ_CASE(a_relative_name_is_written_here) {
  char here[1024];
  ooze_points *points = io_sample(1, 0), *read = NULL;
  CHECK(getcwd(here, sizeof here) && chdir(scratch_folder()) == 0);
  CHECK_GOOD(ooze_points_write("here.bgeo", points, NULL, why));
  CHECK_GOOD(ooze_points_read("here.bgeo", NULL, &read, why));
  CHECK(chdir(here) == 0);
  ooze_points_destroy(points);
  ooze_points_destroy(read);
}

/* A child writes the same name over and over; it is killed at some moment; the name holds a whole
 * file or none. */
OZ_CASE(a_kill_at_any_moment_leaves_a_whole_file_or_none) {
  static const char *const names[] = {"kill.bgeo", "kill.bgeo.sc", "kill.ply", "kill.ozc"};
  uint32_t seed = 4711;
  ooze_points *points = io_sample(20000, 0);
  int whole = 0;
  for (int i = 0; i < 40; i++) {
    const char *path = scratch_path(names[i % 4]);
    if (i % 8 < 4) unlink(path);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      static char memory[1 << 20];
      ooze_write_options options;
      ooze_write_options_default(&options);
      options.sync = (uint32_t)i & 1u;
      for (;;)
        if ((i % 4 == 3 ? ooze_checkpoint_write(path, memory, sizeof memory, "{}", NULL)
                        : ooze_points_write(path, points, &options, NULL)) != OOZE_OK)
          _exit(1);
    }
    struct timespec wait = {0, 200000 + (long)(io_random(&seed) % 20000000)};
    nanosleep(&wait, NULL);
    int status = 0;
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status), "the child ended by itself");
    if (access(path, F_OK) != 0) continue;
    if (i % 4 == 3) {
      CHECK_GOOD(ooze_checkpoint_read(path, NULL, NULL, NULL, NULL, why));
    } else {
      ooze_points *read = NULL;
      CHECK_GOOD(ooze_points_read(path, NULL, &read, why));
      io_check_same(points, read);
      ooze_points_destroy(read);
    }
    whole++;
  }
  printf("%d of 40 kills left a file, all whole\n", whole);
  ooze_points_destroy(points);

  /* Leftovers of killed processes are known as such, and files in use are not. */
  ooze_file *mine = NULL;
  CHECK_GOOD(ooze_file_create(scratch_path("mine.bin"), &mine, why));
  ooze_file_sweep(scratch_folder());
  DIR *folder = opendir(scratch_folder());
  int left = 0;
  for (struct dirent *e; (e = readdir(folder)) != NULL;) left += strstr(e->d_name, ".tmp-") != NULL;
  closedir(folder);
  CHECK_EQ(left, 1);
  CHECK_GOOD(ooze_file_put(mine, "x", 1, why));
  CHECK_GOOD(ooze_file_commit(mine, 1, why));
  CHECK_EQ(access(scratch_path("mine.bin"), F_OK), 0);
}

OZ_CASE(a_discarded_file_is_gone_and_a_committed_one_is_there) {
  ooze_file *file = NULL;
  CHECK_GOOD(ooze_file_create(scratch_path("d.bin"), &file, why));
  CHECK_EQ(access(ooze_file_path(file), F_OK), 0);
  CHECK_EQ(access(scratch_path("d.bin"), F_OK), -1);
  char temporary[1024];
  snprintf(temporary, sizeof temporary, "%s", ooze_file_path(file));
  ooze_file_discard(file);
  CHECK_EQ(access(temporary, F_OK), -1);
  CHECK_EQ(access(scratch_path("d.bin"), F_OK), -1);
  CHECK_REFUSED(ooze_file_create("", &file, why), OOZE_ERROR_ARGUMENT, "no file name");
  CHECK_REFUSED(ooze_file_create("folder/", &file, why), OOZE_ERROR_ARGUMENT, "folder");
}
