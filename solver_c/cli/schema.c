/* ooze schema: every parameter, from the one list in the library. SPDX-License-Identifier:
 * Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "options.h"
#include "ooze/ooze_nodes.h"

static int is(const ooze_schema_entry *e, const char *type) { return strcmp(e->type, type) == 0; }

/* "a|b|c": the word at `index`. */
static int menu_word(const char *menu, int index, char *out, size_t size) {
  const char *at = menu;
  for (int i = 0; i < index; ++i) {
    at = strchr(at, '|');
    if (!at) return 0;
    ++at;
  }
  const char *end = strchr(at, '|');
  snprintf(out, size, "%.*s", (int)(end ? end - at : (long)strlen(at)), at);
  return 1;
}

static void default_text(const ooze_schema_entry *e, char *out, size_t size) {
  if (is(e, "text") || is(e, "file") || is(e, "list") || is(e, "object"))
    snprintf(out, size, "-");
  else if (is(e, "vector"))
    snprintf(out, size, "%g %g %g", e->default_value[0], e->default_value[1], e->default_value[2]);
  else if (is(e, "bool"))
    snprintf(out, size, "%s", e->default_value[0] != 0.0 ? "on" : "off");
  else if (!is(e, "menu") || !menu_word(e->menu, (int)e->default_value[0], out, size))
    snprintf(out, size, "%g", e->default_value[0]);
}

static void print_json(const ooze_schema_entry *e, int scene, cli_json *j) {
  cli_json_object(j, NULL);
  cli_json_text(j, "group", e->group);
  cli_json_text(j, "name", e->name);
  cli_json_text(j, "type", e->type);
  cli_json_text(j, "unit", e->unit);
  cli_json_text(j, "label", e->label);
  cli_json_text(j, "help", e->help);
  if (is(e, "menu")) {
    char word[64];
    cli_json_array(j, "menu");
    for (int i = 0; menu_word(e->menu, i, word, sizeof word); ++i) cli_json_text(j, NULL, word);
    cli_json_array_end(j);
  }
  if (is(e, "vector")) {
    cli_json_array(j, "default");
    for (int a = 0; a < 3; ++a) cli_json_number(j, NULL, e->default_value[a]);
    cli_json_array_end(j);
  } else {
    cli_json_number(j, "default", e->default_value[0]);
  }
  cli_json_number(j, "minimum", e->minimum);
  cli_json_number(j, "maximum", e->maximum);
  cli_json_number(j, "soft_maximum", e->soft_maximum);
  cli_json_bool(j, "scene", scene); /* a key of scene files as it stands */
  cli_json_object_end(j);
}

static void print_cell(const char *text) { /* a bar would end the table's cell */
  for (; *text; ++text) {
    if (*text == '|') putchar('\\');
    putchar(*text);
  }
}

static void print_markdown(const ooze_schema_entry *e, const char **group) {
  char value[128];
  if (!*group || strcmp(*group, e->group) != 0) {
    printf("%s## %s\n\n| name | type | unit | default | range | what it does "
           "|\n|---|---|---|---|---|---|\n",
           *group ? "\n" : "", e->group);
    *group = e->group;
  }
  default_text(e, value, sizeof value);
  printf("| `%s` | %s | %s | %s | ", e->name, e->type, e->unit, value);
  if (is(e, "menu"))
    print_cell(e->menu);
  else if (!is(e, "bool") && !is(e, "text") && !is(e, "file") && !is(e, "object"))
    printf("%g to %g", e->minimum, e->maximum);
  printf(" | ");
  print_cell(e->help);
  printf(" |\n");
}

