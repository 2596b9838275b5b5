/* Each allocation of a read and of a write fails once: a result, never a crash or a file.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "io_check.h"

OZ_TEST_MAIN()

static long until_failure = -1; /* allocations to go; below 0: none fails */
static int fails(void) { return until_failure >= 0 && until_failure-- == 0; }

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t each);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n) { return fails() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t each) { return fails() ? NULL : __real_calloc(n, each); }
void *__wrap_realloc(void *p, size_t n) { return fails() ? NULL : __real_realloc(p, n); }

static const char *const endings[] = {"bgeo", "geo", "bgeo.sc", "ply"};

OZ_CASE(reading_survives_every_failed_allocation) {
  ooze_points *points = io_sample(50, 0);
  for (int i = 0; i < 4; i++) {
    char name[64];
    snprintf(name, sizeof name, "m.%s", endings[i]);
    CHECK_GOOD(ooze_points_write(scratch_path(name), points, NULL, why));
    int failures = 0;
    for (long n = 0;; n++) {
      ooze_points *read = NULL;
      ooze_message why = {""};
      const char *path = scratch_path(name);
      until_failure = n;
      ooze_result r = ooze_points_read(path, NULL, &read, &why);
      bool reached = until_failure < 0;
      until_failure = -1;
      if (!reached) { /* it never came to the n-th */
        CHECK(r == OOZE_OK);
        ooze_points_destroy(read);
        break;
      }
      CHECK(r == OOZE_ERROR_MEMORY && !read && strstr(why.text, "out of memory"),
            "%s, allocation %ld: %d %s", name, n, r, why.text);
      failures++;
    }
    CHECK(failures > 5, "%d", failures);
  }
  ooze_points_destroy(points);
}

OZ_CASE(writing_survives_every_failed_allocation) {
  ooze_points *points = io_sample(50, 0);
  for (int i = 0; i < 4; i++) {
    char name[64];
    snprintf(name, sizeof name, "w.%s", endings[i]);
    for (long n = 0;; n++) {
      ooze_message why = {""};
      const char *path = scratch_path(name);
      int files = io_files_in(scratch_folder());
      until_failure = n;
      ooze_result r = ooze_points_write(path, points, NULL, &why);
      bool reached = until_failure < 0;
      until_failure = -1;
      if (!reached) {
        CHECK(r == OOZE_OK);
        break;
      }
      CHECK(r == OOZE_ERROR_MEMORY, "%s, allocation %ld: %d %s", name, n, r, why.text);
      CHECK_EQ(io_files_in(scratch_folder()), files);
    }
  }
  ooze_points_destroy(points);
}

OZ_CASE(checkpoints_and_meshes_survive_too) {
  static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  for (long n = 0;; n++) {
    ooze_mesh mesh;
    char *text = NULL;
    void *back = NULL;
    size_t bytes;
    const char *path = scratch_path("c.ozc");
    ooze_mesh_default(&mesh);
    until_failure = n;
    ooze_result a = ooze_checkpoint_write(path, obj, sizeof obj, "{}", NULL);
    ooze_result b = a == OOZE_OK ? ooze_checkpoint_read(path, NULL, &back, &bytes, &text, NULL) : a;
    ooze_result c = ooze_mesh_read_memory("a.obj", obj, sizeof obj - 1, NULL, &mesh, NULL);
    bool reached = until_failure < 0;
    until_failure = -1;
    CHECK((a == OOZE_OK || a == OOZE_ERROR_MEMORY) && (b == OOZE_OK || b == OOZE_ERROR_MEMORY) &&
          (c == OOZE_OK || c == OOZE_ERROR_MEMORY));
    CHECK(!reached || a != OOZE_OK || b != OOZE_OK || c != OOZE_OK);
    ooze_io_free(back);
    ooze_io_free(text);
    ooze_mesh_release(&mesh);
    if (!reached) break;
  }
}
