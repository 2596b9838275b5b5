/* ooze schema: every parameter, from the one list in the library. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "options.h"
#ifdef OOZE_HAVE_IO
#include "ooze/ooze_scene.h"
#endif

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

static void print_json(const ooze_schema_entry *e, json *j) {
  json_object(j, NULL);
  json_text(j, "group", e->group);
  json_text(j, "name", e->name);
  json_text(j, "type", e->type);
  json_text(j, "unit", e->unit);
  json_text(j, "label", e->label);
  json_text(j, "help", e->help);
  if (is(e, "menu")) {
    char word[64];
    json_array(j, "menu");
    for (int i = 0; menu_word(e->menu, i, word, sizeof word); ++i) json_text(j, NULL, word);
    json_array_end(j);
  }
  if (is(e, "vector")) {
    json_array(j, "default");
    for (int a = 0; a < 3; ++a) json_number(j, NULL, e->default_value[a]);
    json_array_end(j);
  } else {
    json_number(j, "default", e->default_value[0]);
  }
  json_number(j, "minimum", e->minimum);
  json_number(j, "maximum", e->maximum);
  json_number(j, "soft_maximum", e->soft_maximum);
  json_object_end(j);
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
    printf("%s## %s\n\n| name | type | unit | default | range | what it does |\n|---|---|---|---|---|---|\n",
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

static void print_quoted(const char *text) {
  putchar('"');
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    putchar(*text);
  }
  putchar('"');
}

/* Houdini's dialog script: what a node's parameter interface is made of. */
static void print_ds(const ooze_schema_entry *e, const char **group) {
  if (!*group || strcmp(*group, e->group) != 0) {
    if (*group) puts("}");
    printf("group {\n    name    ");
    print_quoted(e->group);
    printf("\n    label   ");
    print_quoted(e->group);
    putchar('\n');
    *group = e->group;
  }
  printf("    parm {\n        name    ");
  print_quoted(e->name);
  printf("\n        label   ");
  print_quoted(e->label);
  printf("\n        type    %s\n", is(e, "bool")     ? "toggle"
                                   : is(e, "int")    ? "integer"
                                   : is(e, "vector") ? "vector"
                                   : is(e, "menu")   ? "ordinal"
                                                     : "float");
  if (is(e, "vector"))
    printf("        size    3\n        default { \"%g\" \"%g\" \"%g\" }\n", e->default_value[0], e->default_value[1],
           e->default_value[2]);
  else
    printf("        default { \"%g\" }\n", e->default_value[0]);
  if (is(e, "menu")) {
    char word[64];
    puts("        menu {");
    for (int i = 0; menu_word(e->menu, i, word, sizeof word); ++i) {
      printf("            ");
      print_quoted(word);
      putchar(' ');
      print_quoted(word);
      putchar('\n');
    }
    puts("        }");
  } else if (!is(e, "bool")) { /* the lower end is firm, the upper one a slider's */
    printf("        range   { %g! %g }\n", e->minimum, e->soft_maximum);
  }
  printf("        help    ");
  print_quoted(e->help);
  puts("\n    }");
}

static void print_text(const ooze_schema_entry *e, const char **group) {
  char value[128];
  if (!*group || strcmp(*group, e->group) != 0) {
    printf("%s%s\n", *group ? "\n" : "", e->group);
    *group = e->group;
  }
  default_text(e, value, sizeof value);
  printf("  %-22s %-7s %-14s %s%s%s\n", e->name, e->type, value, e->help, e->unit[0] ? " In " : "", e->unit);
}

/* The solver's parameters and, where scenes can be read, the keys that only they have; one group after the other. */
static uint32_t gather(ooze_schema_entry *out, uint32_t room, int solver_alone) {
  static const char *const order[] = {"scene",    "solver", "material", "fluid", "emitter",
                                      "collider", "output", "picture",  "wedge", "keyframes"};
  uint32_t count = 0;
  for (size_t g = 0; g <= sizeof order / sizeof order[0]; ++g)
    for (int scenes = 0; scenes < 2; ++scenes) {
      uint32_t entries = scenes ? 0 : ooze_schema_count();
#ifdef OOZE_HAVE_IO
      if (scenes && !solver_alone) entries = ooze_scene_schema_count();
#else
      (void)solver_alone;
#endif
      for (uint32_t i = 0; i < entries && count < room; ++i) {
        ooze_schema_entry e;
        ooze_schema_entry_default(&e);
        ooze_result r = scenes ? OOZE_ERROR_NOT_FOUND : ooze_schema_get(i, &e);
#ifdef OOZE_HAVE_IO
        if (scenes) r = ooze_scene_schema_get(i, &e);
#endif
        if (r < 0) continue;
        size_t at = 0;
        while (at < sizeof order / sizeof order[0] && strcmp(order[at], e.group) != 0) ++at;
        if (at == g) out[count++] = e;
      }
    }
  return count;
}