/* Houdini's dialog scripts: of one node, or of all one after the other. */
static int print_dialogs(const char *wanted) {
  uint32_t only = UINT32_MAX;
  if (wanted && ooze_node_find(wanted, &only) != OOZE_OK) {
    cli_error("schema: there is no node '%s'; expected step, solver, source, surface or gasooze",
              wanted);
    return CLI_USAGE;
  }
  for (uint32_t i = 0; i < ooze_node_count(); ++i) {
    char *text = NULL;
    ooze_message why;
    if (wanted && i != only) continue;
    if (ooze_node_dialog(i, &text, &why) != OOZE_OK) {
      cli_error("%s", why.text);
      return CLI_MEMORY;
    }
    fputs(text, stdout);
    ooze_io_free(text);
  }
  return CLI_DONE;
}

#define NODE(kind, member) CLI_JSON_OF(kind, n, member)
#define PARM(kind, member) CLI_JSON_OF(kind, p, member)
static void print_nodes(int as_json) {
  cli_json j = {stdout, 0};
  if (as_json) cli_json_array(&j, NULL);
  for (uint32_t i = 0; i < ooze_node_count(); ++i) {
    ooze_node n;
    ooze_node_default(&n);
    if (ooze_node_get(i, &n) != OOZE_OK) continue;
    if (!as_json) printf("%s%s  %s\n  %s\n", i ? "\n" : "", n.type_name, n.label, n.help);
    if (as_json) {
      cli_json_object(&j, NULL);
      NODE(text, name), NODE(text, type_name), NODE(text, context), NODE(text, label),
          NODE(text, inputs), NODE(integer, min_inputs), NODE(integer, max_inputs),
          NODE(text, help);
      cli_json_array(&j, "parameters");
    }
    for (uint32_t k = 0; k < n.parm_count; ++k) {
      ooze_node_parm p;
      ooze_node_parm_default(&p);
      if (ooze_node_parm_get(i, k, &p) != OOZE_OK) continue;
      if (!as_json) {
        printf("  %-20s %-22s %-7s %s%s%s\n", p.token, p.label, p.type, p.help,
               p.unit[0] ? " In " : "", p.unit);
        continue;
      }
      cli_json_object(&j, NULL);
      PARM(text, folder), PARM(text, token), PARM(text, label), PARM(text, type), PARM(text, unit),
          PARM(text, help), PARM(text, menu), PARM(text, disable_when), PARM(text, group),
          PARM(text, field), PARM(text, default_text);
      cli_json_array(&j, "default");
      for (uint32_t c = 0; c < p.components; ++c) cli_json_number(&j, NULL, p.default_value[c]);
      cli_json_array_end(&j);
      PARM(number, minimum), PARM(number, maximum), PARM(number, soft_maximum);
      cli_json_object_end(&j);
    }
    if (as_json) {
      cli_json_array_end(&j);
      cli_json_object_end(&j);
    }
  }
  if (as_json) {
    cli_json_array_end(&j);
    putchar('\n');
  }
}
#undef NODE
#undef PARM

static void print_text(const ooze_schema_entry *e, const char **group) {
  char value[128];
  if (!*group || strcmp(*group, e->group) != 0) {
    printf("%s%s\n", *group ? "\n" : "", e->group);
    *group = e->group;
  }
  default_text(e, value, sizeof value);
  printf("  %-22s %-7s %-14s %s%s%s\n", e->name, e->type, value, e->help, e->unit[0] ? " In " : "",
         e->unit);
}

/* The solver's parameters and, where scenes can be read, the keys that only they have; one group
 * after the other. */
typedef struct listed {
  ooze_schema_entry entry;
  int scene; /* a key of scenes as it stands; else of the C API alone */
} listed;
static uint32_t gather(listed *out, uint32_t room) {
  static const char *const order[] = {"scene",   "solver",  "material", "fluid",
                                      "body",    "emitter", "collider", "output",
                                      "picture", "wedge",   "keyframes"};
  uint32_t count = 0;
  for (size_t g = 0; g <= sizeof order / sizeof order[0]; ++g)
    for (int scenes = 0; scenes < 2; ++scenes) {
      uint32_t entries = scenes ? ooze_scene_schema_count() : ooze_schema_count();
      for (uint32_t i = 0; i < entries && count < room; ++i) {
        ooze_schema_entry e;
        ooze_schema_entry_default(&e);
        ooze_result r = scenes ? ooze_scene_schema_get(i, &e) : ooze_schema_get(i, &e);
        if (r < 0) continue;
        size_t at = 0;
        while (at < sizeof order / sizeof order[0] && strcmp(order[at], e.group) != 0) ++at;
        if (at != g) continue;
        out[count].entry = e;
        out[count++].scene = scenes || ooze_scene_schema_takes(&e);
      }
    }
  return count;
}

