/* The language of scene files, and their refusals. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "scene/scene_internal.h"

#define MINIMAL(more)                                                                    \
  "{\n\"solver\": {\"particle_separation\": 0.01},\n\"fluids\": {\"a\": {\"material\": " \
  "\"honey\", \"shape\": "                                                               \
  "\"box\", "                                                                            \
  "\"size\": [0.05, 0.05, 0.05]}}" more "\n}"

static ooze_message why;
static char warnings[4000];
static void on_warning(void *user, const char *line) {
  (void)user;
  strncat(warnings, line, sizeof warnings - strlen(warnings) - 2);
  strcat(warnings, "\n");
}

static ooze_scene *load(const char *text, const char *set) {
  ooze_scene_options o;
  ooze_scene *s = NULL;
  ooze_scene_options_default(&o);
  o.warn = on_warning;
  warnings[0] = 0;
  if (set) {
    o.sets = &set;
    o.set_count = 1;
  }
  why.text[0] = 0;
  ooze_scene_load_memory("s.json", text, strlen(text), &o, &s, &why);
  return s;
}

static void refused(const char *text, const char *set, const char *words) {
  ooze_scene *s = load(text, set);
  CHECK(s == NULL, "was accepted: %s", text);
  CHECK(strstr(why.text, words) != NULL, "said \"%s\", expected \"%s\"", why.text, words);
  CHECK(strchr(why.text, '\n') == NULL, "more than one line");
}

static void warned(const char *text, const char *set, const char *words) {
  ooze_scene *s = load(text, set);
  CHECK(s != NULL, "%s", why.text);
  CHECK(strstr(warnings, words) != NULL, "warned \"%s\", expected \"%s\"", warnings, words);
  ooze_scene_destroy(s);
}

OZ_CASE(a_minimal_scene_loads_and_builds) {
  ooze_scene *s = load(MINIMAL(""), NULL);
  ooze_solver *solver = NULL;
  CHECK(s != NULL, "%s", why.text);
  CHECK_EQ(ooze_scene_build(s, NULL, &solver, &why), OOZE_OK);
  CHECK_EQ(ooze_particle_count(solver), 125);
  ooze_material m;
  ooze_material_default(&m);
  CHECK_OK(ooze_material_get(solver, 1, &m), solver);
  CHECK_NEAR(m.viscosity, 10.0, 0.0, "the preset's, unchanged");
  ooze_solver_destroy(solver);
  ooze_scene_destroy(s);
}

OZ_CASE(a_refusal_names_file_line_key_value_and_what_fits) {
  refused("{\n  \"solver\": {\n    \"particle_separation\": 0.01,\n    \"substep\": 3\n  }\n}",
          NULL, "s.json:4: solver.substep: there is no such key; did you mean substeps?");
  refused(MINIMAL(""), "solver.substeps=1001",
          "--set solver.substeps=1001: solver.substeps: 1001 is out of range; expected a whole "
          "number from 0 to 1000");
  /* a value of a part that is not there is no new part */
  refused(MINIMAL(",\n\"materials\": {\"blue\": {}, \"red\": {}}"), "materials.blu.viscosity=1",
          "--set materials.blu.viscosity=1: the scene has no materials.blu; did you mean blue, or");
  refused(MINIMAL(""), "emitters.tap.speed=1", "the scene has no emitters.tap; expected one that");
  refused(
      MINIMAL(",\n\"materials\": {\n\"m\": {\"viscosity\": \"ten\"}}"), NULL,
      "s.json:5: materials.m.viscosity: \"ten\" is a text; expected a number from 0 to 1e+12 Pa s");
  refused(MINIMAL(",\n\"colliders\": {\"c\": {\"shape\": \"plain\"}}"), NULL,
          "s.json:4: colliders.c.shape: \"plain\" is not among the choices; expected one of plane, "
          "sphere");
  refused(MINIMAL(",\n\"output\": {\"fps\": true}"), NULL,
          "output.fps: true is a switch; expected a number from 1 to");
  refused(MINIMAL(",\n\"fluid\": {}"), NULL, "did you mean fluids?");
  refused(MINIMAL(""), "fluids.a.material=hony",
          "there is no material or preset \"hony\"; did you mean honey?");
  refused(MINIMAL(",\n\"materials\": {\"m\": {\"preset\": \"toothpast\"}}"), NULL,
          "did you mean toothpaste?");
  refused(MINIMAL(""), "fluids.a.shape=mesh", "size: a mesh has none; expected file or scale");
  refused(MINIMAL(""), "fluids.a.radius=1", "radius: a box has none; expected size, half or scale");
  refused(MINIMAL(""), "output.channels=stress,compression",
          "there is no channel stress,compression; expected some of ");
  refused(MINIMAL(""), "output.channels=stress,compression", " with blanks between");
  refused("{\"solver\": {\"particle_separation\": 0.01}, \"fluids\": {\"a\": {\"material\": "
          "\"honey\", \"shape\": "
          "\"mesh\",\n"
          "\"file\": \"no/such.obj\"}}}",
          NULL, "s.json:2: fluids.a.file: no/such.obj: cannot open");
  refused("{\"solver\": 3}", NULL, "solver: 3 is no object");
  refused("{\"fluids\": {}}", NULL, "solver: is missing");
  refused("{\"solver\": {\"particle_separation\": 0.01}}", NULL, "neither fluids nor emitters");
  refused("{\"solver\": {\n\"particle_separation\": 0.01,}}", NULL, "s.json:2: column");
  refused("[]", NULL, "expected an object");
  refused("{\"a\": 1, \"a\": 2}", NULL, "no good JSON");
  refused(MINIMAL(""), "solver", "expected path=value");
  refused(MINIMAL(",\n\"solver2\": {}"), NULL, "did you mean solver?");
}

