/* Colliders from .vdb files, each read in a child process (vdb_child.c). SPDX-License-Identifier:
 * Apache-2.0 */
#if !defined(_WIN32)
#define _GNU_SOURCE /* S_IFMT */
#endif
#include "vdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static ooze_result check_file(const ooze_sdf_desc *d, const char *path, ooze_message *why) {
  unsigned char magic[8];
  struct stat st;
  FILE *f;
  size_t n;
  ooze_result r = oz_sdf_check(d, why);
  if (r) return r;
  if (!(d->max_seconds > 0.0f && d->max_seconds <= 86400.0f))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "max_seconds is %g; expected 0 to 86400",
                   (double)d->max_seconds);
  if (!ooze_surface_has_vdb())
    return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "%s: this build has no OpenVDB", path);
  if (stat(path, &st)) return oz_fail(why, OOZE_ERROR_NOT_FOUND, "%s: no such file", path);
  if ((st.st_mode & S_IFMT) != S_IFREG)
    return oz_fail(why, OOZE_ERROR_IO, "%s: not a plain file", path);
  if ((uint64_t)st.st_size > d->max_file_bytes)
    return oz_fail(why, OOZE_ERROR_LIMIT, "%s: %llu bytes; the limit is %llu (max_file_bytes)",
                   path, (unsigned long long)st.st_size, (unsigned long long)d->max_file_bytes);
  f = fopen(path, "rb");
  if (!f) return oz_fail(why, OOZE_ERROR_IO, "%s: cannot be opened", path);
  n = fread(magic, 1, sizeof magic, f);
  fclose(f);
  if (n != sizeof magic || memcmp(magic, " BDV\0\0\0\0", 8))
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s: not an OpenVDB file", path);
  return OOZE_OK;
}

typedef struct bricks_wanted {
  const ooze_sdf_desc *desc;
  const char *path, *grid;
} bricks_wanted;

typedef char sdf_fits_in_a_parcel[sizeof(ooze_sdf) <= OZ_PARCEL_FIXED ? 1 : -1];

static ooze_result read_bricks(void *user, oz_parcel *out, ooze_message *why) {
  const bricks_wanted *w = (const bricks_wanted *)user;
  ooze_sdf sdf;
  ooze_sdf_default(&sdf);
  ooze_result r = oz_vdb_read(w->desc, w->path, w->grid, &sdf, why);
  memcpy(out->fixed, &sdf, sizeof sdf); /* its pointer means nothing to the other process */
  out->data = sdf.bricks;
  out->bytes = (uint64_t)sdf.brick_count * sizeof *sdf.bricks;
  return r;
}

ooze_result ooze_sdf_from_vdb(const ooze_sdf_desc *d, const char *path, const char *grid,
                              ooze_sdf *out, ooze_message *why) {
  if (!path || !out)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_sdf_from_vdb: a pointer is NULL");
  ooze_sdf_default(out);
  ooze_result r = check_file(d, path, why);
  if (r) return r;
  bricks_wanted wanted = {d, path, grid};
  oz_parcel parcel;
  r = oz_vdb_child(d, path, read_bricks, &wanted, (uint64_t)d->max_bricks * sizeof *out->bricks,
                   &parcel, why);
  if (r) return r;
  memcpy(out, parcel.fixed, sizeof *out);
  out->bricks = (ooze_sdf_brick *)parcel.data;
  if (!out->brick_count || parcel.bytes != (uint64_t)out->brick_count * sizeof *out->bricks) {
    ooze_sdf_free(out);
    return oz_fail(why, OOZE_ERROR_FORMAT, "%s: the process that read it sent nonsense", path);
  }
  return OOZE_OK;
}

static ooze_result read_list(void *user, oz_parcel *out, ooze_message *why) {
  enum { MOST = 1024 };
  uint32_t count = 0;
  ooze_vdb_grid *grids = (ooze_vdb_grid *)calloc(MOST, sizeof *grids);
  if (!grids) return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory", (const char *)user);
  ooze_result r = oz_vdb_list((const char *)user, grids, MOST, &count, why);
  memcpy(out->fixed, &count, sizeof count);
  out->data = grids;
  out->bytes = (uint64_t)(count < MOST ? count : MOST) * sizeof *grids;
  return r;
}

ooze_result ooze_vdb_describe(const ooze_sdf_desc *given, const char *path, ooze_vdb_grid *out,
                              uint32_t capacity, uint32_t *out_count, ooze_message *why) {
  ooze_sdf_desc defaults;
  ooze_sdf_desc_default(&defaults);
  const ooze_sdf_desc *d = given ? given : &defaults;
  if (!path || !out_count || (capacity && !out))
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_vdb_describe: a pointer is NULL");
  ooze_result r = check_file(d, path, why);
  if (r) return r;
  oz_parcel parcel;
  char name[4096];
  snprintf(name, sizeof name, "%s", path);
  r = oz_vdb_child(d, path, read_list, name, (uint64_t)1 << 20, &parcel, why);
  if (r) return r;
  uint64_t sent = parcel.bytes / sizeof *out;
  memcpy(out_count, parcel.fixed, sizeof *out_count);
  if (sent) memcpy(out, parcel.data, (size_t)(sent < capacity ? sent : capacity) * sizeof *out);
  free(parcel.data);
  return OOZE_OK;
}
