/* The functions of alembic.cpp, the one file that meets libalembic, in C.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_ALEMBIC_H
#define OOZE_IO_ALEMBIC_H

#include "ooze/ooze_io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An archive with one sample at the detail `time`: the mesh with the points' attributes, or the
 * points alone where mesh is NULL. *out is to be freed; reason: the library's message. */
ooze_result oz_alembic_bytes(const ooze_points *points, const ooze_mesh *mesh, const char *software,
                             void **out, size_t *count, char *reason, size_t room);

#ifdef __cplusplus
}
#endif
#endif