OZ_CASE(unit_slips_are_noticed) {
  warned(MINIMAL(",\"materials\": {\"honey\": {\"preset\": \"honey\", \"viscosity\": 10000}}"),
         NULL, "mPa s");
  warned(MINIMAL(",\"materials\": {\"honey\": {\"density\": 1.42, \"viscosity\": 10}}"), NULL,
         "g/cm^3");
  warned(MINIMAL(",\"materials\": {\"honey\": {\"temperature\": 20, \"viscosity\": 10}}"), NULL,
         "Celsius");
  warned(MINIMAL(""), "solver.gravity=[0,-981,0]", "cm/s^2");
  warned(MINIMAL(",\"materials\": {\"j\": {\"compliance\": 2000}}"), NULL, "the modulus in Pa");
  warned(MINIMAL(",\"materials\": {\"w\": {\"melting_point\": 57, \"conductivity\": 1}}"), NULL,
         "materials.w.melting_point: 57 K is colder");
  warned(MINIMAL(",\"materials\": {\"w\": {\"ramp_1\": [20, 1, 0], \"ramp_2\": [300, 1, 0]}}"),
         NULL, "materials.w.ramp_1: 20 K is colder");
  warned(MINIMAL(",\"materials\": {\"w\": {\"conductivity\": 1}}, \"colliders\": {\"p\": "
                 "{\"shape\": \"plane\", \"temperature\": 80}}"),
         NULL, "colliders.p.temperature: 80 K is colder");
  refused(MINIMAL(""), "solver.particle_separation=0.1", "no particle fits in");
  refused(MINIMAL(",\"emitters\": {\"e\": {\"material\": \"honey\", \"radius\": 0.001}}"), NULL,
          "less than half of particle_separation");
  ooze_scene *s = load(MINIMAL(""), NULL);
  CHECK(s != NULL, "%s", why.text);
  CHECK_STR(warnings, "");
  ooze_scene_destroy(s);
}

