/* Between vdb.cpp, vdb_grids.cpp and the C files around it. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_SURFACE_VDB_H
#define OZ_SURFACE_VDB_H

#include "level_set.h"

#ifdef __cplusplus
extern "C" {
#endif

/* vdb.cpp: reads a level set in this process, believing nothing but not guarded against crashes and
 * hangs. */
ooze_result oz_vdb_read(const ooze_sdf_desc *desc, const char *path, const char *grid,
                        ooze_sdf *out, ooze_message *why);
ooze_result oz_vdb_list(const char *path, ooze_vdb_grid *out, uint32_t capacity,
                        uint32_t *out_count, ooze_message *why);
void oz_vdb_prepare(void); /* registers grid types; to be done before a fork */

/* vdb_child.c: `work` in a child process with desc's limits of memory and time. Its parcel arrives
 * in *out; `data` is from malloc and at most `most` bytes. */
#define OZ_PARCEL_FIXED 128
typedef struct oz_parcel {
  char fixed[OZ_PARCEL_FIXED];
  void *data;
  uint64_t bytes;
} oz_parcel;
typedef ooze_result (*oz_parcel_fn)(void *user, oz_parcel *out, ooze_message *why);
ooze_result oz_vdb_child(const ooze_sdf_desc *desc, const char *path, oz_parcel_fn work, void *user,
                         uint64_t most, oz_parcel *out, ooze_message *why);

/* sdf.c: the checks that need no OpenVDB. */
ooze_result oz_sdf_check(const ooze_sdf_desc *d, ooze_message *why);
ooze_result oz_sdf_check_mesh(const ooze_sdf_desc *desc, const float *points, uint32_t point_count,
                              const uint32_t *triangles, uint32_t triangle_count, int *out_closed,
                              ooze_message *why);

#ifdef __cplusplus
}

#include <system_error>

/* Behind the try block of an exported function: every exception becomes a result. */
#define OZ_CATCH(why, subject)                                                           \
  catch (const std::bad_alloc &) {                                                       \
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", subject);                \
  }                                                                                      \
  catch (const std::system_error &e) { /* TBB starts a thread, which takes memory */     \
    const int lack = e.code() == std::errc::resource_unavailable_try_again ||            \
                     e.code() == std::errc::not_enough_memory;                           \
    return oz_fail(why, lack ? OOZE_ERROR_MEMORY : OOZE_ERROR_FORMAT, "%s: %s", subject, \
                   e.what());                                                            \
  }                                                                                      \
  catch (const std::exception &e) {                                                      \
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s: %s", subject, e.what());                 \
  }                                                                                      \
  catch (...) {                                                                          \
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s: unknown exception", subject);            \
  }
#endif
#endif
