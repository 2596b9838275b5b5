/* The list of the nodes' parameters: whole, in range, and with defaults that are those of the
 * structs. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "ooze/ooze_nodes.h"

static ooze_node node_at(uint32_t i) {
  ooze_node n;
  ooze_node_default(&n);
  CHECK_EQ(ooze_node_get(i, &n), OOZE_OK);
  return n;
}
static ooze_node_parm parm_at(uint32_t node, uint32_t i) {
  ooze_node_parm p;
  ooze_node_parm_default(&p);
  CHECK_EQ(ooze_node_parm_get(node, i, &p), OOZE_OK);
  return p;
}
static int parm_of(const char *node, const char *token, ooze_node_parm *out) {
  uint32_t n = 0;
  CHECK_EQ(ooze_node_find(node, &n), OOZE_OK);
  for (uint32_t i = 0; i < node_at(n).parm_count; i++) {
    *out = parm_at(n, i);
    if (!strcmp(out->token, token)) return 1;
  }
  return 0;
}

OZ_CASE(there_are_seven_nodes) {
  static const char *const names[] = {"step",  "solver",  "source", "collider",
                                      "loads", "surface", "gasooze"};
  CHECK_EQ(ooze_node_count(), 7);
  for (uint32_t i = 0; i < 7; i++) CHECK(!strcmp(node_at(i).name, names[i]), "%s", node_at(i).name);
  uint32_t found;
  CHECK_EQ(ooze_node_find("nothing", &found), OOZE_ERROR_NOT_FOUND);
  ooze_node n;
  ooze_node_default(&n);
  CHECK_EQ(ooze_node_get(7, &n), OOZE_ERROR_NOT_FOUND);
}

OZ_CASE(every_parameter_is_complete_and_named_once) {
  for (uint32_t n = 0; n < ooze_node_count(); n++)
    for (uint32_t i = 0; i < node_at(n).parm_count; i++) {
      ooze_node_parm p = parm_at(n, i);
      CHECK(p.token[0] && p.label[0] && p.type[0], "%s %u", node_at(n).name, i);
      CHECK(strlen(p.help) > 8, "%s %s has no help", node_at(n).name, p.token);
      for (const char *c = p.token; *c; c++)
        CHECK((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9'), "%s", p.token);
      for (uint32_t k = 0; k < i; k++)
        CHECK(strcmp(parm_at(n, k).token, p.token) != 0, "%s has %s twice", node_at(n).name,
              p.token);
      int number = !strcmp(p.type, "float") || !strcmp(p.type, "int") ||
                   !strcmp(p.type, "vector") || !strcmp(p.type, "menu");
      for (uint32_t k = 0; number && k < p.components; k++)
        CHECK(p.default_value[k] >= p.minimum && p.default_value[k] <= p.maximum, "%s %s",
              node_at(n).name, p.token);
      CHECK((!strcmp(p.type, "menu") || !strcmp(p.type, "choice")) == (p.menu[0] != 0), "%s",
            p.token);
      if (!strcmp(p.type, "choice"))
        CHECK(strstr(p.menu, p.default_text), "%s: %s is not in %s", p.token, p.default_text,
              p.menu);
    }
}

OZ_CASE(a_parameter_of_the_solver_is_on_every_node_that_solves) {
  static const char *const nodes[] = {"step", "solver", "gasooze"};
  for (uint32_t i = 0; i < ooze_schema_count(); i++) {
    ooze_schema_entry e;
    ooze_schema_entry_default(&e);
    CHECK_EQ(ooze_schema_get(i, &e), OOZE_OK);
    for (int k = 0; k < 3 && !strcmp(e.group, "solver"); k++) {
      uint32_t n = 0, found = 0;
      CHECK_EQ(ooze_node_find(nodes[k], &n), OOZE_OK);
      for (uint32_t j = 0; j < node_at(n).parm_count; j++) {
        ooze_node_parm p = parm_at(n, j);
        if (strcmp(p.group, "solver") || strcmp(p.field, e.name)) continue;
        found++;
        CHECK_NEAR(p.default_value[0], e.default_value[0], 0, "the same list");
      }
      CHECK(found == 1, "%s has %s %u times", nodes[k], e.name, found);
    }
  }
}

/* A model's parameters are in its folder, and hidden in the others. */
OZ_CASE(each_model_has_a_folder_that_the_others_hide) {
  static const char *const words[] = {"links", "blend", "springs", "cauchy"};
  for (uint32_t n = 0; n < ooze_node_count(); n++) {
    ooze_node_parm model;
    char *text = NULL;
    if (!parm_of(node_at(n).name, "model", &model)) continue;
    CHECK_EQ(ooze_node_dialog(n, &text, NULL), OOZE_OK);
    for (int m = 0; m < 4; m++) {
      uint32_t found = 0;
      char hide[64], group[128];
      snprintf(hide, sizeof hide, "model != %s", words[m]);
      for (uint32_t i = 0; i < node_at(n).parm_count; i++) {
        ooze_node_parm p = parm_at(n, i);
        int mine =
            !strncmp(p.field, words[m], strlen(words[m])) && p.field[strlen(words[m])] == '_';
        CHECK((strcmp(p.hide_when, hide) == 0) == mine, "%s %s", node_at(n).name, p.token);
        if (mine)
          CHECK((p.folder[0] | 32) == words[m][0] && !strcmp(p.folder + 1, words[m] + 1),
                "%s is in %s", p.token, p.folder);
        found += (uint32_t)mine;
      }
      CHECK(found > 3, "%s has %u", words[m], found);
      snprintf(group, sizeof group, "hidewhen \"{ %s }\"", hide);
      uint32_t said = 0;
      for (const char *at = text; (at = strstr(at, group)) != NULL; at++) said++;
      CHECK_EQ(said, found + 1); /* and the folder itself */
    }
    ooze_io_free(text);
  }
}