#define MATERIAL(keys) MINIMAL(",\"materials\": {\"w\": {\"viscosity\": 5, " keys "}}")
OZ_CASE(keys_that_wait_for_another_key_are_told) {
  warned(MATERIAL("\"film_coefficient\": 10"), NULL,
         "materials.w.film_coefficient: has no effect without a conductivity");
  warned(MATERIAL("\"emissivity\": 0.9"), NULL, "materials.w.emissivity: has no effect");
  warned(MATERIAL("\"latent_heat\": 1000, \"melting_point\": 300"), NULL,
         "materials.w.latent_heat: has no effect");
  warned(MATERIAL("\"adhesion\": 2"), NULL,
         "materials.w.adhesion: has no effect without a surface_tension or a cohesion");
  warned(MATERIAL("\"flow_index\": 0.5"), NULL,
         "materials.w.flow_index: has no effect without a thinning_time or a consistency");
  warned(MATERIAL("\"thinned_viscosity\": 1"), NULL,
         "materials.w.thinned_viscosity: has no effect without a thinning_time");
  warned(MATERIAL("\"thinning_time\": 1"), NULL,
         "materials.w.thinning_time: has no effect: a flow_index of 1 does not thin, less does");
  ooze_scene *s =
      load(MATERIAL("\"film_coefficient\": 10, \"conductivity\": {\"keys\": [[0, 0], [1, 2]]}, "
                    "\"adhesion\": 2, \"cohesion\": 1, \"thinning_time\": 1, "
                    "\"flow_index\": 0.5, \"thinned_viscosity\": 1"),
           NULL);
  CHECK(s != NULL, "%s", why.text);
  CHECK_STR(warnings, "");
  ooze_scene_destroy(s);
}

#define NOZZLE(rest)                                                                              \
  MINIMAL(",\"emitters\": {\"e\": {\"material\": \"honey\", \"radius\": 0.03, \"position\": [0, " \
          "1, 0], " rest "}}")
OZ_CASE(keys_of_nozzles_that_nothing_reads_are_told) {
  warned(NOZZLE("\"corners\": [[0, 0], [1, 0], [0, 1]]"), NULL,
         "emitters.e.corners: has no effect without \"outline\": \"polygon\"");
  warned(NOZZLE("\"outline\": \"ring\", \"outline_points\": 5"), NULL,
         "emitters.e.outline_points: has no effect");
  warned(NOZZLE("\"outline\": \"polygon\", \"outline_inner\": 0.3"), NULL,
         "emitters.e.outline_inner: has no effect");
  warned(NOZZLE("\"rate\": 1e-4, \"speed\": 1"), NULL, "emitters.e.speed: is not used");
  warned(NOZZLE("\"from\": 200"), "output.frames=[1,31]",
         "emitters.e.from: is after the last of output.frames, at 1 s: nothing pours");
  ooze_scene *s = load(NOZZLE("\"outline\": \"star\", \"outline_inner\": 0.3, "
                              "\"outline_points\": 5, \"from\": 0.5, \"speed\": 1"),
                       "output.frames=[1,31]");
  CHECK(s != NULL, "%s", why.text);
  CHECK_STR(warnings, "");
  ooze_scene_destroy(s);
}

OZ_CASE(keys_that_nothing_reads_are_told) {
  warned(MINIMAL(",\"materials\": {\"w\": {\"consistency\": 5, \"thinning_time\": 1}}"), NULL,
         "materials.w.thinning_time: has no effect without a viscosity");
  warned(MINIMAL(",\"materials\": {\"w\": {\"viscosity\": 5, \"extensibility\": 5}}"), NULL,
         "materials.w.extensibility: has no effect without a relaxation_time");
  warned(MINIMAL(",\"materials\": {\"w\": {\"viscosity\": 5, \"second_viscosity\": 5}}"), NULL,
         "materials.w.second_viscosity: has no effect");
  warned(MINIMAL(",\"colliders\": {\"p\": {\"shape\": \"plane\", \"temperature\": 400}}"), NULL,
         "no material has a conductivity");
  warned(MINIMAL(",\"materials\": {\"w\": {\"viscosity\": 5, \"ramp_1\": [300, 9, 0], \"ramp_2\": "
                 "[310, 1, 0]}}"),
         NULL, "materials.w.viscosity: has no effect: ramp_1");
  warned(MINIMAL(",\"bodies\": {\"b\": {\"material\": \"honey\", \"shape\": \"box\", \"size\": "
                 "[0.05, 0.05, 0.05], \"position\": [1, 0, 0], "
                 "\"strain_limit\": 0.2}}"),
         NULL, "bodies.b.strain_limit: has no effect: this body is rigid");
  refused("{\"solver\": {\"particle_separation\": 0.01, \"model\": \"blend\"}, \"bodies\": {\"b\": "
          "{\"material\": \"honey\", \"shape\": \"box\", "
          "\"size\": [0.05, 0.05, 0.05]}}}",
          NULL, "bodies: the model blend has no bodies");
}