#ifdef OOZE_HAVE_IO
static void print_presets(int as_json, int markdown) {
  json j = {stdout, 0};
  if (as_json) json_array(&j, NULL);
  if (markdown)
    puts(
        "## presets\n\n| name | density kg/m^3 | viscosity Pa s | relaxation time s | compliance 1/Pa | about | source "
        "|\n|---|---|---|---|---|---|---|");
  else if (!as_json)
    puts("presets                kg/m^3     Pa s        s     1/Pa");
  for (uint32_t i = 0; i < ooze_preset_count(); ++i) {
    ooze_preset p;
    ooze_preset_default(&p);
    if (ooze_preset_get(i, &p) < 0) continue;
    const ooze_material *m = &p.material;
    double compliance = m->viscosity > 0.0f ? 0.0 : (double)m->compliance; /* not used beside viscosity */
    if (as_json) {
      json_object(&j, NULL);
      json_text(&j, "name", p.name);
      json_number(&j, "density", (double)m->density);
      json_number(&j, "viscosity", (double)m->viscosity);
      json_number(&j, "relaxation_time", (double)m->relaxation_time);
      json_number(&j, "compliance", compliance);
      json_number(&j, "temperature", (double)m->temperature);
      json_text(&j, "about", p.about);
      json_text(&j, "source", p.source);
      json_object_end(&j);
    } else if (markdown) {
      printf("| `%s` | %g | %g | %g | %g | %s | %s |\n", p.name, (double)m->density, (double)m->viscosity,
             (double)m->relaxation_time, compliance, p.about, p.source);
    } else {
      printf("  %-18s %8g %8g %8g %8g  %s\n", p.name, (double)m->density, (double)m->viscosity,
             (double)m->relaxation_time, compliance, p.about);
    }
  }
  if (as_json) {
    json_array_end(&j);
    putchar('\n');
  }
}
#endif

int cli_schema(int argc, char **argv) {
  int as_json = 0, markdown = 0, ds = 0;
  size_t operands = 0;
  const char *wanted = NULL;
  const cli_option options[] = {
      {"json", 0, CLI_FLAG, &as_json, NULL, "as a JSON array", 0, 0},
      {"markdown", 0, CLI_FLAG, &markdown, NULL, "as Markdown tables", 0, 0},
      {"ds", 0, CLI_FLAG, &ds, NULL, "as a Houdini dialog script", 0, 0},
  };
  const cli_syntax syntax = {
      "ooze schema [GROUP] [--json|--markdown|--ds]",
      "Prints every parameter of the solver and every key of scene files: group, name, type, unit, default, range and "
      "what it does. Scene files, Houdini nodes, help and checks are made from the same lists. GROUP keeps those of "
      "one "
      "group; `presets` prints the materials that scenes can name. --ds has the solver's alone.",
      options, sizeof options / sizeof options[0], NULL};
  int code = cli_parse(&syntax, argc, argv, &wanted, 1, &operands);
  if (code != CLI_PARSED) return code;
  if (as_json + markdown + ds > 1) {
    cli_error("schema: one of --json, --markdown and --ds at a time");
    return CLI_USAGE;
  }
#ifdef OOZE_HAVE_IO
  if (operands && strcmp(wanted, "presets") == 0 && !ds) {
    print_presets(as_json, markdown);
    return CLI_DONE;
  }
#endif
  json j = {stdout, 0};
  const char *group = NULL;
  static ooze_schema_entry entries[400];
  uint32_t shown = 0, count = gather(entries, sizeof entries / sizeof entries[0], ds);
  if (as_json) json_array(&j, NULL);
  for (uint32_t i = 0; i < count; ++i) {
    ooze_schema_entry e = entries[i];
    if (operands && strcmp(wanted, e.group) != 0) continue;
    ++shown;
    if (as_json)
      print_json(&e, &j);
    else if (markdown)
      print_markdown(&e, &group);
    else if (ds)
      print_ds(&e, &group);
    else
      print_text(&e, &group);
  }
  if (as_json) {
    json_array_end(&j);
    putchar('\n');
  }
  if (ds && group) puts("}");
#ifdef OOZE_HAVE_IO
  if (!operands && !as_json && !ds) {
    puts("");
    print_presets(0, markdown);
  }
#endif
  if (operands && !shown) {
    cli_error("schema: there is no group '%s'; `ooze schema` names them all", wanted);
    return CLI_USAGE;
  }
  return CLI_DONE;
}