OZ_CASE(every_preset_is_in_the_menu) {
  ooze_node_parm p;
  CHECK(parm_of("source", "preset", &p));
  for (uint32_t i = 0; i < ooze_preset_count(); i++) {
    ooze_preset preset;
    char word[80];
    ooze_preset_default(&preset);
    CHECK_EQ(ooze_preset_get(i, &preset), OOZE_OK);
    snprintf(word, sizeof word, "|%s=", preset.name);
    CHECK(strstr(p.menu, word), "%s is not in %s", preset.name, p.menu);
  }
}

OZ_CASE(defaults_of_the_surface_node_are_the_librarys) {
  ooze_surface_desc d;
  ooze_node_parm p;
  ooze_surface_desc_default(&d);
#define SAME(token, field)                              \
  CHECK(parm_of("surface", token, &p));                 \
  CHECK_NEAR(p.default_value[0], (double)(field), 1e-7, \
             "written twice: nodes.def and ooze_surface.h")
  SAME("method", d.method);
  SAME("voxelsize", d.voxel);
  SAME("radius", d.radius);
  SAME("smoothing", d.smoothing);
  SAME("possmoothing", d.position_smoothing);
  SAME("maxstretch", d.max_stretch);
  SAME("halfwidth", d.half_width);
  SAME("threshold", d.threshold);
}

OZ_CASE(dialogs_have_every_parameter_and_balanced_braces) {
  for (uint32_t n = 0; n < ooze_node_count(); n++) {
    char *text = NULL;
    ooze_message why;
    CHECK_EQ(ooze_node_dialog(n, &text, &why), OOZE_OK);
    int depth = 0, in = 0, parms = 0;
    for (const char *c = text; *c; c++) {
      if (in && *c == '\\') {
        c++;
        continue;
      }
      if (*c == '"') in = !in;
      if (in) continue;
      depth += (*c == '{') - (*c == '}');
      CHECK(depth >= 0);
      parms += !strncmp(c, "parm {", 6);
    }
    CHECK(depth == 0 && !in);
    CHECK_EQ(parms, node_at(n).parm_count);
    ooze_io_free(text);
  }
}
OZ_TEST_MAIN()