OZ_CASE(solids_too_stiff_for_their_substeps_are_told) {
#define SOLID(substeps)                                                   \
  "{\"solver\": {\"particle_separation\": 0.004, \"substeps\": " substeps \
  "}, \"output\": {\"fps\": 24}, \"materials\": {\"w\": "                 \
  "{\"density\": 1270, \"viscosity\": 2e7, \"relaxation_time\": 1000}}, " \
  "\"fluids\": {\"a\": {\"material\": \"w\", \"shape\": \"box\", \"size\": [0.05, 0.05, 0.05]}}}"
  warned(SOLID("10"), NULL,
         "materials.w.relaxation_time: makes a solid of 2e+04 Pa, too stiff for 10 substeps");
  warned(SOLID("10"), NULL, "expected 15 substeps or more");
  ooze_scene *s = load(SOLID("15"), NULL);
  CHECK(s != NULL, "%s", why.text);
  CHECK_STR(warnings, "");
  ooze_scene_destroy(s);
#undef SOLID
}

OZ_CASE(parameters_of_another_model_are_told) {
  warned("{\"solver\": {\"particle_separation\": 0.01, \"springs_stiffness\": 0.01}, \"fluids\": "
         "{\"a\": "
         "{\"material\": \"honey\", \"shape\": \"box\", \"size\": [0.05, 0.05, 0.05]}}}",
         NULL, "belongs to the model springs; this scene's is conformation");
  ooze_scene *s = load(
      "{\"solver\": {\"particle_separation\": 0.01, \"model\": \"springs\", \"springs_stiffness\": "
      "0.01, \"springs_mode\": \"off\"}, \"fluids\": {\"a\": {\"material\": \"honey\", \"shape\": "
      "\"box\", \"size\": [0.05, 0.05, 0.05]}}}",
      NULL);
  CHECK(s != NULL, "%s", why.text);
  CHECK(strstr(warnings, "belongs") == NULL, "%s", warnings);
  CHECK_EQ(s->start.params.springs_mode, OOZE_SPRINGS_OFF);
  CHECK_NEAR(s->start.params.springs_stiffness, 0.01, 1e-7, "as given");
  ooze_scene_destroy(s);
}

OZ_CASE(every_preset_loads_without_a_warning) {
  CHECK(ooze_preset_count() >= 13);
  for (uint32_t i = 0; i < ooze_preset_count(); i++) {
    ooze_preset p;
    char set[100];
    ooze_look look;
    ooze_look_default(&look);
    ooze_preset_default(&p);
    CHECK_EQ(ooze_preset_get(i, &p), OOZE_OK);
    CHECK(strlen(p.source) > 20, "%s does not say where its numbers come from", p.name);
    snprintf(set, sizeof set, "fluids.a.material=%s", p.name);
    ooze_scene *s = load(MINIMAL(""), set);
    CHECK(s != NULL, "%s: %s", p.name, why.text);
    CHECK_STR(warnings, "");
    CHECK(ooze_look_preset(p.name, &look), "%s has no look", p.name);
    ooze_scene_destroy(s);
  }
}

/* Each parameter of the solver's schema, with its default, is accepted by a scene. */
OZ_CASE(every_parameter_of_the_schema_has_a_place_in_a_scene) {
  for (uint32_t i = 0; i < ooze_schema_count(); i++) {
    ooze_schema_entry e, found;
    char set[256], value[128], word[64];
    ooze_schema_entry_default(&e);
    CHECK_EQ(ooze_schema_get(i, &e), OOZE_OK);
    if (strchr(e.name, '.')) continue; /* position and rotation stand for these */
    if (strcmp(e.group, "collider") == 0 &&
        (strcmp(e.name, "half") == 0 || strcmp(e.name, "shape") == 0))
      continue;
    if ((strcmp(e.group, "emitter") == 0 || strcmp(e.group, "body") == 0) &&
        strcmp(e.name, "material") == 0)
      continue;
    CHECK(oz_key_find(e.group, e.name, &found), "%s.%s", e.group, e.name);
    if (strcmp(e.type, "vector") == 0)
      snprintf(value, sizeof value, "[%g,%g,%g]", e.default_value[0], e.default_value[1],
               e.default_value[2]);
    else if (strcmp(e.type, "menu") == 0)
      snprintf(value, sizeof value, "%.*s", (int)strcspn(e.menu, "|"), e.menu);
    else if (strcmp(e.type, "bool") == 0)
      snprintf(value, sizeof value, "%s", e.default_value[0] != 0.0 ? "true" : "false");
    else
      snprintf(value, sizeof value, "%.9g", e.default_value[0]);
    snprintf(word, sizeof word, "%s",
             strcmp(e.group, "solver") == 0     ? "solver"
             : strcmp(e.group, "material") == 0 ? "materials.m"
             : strcmp(e.group, "collider") == 0 ? "colliders.c"
             : strcmp(e.group, "body") == 0     ? "bodies.b"
                                                : "emitters.e");
    snprintf(set, sizeof set, "%s.%s=%s", word, e.name, value);
    ooze_scene *s = load(
        MINIMAL(
            ",\"materials\": {\"m\": {}}, \"colliders\": {\"c\": {\"shape\": \"plane\"}}, "
            "\"bodies\": {\"b\": {\"material\": \"m\", \"shape\": \"sphere\", \"radius\": 0.1}}, "
            "\"emitters\": {\"e\": {\"material\": \"m\", \"radius\": 0.02}}"),
        set);
    CHECK(s != NULL, "%s: %s", set, why.text);
    ooze_scene_destroy(s);
  }
}