/* Other values of a material that are not the default: yield stress, tension, heat. */
static void further_values(const ooze_material *m, char *out, size_t room) {
  static const char *const said[] = {"density", "viscosity", "relaxation_time", "compliance"};
  size_t at = 0;
  out[0] = 0;
  for (uint32_t k = 0; k < ooze_schema_count(); ++k) {
    ooze_schema_entry e;
    double value[4] = {0};
    int before = 0;
    ooze_schema_entry_default(&e);
    if (ooze_schema_get(k, &e) < 0 || strcmp(e.group, "material") != 0) continue;
    for (size_t n = 0; n < sizeof said / sizeof *said; ++n) before |= strcmp(said[n], e.name) == 0;
    if (before || ooze_schema_load("material", e.name, m, value) != OOZE_OK ||
        !memcmp(value, e.default_value, is(&e, "vector") ? 3 * sizeof *value : sizeof *value))
      continue;
    int n = is(&e, "vector") ? snprintf(out + at, room - at, "%s%s [%g, %g, %g]", at ? ", " : "",
                                        e.name, value[0], value[1], value[2])
                             : snprintf(out + at, room - at, "%s%s %g%s%s", at ? ", " : "", e.name,
                                        value[0], e.unit[0] ? " " : "", e.unit);
    if (n < 0 || (size_t)n >= room - at) break;
    at += (size_t)n;
  }
}

static void print_presets(int as_json, int markdown) {
  cli_json j = {stdout, 0};
  if (as_json) cli_json_array(&j, NULL);
  if (markdown)
    puts("## presets\n\n| name | density kg/m^3 | viscosity Pa s | relaxation time s | compliance "
         "1/Pa | also | about | source "
         "|\n|---|---|---|---|---|---|---|---|");
  else if (!as_json)
    puts("presets                kg/m^3     Pa s        s     1/Pa");
  for (uint32_t i = 0; i < ooze_preset_count(); ++i) {
    ooze_preset p;
    ooze_preset_default(&p);
    if (ooze_preset_get(i, &p) < 0) continue;
    const ooze_material *m = &p.material;
    /* not used beside viscosity */
    double compliance = m->viscosity > 0.0f ? 0.0 : (double)m->compliance;
    char also[600];
    further_values(m, also, sizeof also);
    if (as_json) {
      cli_json_object(&j, NULL);
      cli_json_text(&j, "name", p.name);
      cli_json_number(&j, "density", (double)m->density);
      cli_json_number(&j, "viscosity", (double)m->viscosity);
      cli_json_number(&j, "relaxation_time", (double)m->relaxation_time);
      cli_json_number(&j, "compliance", compliance);
      cli_json_number(&j, "temperature", (double)m->temperature);
      /* any other number of a material */
      for (uint32_t k = 0; k < ooze_schema_count(); ++k) {
        static const char *const said[] = {"density", "viscosity", "relaxation_time", "compliance",
                                           "temperature"};
        ooze_schema_entry e;
        double value[4];
        int before = 0;
        ooze_schema_entry_default(&e);
        if (ooze_schema_get(k, &e) < 0 || strcmp(e.group, "material") != 0 ||
            strcmp(e.type, "vector") == 0)
          continue;
        for (size_t n = 0; n < sizeof said / sizeof *said; ++n)
          before |= strcmp(said[n], e.name) == 0;
        if (!before && ooze_schema_load("material", e.name, m, value) == OOZE_OK)
          cli_json_number(&j, e.name, value[0]);
      }
      cli_json_text(&j, "about", p.about);
      cli_json_text(&j, "source", p.source);
      cli_json_object_end(&j);
    } else if (markdown) {
      printf("| `%s` | %g | %g | %g | %g | %s | %s | %s |\n", p.name, (double)m->density,
             (double)m->viscosity, (double)m->relaxation_time, compliance, also, p.about, p.source);
    } else {
      printf("  %-18s %8g %8g %8g %8g  %s\n", p.name, (double)m->density, (double)m->viscosity,
             (double)m->relaxation_time, compliance, p.about);
      if (also[0]) printf("  %-18s %s\n", "", also);
    }
  }
  if (as_json) {
    cli_json_array_end(&j);
    putchar('\n');
  }
}

