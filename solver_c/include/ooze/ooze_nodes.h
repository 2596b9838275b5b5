/* Ooze nodes: the parameters of the Houdini nodes as data. SPDX-License-Identifier: Apache-2.0
 *
 * One list feeds the nodes' dialogs, their help pages, `ooze schema --ds` and the tests that
 * compare them. Parameters of the solver come from ooze_schema_get; parameters of a node alone
 * (Start Frame, Material Preset, ...) is in scene/nodes.def. */
#ifndef OOZE_OOZE_NODES_H
#define OOZE_OOZE_NODES_H

#include "ooze/ooze_scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ooze_node {
  uint32_t size;
  uint32_t min_inputs, max_inputs;
  uint32_t parm_count;
  const char *name;      /* "step", "solver", "source", "surface", "gasooze" */
  const char *type_name; /* "ooze::solver::1.0", "gasooze" */
  const char *context;   /* "sop" or "dop" */
  const char *label;     /* "Ooze Solver" */
  const char *inputs;    /* "Sources|Colliders|Initial State" */
  const char *help;      /* a sentence */
} ooze_node;

typedef struct ooze_node_parm {
  uint32_t size;
  uint32_t components; /* of the value: 1 to 4; 0 for a button */
  char folder[48];     /* label of the folder that it is in; "" before the first */
  char token[48];      /* the parameter's name in Houdini: "particlesep" */
  char menu[896];      /* "token=Label|token=Label" for "menu" and "choice", else "" */
  const char *label;
  /* "float", "int", "toggle", "menu" (its number counts), "choice" (its token counts), "vector",
   * "text", "button" */
  const char *type;
  const char *unit;         /* "" if none */
  const char *help;         /* a sentence or two */
  const char *disable_when; /* Houdini's condition, without the outer braces; "" if never */
  /* "solver", "material", ... where it is a parameter of the solver, else "" */
  const char *group;
  const char *field;        /* and its name there */
  const char *default_text; /* of "text" and "choice", else "" */
  double default_value[4];
  double minimum, maximum; /* refused outside */
  double soft_maximum;     /* a slider's end */
  /* Houdini's condition, as disable_when: parameters of one model are hidden in the others */
  char hide_when[48];
} ooze_node_parm;

OOZE_API uint32_t ooze_node_count(void);
OOZE_API ooze_result ooze_node_get(uint32_t index, ooze_node *out);
OOZE_API ooze_result ooze_node_find(const char *name, uint32_t *out_index);
OOZE_API ooze_result ooze_node_parm_get(uint32_t node, uint32_t index, ooze_node_parm *out);
/* The node's dialog script with a zero at its end; NOT_FOUND for an unknown node. Free it with
 * ooze_io_free. */
OOZE_API ooze_result ooze_node_dialog(uint32_t node, char **out, ooze_message *why);

static inline void ooze_node_default(ooze_node *n) { OOZE_CLEAR(n); }
static inline void ooze_node_parm_default(ooze_node_parm *p) { OOZE_CLEAR(p); }

#ifdef __cplusplus
}
#endif
#endif