static ooze_schema_entry entry(uint32_t i) {
  ooze_schema_entry e;
  ooze_schema_entry_default(&e);
  CHECK_EQ(ooze_schema_get(i, &e), OOZE_OK);
  return e;
}

/* ... and is not only accepted: another value than the default arrives, and nothing else changes.
 */
OZ_CASE(every_parameter_of_the_solver_in_a_scene_reaches_it) {
  for (uint32_t i = 0; i < ooze_schema_count(); i++) {
    const ooze_schema_entry e = entry(i);
    ooze_params expected;
    char set[256], text[128];
    ooze_params_default(&expected);
    expected.rest = 1; /* scenes have it on */
    if (strcmp(e.group, "solver") != 0 || strcmp(e.type, "vector") == 0) continue;
    double value[4] = {e.minimum, 0, 0, 0};
    if (strcmp(e.type, "float") == 0) value[0] = 0.5 * (e.minimum + e.default_value[0]);
    if (value[0] == e.default_value[0])
      value[0] = strcmp(e.type, "float") == 0 ? 0.5 * (e.minimum + e.soft_maximum) : e.maximum;
    if (value[0] == e.default_value[0]) continue; /* there is no other */
    value[0] = (double)(float)value[0];
    if (ooze_schema_store("params", e.name, value, &expected, &why) < 0)
      continue; /* particle_separation is not a param */
    const char *word = e.menu;
    for (int k = 0; k < (int)value[0] && e.menu[0]; k++) word = strchr(word, '|') + 1;
    if (e.menu[0])
      snprintf(text, sizeof text, "%.*s", (int)strcspn(word, "|"), word);
    else if (strcmp(e.type, "bool") == 0)
      snprintf(text, sizeof text, "%s", value[0] != 0.0 ? "true" : "false");
    else
      snprintf(text, sizeof text, "%.9g", value[0]);
    snprintf(set, sizeof set, "solver.%s=%s", e.name, text);
    ooze_scene *s = load(MINIMAL(""), set);
    CHECK(s != NULL, "%s: %s", set, why.text);
    CHECK(memcmp(&s->start.params, &expected, sizeof expected) == 0, "%s does not reach the solver",
          set);
    ooze_scene_destroy(s);
  }
}

/* The same for materials. */
OZ_CASE(every_parameter_of_a_material_in_a_scene_reaches_it) {
  uint32_t tried = 0;
  for (uint32_t i = 0; i < ooze_schema_count(); i++) {
    const ooze_schema_entry e = entry(i);
    ooze_material expected;
    char set[256], text[128];
    ooze_material_default(&expected);
    if (strcmp(e.group, "material") != 0) continue;
    double value[4] = {0.25 * e.minimum + 0.75 * e.soft_maximum, 3, 0.5, 0};
    if (strcmp(e.name, "links_beta") == 0) value[0] = 1.5; /* 0, or 1 to 2 */
    value[0] = (double)(float)value[0];
    int three = strcmp(e.type, "vector") == 0;
    snprintf(text, sizeof text, three ? "[%.9g,3,0.5]" : "%.9g", value[0]);
    CHECK_EQ(ooze_schema_store("material", e.name, value, &expected, &why), OOZE_OK);
    snprintf(set, sizeof set, "materials.m.%s=%s", e.name, text);
    ooze_scene *s = load(MINIMAL(",\"materials\": {\"m\": {}}"), set);
    CHECK(s != NULL, "%s: %s", set, why.text);
    int found = 0;
    for (uint32_t m = 0; m < s->material_count; m++)
      found |= memcmp(&s->start.materials[m], &expected, sizeof expected) == 0;
    CHECK(found, "%s does not reach the material", set);
    ooze_scene_destroy(s);
    tried++;
  }
  CHECK(tried > 15);
}

