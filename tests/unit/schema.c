/* The schema and the structs of ooze.h tell the same story. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "base/schema.h"

typedef struct owner {
  const char *group;
  size_t bytes;
  unsigned char seen[512]; /* 1: a schema entry lies there */
  unsigned char start[512];
} owner;

static owner owners[6];

static void fill(void) {
  ooze_solver_desc d;
  ooze_params p;
  ooze_material m;
  ooze_collider_desc c;
  ooze_emitter_desc e;
  ooze_body_desc y;
  memset(owners, 0, sizeof owners);
  ooze_solver_desc_default(&d);
  ooze_params_default(&p);
  ooze_material_default(&m);
  ooze_collider_desc_default(&c);
  ooze_emitter_desc_default(&e);
  ooze_body_desc_default(&y);
#define OWNER(which, name, object)            \
  do {                                        \
    owner *o = &owners[OZ_OWNER_##which];     \
    o->group = name;                          \
    o->bytes = sizeof object;                 \
    CHECK(sizeof object <= sizeof o->start);  \
    memcpy(o->start, &object, sizeof object); \
  } while (0)
  OWNER(solver_desc, "solver", d);
  OWNER(params, "solver", p);
  OWNER(material, "material", m);
  OWNER(collider_desc, "collider", c);
  OWNER(emitter_desc, "emitter", e);
  OWNER(body_desc, "body", y);
}

static double number(const oz_field_place *place, const owner *o, uint32_t k) {
  const unsigned char *at = o->start + place->offset;
  if (place->type == OZ_TYPE_FLOAT || place->type == OZ_TYPE_VECTOR ||
      place->type == OZ_TYPE_QUATERNION) {
    float f;
    memcpy(&f, at + 4 * k, 4);
    return (double)f;
  }
  if (place->bytes == 8) {
    uint64_t u;
    memcpy(&u, at, 8);
    return (double)u;
  }
  uint32_t u;
  memcpy(&u, at, 4);
  return (double)u;
}

OZ_CASE(defaults_and_groups_are_those_of_the_structs) {
  fill();
  for (uint32_t i = 0; i < ooze_schema_count(); ++i) {
    ooze_schema_entry e;
    oz_field_place place;
    ooze_schema_entry_default(&e);
    CHECK_EQ(ooze_schema_get(i, &e), OOZE_OK);
    CHECK_EQ(oz_schema_place(i, &place), OOZE_OK);
    const owner *o = &owners[place.owner];
    CHECK_STR(e.group, o->group);
    uint32_t n = place.type == OZ_TYPE_VECTOR ? 3 : place.type == OZ_TYPE_QUATERNION ? 4 : 1;
    CHECK(place.bytes == 4 * n || (place.type == OZ_TYPE_INT && place.bytes == 8),
          "%s takes %u bytes", e.name, place.bytes);
    CHECK(place.offset + place.bytes <= o->bytes, "%s lies outside its struct", e.name);
    for (uint32_t k = 0; k < n; ++k) {
      double value = number(&place, o, k);
      CHECK(value == e.default_value[k], "%s %s[%u]: the struct's default is %g, the schema's %g",
            e.group, e.name, k, value, e.default_value[k]);
      CHECK(value >= e.minimum && value <= e.maximum, "%s: the default %g is out of range", e.name,
            value);
    }
  }
}

OZ_CASE(every_field_is_listed_once) {
  fill();
  for (uint32_t i = 0; i < ooze_schema_count(); ++i) {
    oz_field_place place;
    CHECK_EQ(oz_schema_place(i, &place), OOZE_OK);
    for (uint32_t b = 0; b < place.bytes; ++b) {
      unsigned char *seen = &owners[place.owner].seen[place.offset + b];
      CHECK(!*seen, "entry %u overlaps another", i);
      *seen = 1;
    }
  }
  /* fields that are no parameters: the size in front, and the bricks that stand for themselves */
  for (int w = 0; w < 6; ++w) memset(owners[w].seen, 1, 4);
  memset(owners[OZ_OWNER_collider_desc].seen + offsetof(ooze_collider_desc, brick_count), 1,
         offsetof(ooze_collider_desc, contact) - offsetof(ooze_collider_desc, brick_count));
  memset(owners[OZ_OWNER_body_desc].seen + offsetof(ooze_body_desc, count), 1,
         sizeof(ooze_body_desc) - offsetof(ooze_body_desc, count));
  /* an outline's corners are a list */
  memset(owners[OZ_OWNER_emitter_desc].seen + offsetof(ooze_emitter_desc, corner_count), 1,
         offsetof(ooze_emitter_desc, from) - offsetof(ooze_emitter_desc, corner_count));
  static const oz_owner whole[] = {OZ_OWNER_params, OZ_OWNER_material, OZ_OWNER_collider_desc,
                                   OZ_OWNER_emitter_desc, OZ_OWNER_body_desc};
  for (size_t w = 0; w < sizeof whole / sizeof *whole; ++w) {
    const owner *o = &owners[whole[w]];
    uint32_t missing = 0;
    for (size_t b = 0; b < o->bytes; ++b) missing += !o->seen[b];
    /* emitter_desc: 4 bytes between layers and max_particles align the latter, and 4 the end */
    uint32_t gap =
        whole[w] == OZ_OWNER_emitter_desc
            ? (uint32_t)(offsetof(ooze_emitter_desc, max_particles) -
                         offsetof(ooze_emitter_desc, layers) - 4 + sizeof(ooze_emitter_desc) -
                         offsetof(ooze_emitter_desc, until) - 4)
            : 0;
    CHECK(missing == gap, "%u bytes of %s are in no entry", missing - gap, o->group);
  }
}

OZ_CASE(entries_are_complete_and_named_once) {
  uint32_t n = ooze_schema_count();
  for (uint32_t i = 0; i < n; ++i) {
    ooze_schema_entry a, b;
    ooze_schema_entry_default(&a);
    ooze_schema_entry_default(&b);
    CHECK_EQ(ooze_schema_get(i, &a), OOZE_OK);
    CHECK(a.group[0] && a.name[0] && a.type[0] && a.label[0] && a.unit && a.menu, "entry %u", i);
    size_t length = strlen(a.help);
    CHECK(length > 8 && a.help[length - 1] == '.', "%s: help is a sentence", a.name);
    CHECK(a.minimum <= a.maximum && a.soft_maximum <= a.maximum, "%s: range", a.name);
    if (strcmp(a.type, "menu") == 0) {
      uint32_t items = 1;
      for (const char *c = a.menu; *c; ++c) items += *c == '|';
      CHECK(a.menu[0] && items == (uint32_t)a.maximum + 1, "%s: %u items for values to %g", a.name,
            items, a.maximum);
    } else
      CHECK_STR(a.menu, "");
    for (uint32_t k = i + 1; k < n; ++k) {
      CHECK_EQ(ooze_schema_get(k, &b), OOZE_OK);
      CHECK(strcmp(a.group, b.group) != 0 || strcmp(a.name, b.name) != 0, "%s %s is listed twice",
            a.group, a.name);
    }
  }
  ooze_schema_entry e;
  ooze_schema_entry_default(&e);
  CHECK_EQ(ooze_schema_get(n, &e), OOZE_ERROR_NOT_FOUND);
}

OZ_CASE(messages_tell_value_unit_and_range) {
  ooze_message why = {""};
  ooze_material m;
  ooze_params p;
  ooze_material_default(&m);
  m.viscosity = -3;
  CHECK_EQ(oz_schema_check(OZ_OWNER_material, &m, "material 2", &why), OOZE_ERROR_ARGUMENT);
  CHECK_STR(why.text, "material 2: viscosity is -3 Pa s; expected 0 to 1e+12");
  ooze_material_default(&m);
  m.relaxation_time = -1;
  CHECK_EQ(oz_schema_check(OZ_OWNER_material, &m, "material 2", &why), OOZE_ERROR_ARGUMENT);
  CHECK_STR(why.text, "material 2: relaxation_time is -1 s; expected 0 or more");
  ooze_params_default(&p);
  p.gravity[2] = NAN;
  CHECK_EQ(oz_schema_check(OZ_OWNER_params, &p, "params", &why), OOZE_ERROR_ARGUMENT);
  CHECK(strstr(why.text, "gravity[2] is") && strstr(why.text, "m/s^2"), "%s", why.text);
  ooze_params_default(&p);
  p.scheme = 4;
  CHECK_EQ(oz_schema_check(OZ_OWNER_params, &p, "params", &why), OOZE_ERROR_ARGUMENT);
  CHECK_STR(why.text, "params: scheme is 4; expected 0 to 3 (ooze|paper|position|stress)");
}

OZ_TEST_MAIN()
