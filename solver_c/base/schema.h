/* The list of parameters as data, and checks that follow from it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_SCHEMA_H
#define OZ_BASE_SCHEMA_H

#include "base/result.h"

/* The structs with fields in the schema. */
typedef enum oz_owner {
  OZ_OWNER_solver_desc = 0,
  OZ_OWNER_params,
  OZ_OWNER_material,
  OZ_OWNER_collider_desc,
  OZ_OWNER_emitter_desc,
  OZ_OWNER_body_desc
} oz_owner;

typedef enum oz_type {
  OZ_TYPE_FLOAT = 0,
  OZ_TYPE_INT,
  OZ_TYPE_BOOL,
  OZ_TYPE_MENU,
  OZ_TYPE_VECTOR,
  OZ_TYPE_QUATERNION
} oz_type;

/* Where an entry of ooze_schema_get lives in its struct. */
typedef struct oz_field_place {
  oz_owner owner;
  oz_type type;
  uint32_t offset, bytes;
} oz_field_place;
ooze_result oz_schema_place(uint32_t index, oz_field_place *out);

/* Checks that every listed field of `object` is finite and in its range. The text argument begins
 * the message: "params", "material 2", ... */
ooze_result oz_schema_check(oz_owner owner, const void *object, const char *who, ooze_message *why);
/* One number against the range of a field, for per-particle values. */
int oz_schema_holds(oz_owner owner, const char *field, double value);
/* The same for many numbers: between these two, both included. */
void oz_schema_limits(oz_owner owner, const char *field, double *low, double *high);
/* The allowed range in words: "0 or more", "1 to 1000". Returns text. */
const char *oz_schema_range(oz_owner owner, const char *field, char *text, size_t capacity);
const char *oz_schema_unit(oz_owner owner, const char *field);

#endif
