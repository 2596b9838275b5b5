/* A build without libalembic says so, and leaves nothing. SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "io_check.h"

OZ_TEST_MAIN()

OZ_CASE(alembic_is_refused_with_a_sentence) {
  ooze_points *points = NULL;
  ooze_mesh mesh;
  ooze_mesh_default(&mesh);
  CHECK_GOOD(ooze_points_create(3, &points, why));
  CHECK_GOOD(ooze_points_add(points, "P", OOZE_FLOAT32, 3, OOZE_MEANING_POINT, NULL, why));
  CHECK_GOOD(ooze_mesh_allocate(&mesh, 3, 1, 0, why));
  CHECK(strstr(ooze_io_build_text(), "no-alembic"), "%s", ooze_io_build_text());
  CHECK_REFUSED(ooze_points_write(scratch_path("p.abc"), points, NULL, why), OOZE_ERROR_UNSUPPORTED,
                "libalembic was not found");
  CHECK_REFUSED(ooze_mesh_write(scratch_path("m.abc"), &mesh, NULL, why), OOZE_ERROR_UNSUPPORTED,
                "libalembic was not found");
  CHECK_REFUSED(ooze_points_can_write(scratch_path("p.abc"), why), OOZE_ERROR_UNSUPPORTED,
                "libalembic was not found");
  CHECK_REFUSED(ooze_mesh_can_write(scratch_path("m.abc"), why), OOZE_ERROR_UNSUPPORTED,
                "libalembic was not found");
  CHECK(!ooze_file_exists(scratch_path("p.abc")) && !ooze_file_exists(scratch_path("m.abc")));
  ooze_points_destroy(points);
  ooze_mesh_release(&mesh);
}
