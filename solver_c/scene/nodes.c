/* The parameters of the Houdini nodes, from nodes.def and the solver's schema.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The list of a node is worked out when it is asked for: rows of nodes.def in turn, of which one
 * (OZ_REST) stands for many. */
#include "geo/geo_internal.h"
#include "ooze/ooze_nodes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum row_kind { ROW_NODE, ROW_FOLDER, ROW_TAKE, ROW_REST, ROW_PARM } row_kind;
typedef struct row {
  row_kind kind;
  const char *a, *b, *c, *d, *e, *f; /* see below */
  double value[4], low, high, soft;
  const char *when, *help;
} row;

#define OZ_NODE(name, type, context, label, lo, hi, inputs, help) \
  {ROW_NODE, name, type, context, label, inputs, "", {lo, hi, 0, 0}, 0, 0, 0, "", help},
#define OZ_FOLDER(label) {ROW_FOLDER, label, "", "", "", "", "", {0, 0, 0, 0}, 0, 0, 0, "", ""},
#define OZ_TAKE(group, field, token, when) \
  {ROW_TAKE, #group, #field, token, "", "", "", {0, 0, 0, 0}, 0, 0, 0, when, ""},
#define OZ_REST(group) {ROW_REST, #group, "", "", "", "", "", {0, 0, 0, 0}, 0, 0, 0, "", ""},
#define OZ_PARM(...) OZ_PARM_(__VA_ARGS__) /* first the default's four numbers are told apart */
#define OZ_PARM_(token, type, unit, label, menu, text, d0, d1, d2, d3, lo, hi, soft, when, help) \
  {ROW_PARM, token, type, unit, label, menu, text, {d0, d1, d2, d3}, lo, hi, soft, when, help},
static const row rows[] = {
#include "nodes.def"
};
enum { ROWS = (int)(sizeof rows / sizeof rows[0]) };

/* ---- Words ------------------------------------------------------------------------------- */

static void token_of(const char *field, char *to, size_t room) {
  size_t n = 0;
  for (; *field && n + 1 < room; ++field)
    if (*field != '_' && *field != '.') to[n++] = *field;
  to[n] = 0;
}

/* whipped_cream: Whipped Cream */
static void title(char *to, size_t room, const char *from, size_t length) {
  size_t n = 0;
  int first = 1;
  for (size_t i = 0; i < length && n + 1 < room; ++i) {
    char c = from[i] == '_' ? ' ' : from[i];
    to[n++] = first ? (char)toupper((unsigned char)c) : c;
    first = c == ' ';
  }
  to[n] = 0;
}

/* "a|b" with labels: "a=A|b=B". An entry that does not fit is left out whole; a test counts them.
 */
static void menu_of(const char *plain, char *to, size_t room) {
  char label[64];
  size_t at = 0;
  to[0] = 0;
  for (const char *from = plain; *from;) {
    size_t length = strcspn(from, "|");
    title(label, sizeof label, from, length);
    int n = snprintf(to + at, room - at, "%s%.*s=%s", at ? "|" : "", (int)length, from, label);
    if (n < 0 || (size_t)n >= room - at) {
      to[at] = 0;
      return;
    }
    at += (size_t)n;
    from += length + (from[length] == '|');
  }
}

static void presets(char *to, size_t room) {
  char text[896] = "custom";
  for (uint32_t i = 0; i < ooze_preset_count(); i++) {
    ooze_preset p;
    size_t at = strlen(text);
    ooze_preset_default(&p);
    if (ooze_preset_get(i, &p) == OOZE_OK) snprintf(text + at, sizeof text - at, "|%s", p.name);
  }
  menu_of(text, to, room);
}

/* ---- The list of a node ---------------------------------------------------------------------
 */

static const row *node_row(uint32_t node) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].kind == ROW_NODE && node-- == 0) return &rows[i];
  return NULL;
}
static const row *node_end(const row *head) {
  const row *r = head + 1;
  while (r < rows + ROWS && r->kind != ROW_NODE) r++;
  return r;
}