OZ_CASE(keyframes_give_values_between_and_beyond) {
  ooze_scene *s = load(
      MINIMAL(
          ",\"materials\": {\"honey\": {\"viscosity\": {\"keys\": [[0, 10], [2, 30]]}}},"
          "\"colliders\": {\"c\": {\"shape\": \"plane\", \"rotate\": {\"keys\": [[0, [0,0,0]], [1, "
          "[0,90,0]]]},"
          "\"position\": {\"keys\": [[1, [0,0,0]], [2, [0,4,0]]], \"interpolation\": \"smooth\"}}},"
          "\"emitters\": {\"e\": {\"material\": \"honey\", \"radius\": 0.02, \"active\": "
          "{\"keys\": [[0, true], "
          "[1, false]]}}}"),
      NULL);
  CHECK(s != NULL, "%s", why.text);
  oz_state at;
  CHECK_EQ(oz_state_copy(s, &at, &why), OOZE_OK);
  oz_state_at(s, 0.5, &at);
  CHECK_NEAR(at.materials[0].viscosity, 15.0, 1e-5, "linear");
  CHECK_NEAR(at.colliders[0].desc.start.position[1], 0.0, 0.0, "before the first key");
  CHECK_NEAR(at.colliders[0].desc.start.rotation[1], sin(0.3926990817), 1e-6, "half of 45 degrees");
  CHECK_EQ(at.emitters[0].desc.active, 1);
  oz_state_at(s, 1.5, &at);
  CHECK_NEAR(at.colliders[0].desc.start.position[1], 2.0, 1e-6, "smoothstep's middle");
  CHECK_EQ(at.emitters[0].desc.active, 0);
  oz_state_at(s, 9.0, &at);
  CHECK_NEAR(at.materials[0].viscosity, 30.0, 0.0, "after the last key");
  oz_state_release(&at);
  ooze_scene_destroy(s);
  refused(MINIMAL(""), "solver.particle_separation={\"keys\": [[0, 1]]}", "this value is fixed");
  refused(MINIMAL(""), "solver.time_scale={\"keys\": [[1, 1], [0, 2]]}", "does not come after");
  refused(MINIMAL(""), "solver.time_scale={\"keys\": [[0, -1]]}", "-1 is out of range");
  refused(MINIMAL(""), "solver.time_scale={\"keys\": [], \"x\": 1}", "there is no such key");
  refused(
      MINIMAL(""), "output.channels=\"stress strain\"",
      "output.channels: there is no channel strain; expected some of mass, compression, stress, "
      "neighbours");
}

OZ_CASE(counts_are_automatic_unless_given) {
  ooze_scene_info i;
  ooze_scene_info_default(&i);
  ooze_scene *s = load(MINIMAL(""), NULL);
  ooze_scene_info_get(s, &i);
  CHECK_EQ(i.substeps, 7); /* of 1/210 s */
  CHECK_EQ(i.automatic_substeps, 1);
  CHECK_EQ(i.velocity_iterations, 0);
  CHECK_EQ(i.position_iterations, 0);
  ooze_scene_destroy(s);

  s = load(MINIMAL(""), "solver.substeps=6");
  ooze_scene_info_get(s, &i);
  CHECK_EQ(i.substeps, 6);
  CHECK_EQ(i.automatic_substeps, 0);
  ooze_scene_destroy(s);

  s = load(MINIMAL(""), "solver.position_iterations=7");
  ooze_scene_info_get(s, &i);
  CHECK_EQ(i.position_iterations, 7);
  ooze_scene_destroy(s);
}

