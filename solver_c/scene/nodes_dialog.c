/* Houdini's dialog script of a node, the source of its parameter interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include "geo/geo_internal.h"
#include "ooze/ooze_nodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct script {
  char *text;
  size_t at, room;
  int failed;
} script;

OZ_PRINTF(2, 3) static void put(script *s, const char *format, ...) {
  va_list args;
  if (s->failed) return;
  if (s->room - s->at < 4096) { /* longer than any line below */
    char *more = realloc(s->text, s->room + 65536);
    if (!more) {
      s->failed = 1;
      return;
    }
    s->text = more;
    s->room += 65536;
  }
  va_start(args, format);
  int n = vsnprintf(s->text + s->at, s->room - s->at, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= s->room - s->at)
    s->failed = 1;
  else
    s->at += (size_t)n;
}

static void quoted(script *s, const char *text, size_t length) {
  put(s, "\"");
  for (size_t i = 0; i < length; ++i)
    put(s, text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
  put(s, "\"");
}

static int is(const ooze_node_parm *p, const char *type) { return strcmp(p->type, type) == 0; }

static void put_line(script *s, const char *key, const char *text) {
  put(s, "        %-7s ", key);
  quoted(s, text, strlen(text));
  put(s, "\n");
}

/* Ends that no practical value reaches are left to the slider. */
static void range(script *s, const ooze_node_parm *p) {
  put(s, "        range   { %.9g! %.9g%s }\n", p->minimum > -1e30 ? p->minimum : -p->soft_maximum,
      p->soft_maximum, p->soft_maximum >= p->maximum ? "!" : "");
}

static void parameter(script *s, const ooze_node_parm *p) {
  const char *type = is(p, "int")      ? "integer"
                     : is(p, "menu")   ? "ordinal"
                     : is(p, "choice") ? "string"
                     : is(p, "text")   ? "string"
                                       : p->type;
  put(s, "    parm {\n");
  put_line(s, "name", p->token);
  put_line(s, "label", p->label);
  put(s, "        type    %s\n", type);
  if (p->components > 1) put(s, "        size    %u\n", (unsigned)p->components);
  put(s, "        default {");
  for (uint32_t k = 0; k < (p->components ? p->components : 1); ++k) {
    if (is(p, "choice") || is(p, "text")) {
      put(s, " ");
      quoted(s, p->default_text, strlen(p->default_text));
    } else {
      put(s, " \"%.7g\"", p->default_value[k]);
    }
  }
  put(s, " }\n");
  if (p->menu[0]) {
    put(s, "        menu {\n");
    for (const char *at = p->menu; *at;) {
      size_t length = strcspn(at, "|"), token = strcspn(at, "=|");
      put(s, "            ");
      quoted(s, at, token);
      put(s, " ");
      if (token < length)
        quoted(s, at + token + 1, length - token - 1);
      else
        quoted(s, at, length);
      put(s, "\n");
      at += length + (at[length] == '|');
    }
    put(s, "        }\n");
  } else if (is(p, "int") || is(p, "float") || is(p, "vector")) {
    range(s, p);
  }
  if (p->disable_when[0]) put(s, "        disablewhen \"{ %s }\"\n", p->disable_when);
  if (p->hide_when[0]) put(s, "        hidewhen \"{ %s }\"\n", p->hide_when);
  put(s, "        help    ");
  char text[1024];
  snprintf(text, sizeof text, "%s%s%s%s", p->help, p->unit[0] ? " In " : "", p->unit,
           p->unit[0] ? "." : "");
  quoted(s, text, strlen(text));
  put(s, "\n    }\n");
}

ooze_result ooze_node_dialog(uint32_t node, char **out, ooze_message *why) {
  ooze_node info;
  script s = {NULL, 0, 0, 0};
  char folder[48] = "";
  if (!out) return oz_fail(why, OOZE_ERROR_ARGUMENT, "ooze_node_dialog: out is NULL");
  *out = NULL;
  ooze_node_default(&info);
  if (ooze_node_get(node, &info) != OOZE_OK)
    return oz_fail(why, OOZE_ERROR_NOT_FOUND, "there is no node %u; expected 0 to %u", node,
                   ooze_node_count() - 1);
  put(&s, "{\n    name    parameters\n");
  for (uint32_t i = 0; i < info.parm_count; ++i) {
    ooze_node_parm p;
    ooze_node_parm_default(&p);
    if (ooze_node_parm_get(node, i, &p) != OOZE_OK) continue;
    if (strcmp(folder, p.folder) != 0) {
      char name[64];
      size_t n = 0;
      for (const char *c = p.folder; *c && n + 1 < sizeof name; ++c)
        if (*c != ' ') name[n++] = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
      name[n] = 0;
      if (folder[0]) put(&s, "    }\n");
      put(&s, "    group {\n        name    \"folder_%s\"\n", name);
      put_line(&s, "label", p.folder);
      /* a model's folder has its parameters alone */
      if (p.hide_when[0]) put(&s, "        hidewhen \"{ %s }\"\n", p.hide_when);
      memcpy(folder, p.folder, sizeof folder);
    }
    parameter(&s, &p);
  }
  put(&s, "%s}\n", folder[0] ? "    }\n" : "");
  if (s.failed) {
    free(s.text);
    return oz_fail(why, OOZE_ERROR_MEMORY, "out of memory for the dialog of %s", info.name);
  }
  *out = s.text;
  return OOZE_OK;
}