static int schema_find(const char *group, const char *field, ooze_schema_entry *out) {
  for (uint32_t i = 0; i < ooze_schema_count(); i++) {
    ooze_schema_entry_default(out);
    if (ooze_schema_get(i, out) == OOZE_OK && !strcmp(out->group, group) &&
        !strcmp(out->name, field))
      return 1;
  }
  return 0;
}

static void from_schema(const ooze_schema_entry *e, ooze_node_parm *p) {
  int vector = !strcmp(e->type, "vector"), quaternion = !strcmp(e->type, "quaternion");
  p->components = vector ? 3 : quaternion ? 4 : 1;
  p->label = e->label;
  p->type = !strcmp(e->type, "bool") ? "toggle" : quaternion ? "float" : e->type;
  p->unit = e->unit;
  p->help = e->help;
  menu_of(e->menu, p->menu, sizeof p->menu);
  p->group = e->group;
  p->field = e->name;
  memcpy(p->default_value, e->default_value, sizeof p->default_value);
  p->minimum = e->minimum;
  p->maximum = e->maximum;
  p->soft_maximum = e->soft_maximum;
}

/* A node with a menu of presets begins with the numbers of the one that the menu begins with. */
static void from_preset(const row *head, const row *end, ooze_node_parm *p) {
  ooze_preset preset;
  double value[4];
  if (strcmp(p->group, "material") != 0) return;
  for (const row *r = head; r < end; r++) {
    if (r->kind != ROW_PARM || strcmp(r->e, "@presets") != 0) continue;
    ooze_preset_default(&preset);
    if (ooze_preset_find(r->f, &preset) == OOZE_OK &&
        ooze_schema_load("material", p->field, &preset.material, value) == OOZE_OK)
      for (uint32_t k = 0; k < p->components; k++) p->default_value[k] = value[k];
  }
}

/* The folder of a model's own parameter, and when it is hidden: that of the model whose word its
 * name begins with. */
static void model_folder(const char *field, const char *otherwise, char to[48], char hide[48]) {
  ooze_schema_entry e;
  snprintf(to, 48, "%s", otherwise);
  if (!schema_find("solver", "model", &e)) return;
  for (const char *word = e.menu; *word;) {
    size_t length = strcspn(word, "|");
    if (!strncmp(field, word, length) && field[length] == '_') {
      title(to, 48, word, length);
      snprintf(hide, 48, "model != %.*s", (int)length, word);
    }
    word += length + (word[length] == '|');
  }
}

static int taken(const row *head, const row *end, const ooze_schema_entry *e) {
  for (const row *r = head; r < end; r++)
    if (r->kind == ROW_TAKE && !strcmp(r->a, e->group) && !strcmp(r->b, e->name)) return 1;
  return 0;
}

typedef int (*each_fn)(void *user, const ooze_node_parm *parm); /* non-zero stops */

static void blank(ooze_node_parm *p) {
  ooze_node_parm_default(p);
  p->label = p->type = p->unit = p->help = "";
  p->disable_when = p->group = p->field = p->default_text = "";
}

/* The rest of a group: parameters of no model first, then folder by folder. */
static int rest(const row *head, const row *end, const char *group, const char *folder,
                each_fn each, void *user) {
  char done[32][48];
  uint32_t folders = 1, count = ooze_schema_count();
  snprintf(done[0], sizeof done[0], "%s", folder);
  for (uint32_t f = 0; f < folders; f++)
    for (uint32_t i = 0; i < count; i++) {
      ooze_schema_entry e;
      ooze_schema_entry_default(&e);
      if (ooze_schema_get(i, &e) != OOZE_OK || strcmp(e.group, group) != 0 || taken(head, end, &e))
        continue;
      ooze_node_parm p;
      blank(&p);
      model_folder(e.name, folder, p.folder, p.hide_when);
      if (strcmp(group, "solver") != 0) p.hide_when[0] = 0; /* where there is a model to choose */
      uint32_t at = 0;
      while (at < folders && strcmp(done[at], p.folder) != 0) at++;
      if (at == folders && folders < sizeof done / sizeof done[0])
        memcpy(done[folders++], p.folder, sizeof done[0]);
      if (at != f) continue;
      from_schema(&e, &p);
      from_preset(head, end, &p);
      token_of(e.name, p.token, sizeof p.token);
      if (each(user, &p)) return 1;
    }
  return 0;
}

