// Points of a block, to a file and back. SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "ooze/ooze_io.h"
#include "ooze/ooze_surface.h"

int main() {
  ooze_message why = {""};
  ooze_points *points = nullptr, *again = nullptr;
  void *data = nullptr;
  if (ooze_points_create(8, &points, &why) < 0 ||
      ooze_points_add(points, "P", OOZE_FLOAT32, 3, OOZE_MEANING_POINT, &data, &why) < 0 ||
      ooze_points_write("use_io.ply", points, nullptr, &why) < 0 ||
      ooze_points_read("use_io.ply", nullptr, &again, &why) < 0) {
    std::fprintf(stderr, "%s\n", why.text);
    return 1;
  }
  const bool good = ooze_points_count(again) == 8;
  ooze_points_destroy(points);
  ooze_points_destroy(again);
  std::remove("use_io.ply");
  std::printf("%s, OpenVDB %d\n", ooze_io_build_text(), ooze_surface_has_vdb());
  return good ? 0 : 1;
}
