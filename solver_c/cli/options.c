/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/edits.h"
#include "cli.h"

const char *cli_nearest(const char *text, cli_word_fn word, const void *context, size_t count) {
  const char *nearest = NULL;
  size_t length = strlen(text), best = length / 3 + 2; /* anything further is no help */
  for (size_t i = 0; i < count; ++i) {
    const char *candidate = word(context, i);
    size_t distance = oz_edits(text, candidate);
    /* A beginning of a word is near to it, however long the rest. */
    if (length >= 2 && strncmp(text, candidate, length) == 0 && distance > 1) distance = 1;
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

void cli_no_such(const char *command, const char *kind, const char *name, cli_word_fn word,
                 size_t count) {
  const char *near = cli_nearest(name, word, NULL, count);
  if (near)
    cli_error("%s: there is no %s '%s'; did you mean %s?", command, kind, name, near);
  else
    cli_error("%s: there is no %s '%s'; `ooze %s --list` names them", command, kind, name, command);
}

static const char *option_word(const void *context, size_t index) {
  return ((const cli_option *)context)[index].name;
}

/* The index of `text` among the words of "a|b|c", or -1. */
static int choice_index(const char *choices, const char *text) {
  size_t length = strlen(text);
  int index = 0;
  for (const char *at = choices;; ++index) {
    const char *end = strchr(at, '|');
    size_t n = end ? (size_t)(end - at) : strlen(at);
    if (n == length && strncmp(at, text, n) == 0) return index;
    if (!end) return -1;
    at = end + 1;
  }
}

static int set_value(const cli_option *o, const char *text) {
  char *end = NULL;
  switch (o->kind) {
  case CLI_FLAG:
    break;
  case CLI_TEXT:
    *(const char **)o->value = text;
    return CLI_PARSED;
  case CLI_LIST: {
    cli_list *list = o->value;
    if (list->count == CLI_LIST_MOST) {
      cli_error("--%s: given more than %d times", o->name, CLI_LIST_MOST);
      return CLI_USAGE;
    }
    list->item[list->count++] = text;
    return CLI_PARSED;
  }
  case CLI_COUNT:
  case CLI_NUMBER: {
    errno = 0;
    double x = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(x) || (o->kind == CLI_COUNT && x != floor(x))) {
      cli_error("--%s: '%s' is not a %snumber", o->name, text,
                o->kind == CLI_COUNT ? "whole " : "");
      return CLI_USAGE;
    }
    if (x < o->low || x > o->high) {
      cli_error("--%s: %s is out of range; %g to %g would fit", o->name, text, o->low, o->high);
      return CLI_USAGE;
    }
    if (o->kind == CLI_COUNT)
      *(uint32_t *)o->value = (uint32_t)x;
    else
      *(double *)o->value = x;
    return CLI_PARSED;
  }
  case CLI_CHOICE: {
    int index = choice_index(o->argument, text);
    if (index < 0) {
      cli_error("--%s: there is no '%s'; one of %s would fit", o->name, text, o->argument);
      return CLI_USAGE;
    }
    *(uint32_t *)o->value = (uint32_t)index;
    return CLI_PARSED;
  }
  }
  return CLI_USAGE;
}

/* The option that a word such as --name, --name=value, -n or -nvalue names, and the value in it. */
static const cli_option *option_of(const cli_syntax *syntax, const char *word, const char **value) {
  const cli_option *found = NULL;
  if (word[1] == '-') {
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    for (size_t k = 0; k < syntax->option_count; ++k)
      if (strlen(syntax->options[k].name) == length &&
          strncmp(syntax->options[k].name, word + 2, length) == 0)
        found = &syntax->options[k];
    *value = equals ? equals + 1 : NULL;
  } else {
    for (size_t k = 0; k < syntax->option_count; ++k)
      if (syntax->options[k].letter && syntax->options[k].letter == word[1])
        found = &syntax->options[k];
    *value = word[2] ? word + 2 : NULL;
  }
  return found;
}

static void refuse_option(const cli_syntax *syntax, const char *command, const char *word) {
  char name[64];
  size_t dashes = word[1] == '-' ? 2 : 1;
  snprintf(name, sizeof name, "%s", word + dashes);
  if (strchr(name, '=')) *strchr(name, '=') = 0;
  const char *near = cli_nearest(name, option_word, syntax->options, syntax->option_count);
  if (near)
    cli_error("%s: there is no option '%s'; did you mean --%s?", command, word, near);
  else
    cli_error("%s: there is no option '%s'; `ooze %s --help` lists them", command, word, command);
}

int cli_parse(const cli_syntax *syntax, int argc, char **argv, const char **operands,
              size_t capacity, size_t *count) {
  int only_operands = 0;
  *count = 0;
  for (int i = 1; i < argc; ++i) {
    const char *word = argv[i];
    if (only_operands || word[0] != '-' || word[1] == 0) {
      if (*count == capacity) {
        cli_error("%s: one argument too many: '%s'", argv[0], word);
        fprintf(stderr, "usage: %s\n", syntax->usage);
        return CLI_USAGE;
      }
      operands[(*count)++] = word;
      continue;
    }
    if (strcmp(word, "--") == 0) {
      only_operands = 1;
      continue;
    }
    if (i == 1 && strncmp(word, "--describe=", 11) == 0 && /* of manual.c, not of a user */
        cli_describe(syntax, argv[0], word + 11))
      return CLI_DONE;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      cli_help(syntax, stdout);
      return CLI_DONE;
    }
    const char *value = NULL;
    const cli_option *found = option_of(syntax, word, &value);
    if (!found) {
      refuse_option(syntax, argv[0], word);
      return CLI_USAGE;
    }
    if (found->kind == CLI_FLAG) {
      if (value) {
        cli_error("%s: --%s takes no value", argv[0], found->name);
        return CLI_USAGE;
      }
      *(int *)found->value = 1;
      continue;
    }
    if (!value) {
      if (i + 1 == argc) {
        cli_error("%s: --%s needs a value: %s", argv[0], found->name, found->argument);
        return CLI_USAGE;
      }
      value = argv[++i];
    }
    int code = set_value(found, value);
    if (code != CLI_PARSED) return code;
  }
  return CLI_PARSED;
}