static void walk(uint32_t node, each_fn each, void *user) {
  const row *head = node_row(node), *end = head ? node_end(head) : NULL;
  const char *folder = "";
  for (const row *r = head ? head + 1 : NULL; r && r < end; r++) {
    ooze_node_parm p;
    ooze_schema_entry e;
    blank(&p);
    snprintf(p.folder, sizeof p.folder, "%s", folder);
    p.disable_when = r->when;
    switch (r->kind) {
    case ROW_FOLDER:
      folder = r->a;
      continue;
    case ROW_REST:
      if (rest(head, end, r->a, folder, each, user)) return;
      continue;
    case ROW_TAKE:
      if (!schema_find(r->a, r->b, &e)) continue;
      from_schema(&e, &p);
      from_preset(head, end, &p);
      token_of(r->c[0] ? r->c : r->b, p.token, sizeof p.token);
      break;
    default:
      snprintf(p.token, sizeof p.token, "%s", r->a);
      p.type = r->b, p.unit = r->c, p.label = r->d, p.default_text = r->f, p.help = r->help;
      snprintf(p.menu, sizeof p.menu, "%s", r->e);
      if (!strcmp(r->e, "@presets")) presets(p.menu, sizeof p.menu);
      p.components = !strcmp(r->b, "vector") ? 3 : !strcmp(r->b, "button") ? 0 : 1;
      memcpy(p.default_value, r->value, sizeof p.default_value);
      p.minimum = r->low, p.maximum = r->high, p.soft_maximum = r->soft;
    }
    if (each(user, &p)) return;
  }
}

typedef struct pick {
  uint32_t left, count;
  ooze_node_parm parm;
  int found;
} pick;
static int pick_one(void *user, const ooze_node_parm *parm) {
  pick *k = user;
  k->count++;
  if (k->left--) return 0;
  k->parm = *parm;
  return k->found = 1;
}

uint32_t ooze_node_count(void) {
  uint32_t n = 0;
  while (node_row(n)) n++;
  return n;
}

ooze_result ooze_node_get(uint32_t index, ooze_node *out) {
  const row *head = node_row(index);
  pick k = {UINT32_MAX, 0, {0}, 0};
  ooze_node n;
  if (!out || !head) return OOZE_ERROR_NOT_FOUND;
  walk(index, pick_one, &k);
  ooze_node_default(&n);
  n.name = head->a, n.type_name = head->b, n.context = head->c, n.label = head->d,
  n.inputs = head->e, n.help = head->help;
  n.min_inputs = (uint32_t)head->value[0], n.max_inputs = (uint32_t)head->value[1];
  n.parm_count = k.count;
  return oz_struct_out(out, &n, sizeof n);
}

ooze_result ooze_node_find(const char *name, uint32_t *out_index) {
  const row *head;
  for (uint32_t i = 0; name && out_index && (head = node_row(i)); i++)
    if (strcmp(head->a, name) == 0) {
      *out_index = i;
      return OOZE_OK;
    }
  return OOZE_ERROR_NOT_FOUND;
}

ooze_result ooze_node_parm_get(uint32_t node, uint32_t index, ooze_node_parm *out) {
  pick k = {index, 0, {0}, 0};
  if (!out) return OOZE_ERROR_ARGUMENT;
  walk(node, pick_one, &k);
  return k.found ? oz_struct_out(out, &k.parm, sizeof k.parm) : OOZE_ERROR_NOT_FOUND;
}
