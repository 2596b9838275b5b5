/* Keys that a model does not read. A scene that sets one gets a warning: the value has no effect.
 * SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include <string.h>

/* Keys that only some models read, and which do. Keys that begin with a model's name are that
 * model's and are not listed; a key that ends in `_` stands for all that begin so.
 * tests/run/models.sh compares this with the models. */
typedef struct readers {
  const char *group, *key, *models;
} readers;
static const readers limited[] = {
    {"solver", "scheme", "conformation"},
    {"solver", "velocity_iterations", "conformation"},
    {"solver", "velocity_tolerance", "conformation"},
    {"solver", "corotation", "conformation"},
    {"solver", "gradient_correction", "conformation"},
    {"solver", "zero_energy", "conformation"},
    {"solver", "rest_filter", "conformation"},
    {"solver", "shifting", "conformation"},
    {"solver", "split_compliance", "conformation"},
    {"solver", "position_iterations", "conformation|links"},
    {"solver", "wall_density", "conformation|links|blend|cauchy"},
    {"material", "viscosity", "conformation|blend|cauchy"},
    {"material", "relaxation_time", "conformation"},
    {"material", "compliance", "conformation"},
    {"material", "yield_stress", "conformation"},
    {"material", "consistency", "conformation"},
    {"material", "flow_index", "conformation"},
    {"material", "thinning_", "conformation"},
    {"material", "thinned_viscosity", "conformation"},
    {"material", "solvent_viscosity", "conformation"},
    {"material", "extensibility", "conformation"},
    {"material", "second_", "conformation"},
    {"material", "surface_tension", "conformation|links|blend"},
    {"material", "cohesion", "conformation|links|blend"},
    {"material", "adhesion", "conformation"},
    {"material", "ramp_", "conformation"},
    {"material", "conductivity", "conformation|links"},
    {"material", "heat_capacity", "conformation|links"},
    {"material", "latent_heat", "conformation|links"},
    {"material", "film_coefficient", "conformation|links"},
    {"material", "emissivity", "conformation|links"},
    {"material", "melting_point", "conformation|links"},
    {"material", "mixing", "conformation|links"},
};

/* Is `name` (n characters) one of "a|b|c"? */
static int among(const char *list, const char *name, size_t n) {
  for (const char *at = list; *at;) {
    const size_t m = strcspn(at, "|");
    if (m == n && strncmp(at, name, n) == 0) return 1;
    at += m + (at[m] == '|');
  }
  return 0;
}
/* The models that read the key, or NULL for all. `menu`: the models there are. */
static const char *readers_of(const char *group, const char *key, const char *menu, char *out,
                              size_t room) {
  for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
    const size_t n = strlen(limited[i].key);
    if (strcmp(limited[i].group, group) == 0 &&
        (limited[i].key[n - 1] == '_' ? strncmp(key, limited[i].key, n) == 0
                                      : strcmp(key, limited[i].key) == 0))
      return limited[i].models;
  }
  const size_t n = strcspn(key, "_");
  if (key[n] != '_' || !among(menu, key, n) || n + 1 > room) return NULL;
  memcpy(out, key, n);
  out[n] = '\0';
  return out;
}

/* The name of a model in the menu "a|b|c", and its length. */
static const char *name_of(const char *menu, uint32_t model, size_t *n) {
  for (uint32_t m = 0; m < model; m++) menu += strcspn(menu, "|") + 1;
  *n = strcspn(menu, "|");
  return menu;
}

/* The solver would refuse its first step, when a run has written its first frame already. */
ooze_result oz_check_bodies(oz_reader *r) {
  ooze_schema_entry e;
  size_t n;
  ooze_schema_entry_default(&e);
  if (!r->scene->body_count || !oz_key_find("solver", "model", &e)) return OOZE_OK;
  const char *own = name_of(e.menu, r->scene->start.params.model, &n);
  if (among("conformation|links|springs", own, n)) return OOZE_OK;
  oz_down(r, "bodies");
  return oz_refuse(r, OOZE_ERROR_UNSUPPORTED,
                   "the model %.*s has no bodies, and there are %u; expected solver.model "
                   "conformation, links or springs",
                   (int)n, own, r->scene->body_count);
}

void oz_warn_of_models(oz_reader *r, const char *group, const json_t *object, uint32_t model) {
  ooze_schema_entry e;
  const char *key, *own;
  json_t *value;
  ooze_schema_entry_default(&e);
  if (!oz_key_find("solver", "model", &e)) return;
  size_t n;
  own = name_of(e.menu, model, &n);
  json_object_foreach((json_t *)(uintptr_t)object, key, value) {
    char text[64], list[96];
    const char *who = readers_of(group, key, e.menu, text, sizeof text);
    if (!who || among(who, own, n)) continue;
    size_t used = 0;
    for (; who[used] && used + 1 < sizeof list; used++)
      list[used] = who[used] == '|' ? ',' : who[used];
    list[used] = '\0';
    size_t mark = oz_down(r, key);
    oz_warn(r, "has no effect: it belongs to the model %s; this scene's is %.*s", list, (int)n,
            own);
    oz_up(r, mark);
  }
}