OZ_CASE(wedges_pick_values_by_name_and_number) {
  const char *text = MINIMAL(
      ",\n\"wedge\": [\n{\"name\": \"fine\", \"set\": {\"solver.particle_separation\": 0.005}},\n"
      "{\"set\": {\"solver.substeps\": 4}}]");
  ooze_scene_options o;
  ooze_scene *s = NULL;
  ooze_scene_info i;
  ooze_scene_options_default(&o);
  ooze_scene_info_default(&i);
  o.wedge = "fine";
  CHECK_EQ(ooze_scene_load_memory("s.json", text, strlen(text), &o, &s, &why), OOZE_OK);
  ooze_scene_info_get(s, &i);
  CHECK_NEAR(i.separation, 0.005, 1e-9, "as set");
  ooze_scene_destroy(s);
  o.wedge = "0";
  CHECK_EQ(ooze_scene_load_memory("s.json", text, strlen(text), &o, &s, &why), OOZE_OK);
  ooze_scene_destroy(s);
  o.wedge = "1";
  CHECK_EQ(ooze_scene_load_memory("s.json", text, strlen(text), &o, &s, &why), OOZE_OK);
  ooze_scene_info_get(s, &i);
  CHECK_EQ(i.substeps, 4);
  ooze_scene_destroy(s);
  o.wedge = "fina";
  CHECK(ooze_scene_load_memory("s.json", text, strlen(text), &o, &s, &why) < 0);
  CHECK(strstr(why.text, "fine") != NULL, "%s", why.text);
}

#define ROWS(row) MINIMAL(",\n\"wedge\": [\n{\"name\": \"good\", \"set\": {}},\n" row "]")

OZ_CASE(every_row_of_a_wedge_is_read_with_the_scene) {
  refused(ROWS("{\"set\": {\"solver.substeps\": 9999}}"), NULL,
          "s.json:6: wedge 1: solver.substeps: 9999 is out of range; expected a whole number");
  refused(ROWS("{\"name\": \"fast\", \"set\": {\"solver.substep\": 9}}"), NULL,
          "s.json:6: wedge fast: solver.substep: there is no such key; did you mean substeps?");
  refused(ROWS("{\"set\": {\"colliders.c.friction\": 0}}"), NULL,
          "wedge 1: colliders.c.friction: the scene has no colliders.c;");
  refused(ROWS("{\"set\": {\"fluids.b\": {\"material\": \"syrup\", \"shape\": \"mesh\", "
               "\"file\": \"none.obj\"}}}"),
          NULL, "s.json:6: wedge 1: fluids.b.file: none.obj: cannot be opened;");
  refused(ROWS("{\"name\": \"w\", \"set\": {\"solver.substeps\": \"many\"}}"),
          "solver.position_iterations=4", "s.json:6: wedge w: solver.substeps: \"many\" is a text");

  const char *rows = ROWS("{\"set\": {\"solver.substeps\": 9999}}");
  ooze_scene_options o;
  ooze_scene *s = NULL;
  ooze_scene_options_default(&o);
  o.wedge = "good";
  CHECK(ooze_scene_load_memory("s.json", rows, strlen(rows), &o, &s, &why) < 0);
  CHECK(strstr(why.text, "wedge 1: solver.substeps: 9999") != NULL, "%s", why.text);

  /* a value of --set goes over every row's */
  s = load(rows, "solver.substeps=6");
  CHECK(s != NULL, "%s", why.text);
  ooze_scene_destroy(s);
}

OZ_CASE(materials_without_a_colour_can_be_told_apart) {
  ooze_scene *s =
      load(MINIMAL(",\n\"materials\": {\"a\": {}, \"honey\": {}, \"b\": {}, \"c\": {\"colour\": "
                   "[1, 0, 0]}, \"d\": {}}"),
           NULL);
  CHECK(s != NULL, "%s", why.text);
  ooze_look first, honey;
  ooze_look_default(&first);
  ooze_look_preset("honey", &honey);
  const size_t colour = sizeof first.colour;
  CHECK(memcmp(s->looks[0].look.colour, first.colour, colour) == 0, "the first is neutral");
  CHECK(memcmp(s->looks[1].look.colour, honey.colour, colour) == 0, "a preset's name");
  CHECK(s->looks[3].look.colour[0] == 1.0f && s->looks[3].look.colour[1] == 0.0f, "as given");
  for (int i = 0; i < 4; i += 2)
    for (int k = i + 2; k < 5; k += 2)
      CHECK(memcmp(s->looks[i].look.colour, s->looks[k].look.colour, colour) != 0, "%d %d", i, k);
  ooze_scene_destroy(s);
}