/* Text broken at blanks so that lines end before column 100; `column` is where the cursor stands
 * now. */
static void print_wrapped(FILE *out, const char *text, size_t indent, size_t column) {
  while (*text) {
    size_t n = strcspn(text, " \n");
    if (column > indent && column + 1 + n > 100) {
      fprintf(out, "\n%*s", (int)indent, "");
      column = indent;
    } else if (column > indent) {
      fputc(' ', out);
      ++column;
    }
    fwrite(text, 1, n, out);
    column += n;
    text += n;
    if (*text == '\n') {
      fprintf(out, "\n%*s", (int)indent, "");
      column = indent;
    }
    if (*text) ++text;
  }
  fputc('\n', out);
}

void cli_help(const cli_syntax *syntax, FILE *out) {
  enum { COLUMN = 30 };
  fprintf(out, "usage: %s\n\n", syntax->usage);
  print_wrapped(out, syntax->about, 0, 0);
  if (syntax->option_count) fputs("\noptions:\n", out);
  for (size_t k = 0; k <= syntax->option_count && syntax->option_count; ++k) {
    static const cli_option help = {"help", 'h', CLI_FLAG, NULL, NULL, "print this and leave",
                                    0,      0};
    const cli_option *o = k < syntax->option_count ? &syntax->options[k] : &help;
    char left[128];
    int n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                      : snprintf(left, sizeof left, "      --%s", o->name);
    if (o->kind != CLI_FLAG) n += snprintf(left + n, sizeof left - (size_t)n, " %s", o->argument);
    fputs(left, out);
    if (n >= COLUMN - 1)
      fprintf(out, "\n%*s", COLUMN, "");
    else
      fprintf(out, "%*s", COLUMN - n, "");
    print_wrapped(out, o->help, COLUMN, COLUMN);
  }
  if (syntax->more) {
    fputc('\n', out);
    fputs(syntax->more, out);
  }
}
