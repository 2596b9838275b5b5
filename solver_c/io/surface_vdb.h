/* Between vdb.cpp and the C files around it. */
#ifndef OZ_SURFACE_VDB_H
#define OZ_SURFACE_VDB_H

#include "surface_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* vdb.cpp: reads a level set in this process, believing nothing but not guarded against crashes and hangs. */
ooze_result oz_vdb_read(const ooze_sdf_desc *desc, const char *path, const char *grid, ooze_sdf *out,
                        ooze_message *why);
void oz_vdb_prepare(void); /* registers grid types; to be done before a fork */

/* surface_sdf.c: the checks that need no OpenVDB. */
ooze_result oz_sdf_check_mesh(const ooze_sdf_desc *desc, const float *points, uint32_t point_count,
                              const uint32_t *triangles, uint32_t triangle_count, int *out_closed, ooze_message *why);

#ifdef __cplusplus
}
#endif
#endif