OZ_CASE(cameras_that_show_nothing_are_refused) {
  refused(MINIMAL(",\n\"picture\": {\"bounds\": [-1, 1, 0, 2, -1, 1]}"), NULL,
          "picture.bounds: y goes from 1 to -1; expected [x, y, z, x, y, z], low then high");
  refused(MINIMAL(",\n\"picture\": {\"eye\": [0, 1, 0], \"target\": [0, 1, 0]}"), NULL,
          "picture.target: is where eye is");
}

OZ_CASE(wedge_tables_are_neither_set_nor_ambiguous) {
  const char *table = MINIMAL(",\n\"wedge\": [{\"name\": \"a\", \"set\": {}}]");
  refused(table, "wedge=5", "--set wedge=5: the wedge table is read before");
  refused(table, "wedge.0.set.solver.substeps=4", "the wedge table is read before");
  refused(MINIMAL(",\n\"wedge\": [{\"name\": \"a\", \"set\": {}},\n"
                  "{\"name\": \"a\", \"set\": {}}]"),
          NULL, "wedge.1.name: row 0 is \"a\" too; expected another name");
}

OZ_CASE(lines_are_found_along_paths) {
  const char *text = "{\n \"a\": [1,\n  {\"b\": \"}\\\"\",\n \"c\": 3}],\n \"d\": 4}";
  CHECK_EQ(oz_json_line(text, strlen(text), "a"), 2);
  CHECK_EQ(oz_json_line(text, strlen(text), "a.1.b"), 3);
  CHECK_EQ(oz_json_line(text, strlen(text), "a.1.c"), 4);
  CHECK_EQ(oz_json_line(text, strlen(text), "d"), 5);
  CHECK_EQ(oz_json_line(text, strlen(text), "a.1.missing"), 3);
  /* found by the fuzzer: went round for ever */
  CHECK_EQ(oz_json_line("{\"a\": [1, \0 2], \"b\": 3}", 22, "b"), 1);
}

OZ_CASE(a_zero_byte_is_refused) {
  ooze_scene *s = NULL;
  CHECK_EQ(ooze_scene_load_memory("s.json", "{\"solver\": \0 {}}", 17, NULL, &s, &why),
           OOZE_ERROR_FORMAT);
  CHECK(strstr(why.text, "byte 11 is 0") != NULL, "%s", why.text);
}
/* s: the least of three, since other programs run beside */
static double told_seconds(double friction) {
  static const char form[] =
      "{\"solver\": {\"particle_separation\": 0.01}, \"materials\": {\"m\": {\"viscosity\": 300}}, "
      "\"fluids\": {\"f\": {\"material\": \"m\", \"shape\": \"box\", \"size\": [0.1, 0.1, 0.1]}}, "
      "\"colliders\": {\"w\": {\"shape\": \"sphere\", \"radius\": 0.1, \"friction\": %g, "
      "\"position\": "
      "{\"keys\": [[0, [0, 1, 0]], [0.1, [0, 2, 0]]]}}}, \"output\": {\"frames\": [1, 9]}}";
  char text[600];
  double least = 1e30;
  ooze_scene *s = NULL;
  snprintf(text, sizeof text, form, friction);
  CHECK_EQ(ooze_scene_load_memory("s.json", text, strlen(text), NULL, &s, &why), OOZE_OK);
  for (int i = 0; i < 3; i++) {
    ooze_scene_estimate e;
    ooze_scene_estimate_default(&e);
    CHECK(ooze_scene_estimate_get(s, &e, &why) == OOZE_OK, "%s", why.text);
    least = fmin(least, e.seconds);
  }
  ooze_scene_destroy(s);
  return least;
}

/* 61 iterations by the spread of 15 (docs/theory/counts.md), so 80, in place of 10. */
OZ_CASE(an_estimate_counts_the_iterations_of_walls_that_drag) {
  const double slips = told_seconds(0.0), drags = told_seconds(1.0);
  CHECK(drags > 1.5 * slips, "%.3g s with a wall that drags, %.3g s with one that slips", drags,
        slips);
}

OZ_TEST_MAIN()