/* A scene calls the group "collider" "colliders". */
static int same_group(const char *wanted, const char *group) {
  const size_t n = strlen(group);
  return strncmp(wanted, group, n) == 0 && (!wanted[n] || strcmp(wanted + n, "s") == 0);
}

int cli_schema(int argc, char **argv) {
  int as_json = 0, markdown = 0, ds = 0;
  size_t operands = 0;
  const char *wanted = NULL;
  const cli_option options[] = {
      {"json", 0, CLI_FLAG, &as_json, NULL, "as a JSON array", 0, 0},
      {"markdown", 0, CLI_FLAG, &markdown, NULL, "as Markdown tables", 0, 0},
      {"ds", 0, CLI_FLAG, &ds, NULL,
       "as Houdini dialog scripts: of all nodes, or of the one named in place of GROUP", 0, 0},
  };
  const cli_syntax syntax = {"ooze schema [GROUP] [--json|--markdown|--ds [NODE]]",
                             "Prints every parameter of the solver and every key of scene files: "
                             "group, name, type, unit, default, range and "
                             "what it does. Scene files, Houdini nodes, help and checks are made "
                             "from the same lists. GROUP keeps those of "
                             "one "
                             "group; `presets` prints the materials that scenes can name, `nodes` "
                             "the parameters of the Houdini nodes.",
                             options, sizeof options / sizeof options[0], NULL};
  int code = cli_parse(&syntax, argc, argv, &wanted, 1, &operands);
  if (code != CLI_PARSED) return code;
  if (as_json + markdown + ds > 1) {
    cli_error("schema: one of --json, --markdown and --ds at a time");
    return CLI_USAGE;
  }
  if (ds) return print_dialogs(operands ? wanted : NULL);
  if (operands && strcmp(wanted, "nodes") == 0) {
    print_nodes(as_json);
    return CLI_DONE;
  }
  if (operands && strcmp(wanted, "presets") == 0) {
    print_presets(as_json, markdown);
    return CLI_DONE;
  }
  cli_json j = {stdout, 0};
  const char *group = NULL;
  static listed entries[400];
  uint32_t shown = 0, count = gather(entries, sizeof entries / sizeof entries[0]);
  if (as_json) cli_json_array(&j, NULL);
  for (uint32_t i = 0; i < count; ++i) {
    ooze_schema_entry e = entries[i].entry;
    if (operands && !same_group(wanted, e.group)) continue;
    if (!as_json && !entries[i].scene) continue; /* scenes have another key for it */
    ++shown;
    if (as_json)
      print_json(&e, entries[i].scene, &j);
    else if (markdown)
      print_markdown(&e, &group);
    else
      print_text(&e, &group);
  }
  if (as_json) {
    cli_json_array_end(&j);
    putchar('\n');
  }
  if (!operands && !as_json) {
    puts("");
    print_presets(0, markdown);
  }
  if (operands && !shown) {
    cli_error("schema: there is no group '%s'; `ooze schema` names them all", wanted);
    return CLI_USAGE;
  }
  return CLI_DONE;
}
