/* A small option parser: one table per subcommand gives parsing, checking, help and suggestions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_OPTIONS_H
#define OOZE_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum cli_kind {
  CLI_FLAG,   /* value: int *, set to 1 */
  CLI_TEXT,   /* value: const char ** */
  CLI_COUNT,  /* value: uint32_t *, within low..high */
  CLI_NUMBER, /* value: double *, within low..high */
  CLI_CHOICE, /* value: uint32_t *, index into `argument`, "first|second|third" */
  CLI_LIST    /* value: cli_list *, may be given again and again */
} cli_kind;

enum { CLI_LIST_MOST = 256 };
struct cli_list {
  const char *item[CLI_LIST_MOST];
  uint32_t count;
};
typedef struct cli_list cli_list;

typedef struct cli_option {
  const char *name; /* without the dashes */
  char letter;      /* short form, or 0 */
  cli_kind kind;
  void *value;
  const char *argument; /* name of the value in the help; the words of a choice */
  const char *help;
  double low, high;
} cli_option;

typedef struct cli_syntax {
  const char *usage; /* "ooze bench [NAME...] [options]" */
  const char *about; /* a paragraph */
  const cli_option *options;
  size_t option_count;
  const char *more; /* printed after the options, or NULL */
} cli_syntax;

enum { CLI_PARSED = -1 }; /* go on; any other value is the exit code to leave with */

/* Fills the options' values and `operands` (at most `capacity`, count in *count). --help prints
 * help and returns 0. */
int cli_parse(const cli_syntax *syntax, int argc, char **argv, const char **operands,
              size_t capacity, size_t *count);
void cli_help(const cli_syntax *syntax, FILE *out);
/* manual.c: prints one command's part of the manual page ("man") or of a shell's completions; 0 if
 * there is no such form. */
int cli_describe(const cli_syntax *syntax, const char *name, const char *form);

/* Of the words given by word(context, index) for index < count, the one nearest to `text`; NULL if
 * none is near. */
typedef const char *(*cli_word_fn)(const void *context, size_t index);
const char *cli_nearest(const char *text, cli_word_fn word, const void *context, size_t count);
/* An error about a name that is not among those of a command, with the nearest one. */
void cli_no_such(const char *command, const char *kind, const char *name, cli_word_fn word,
                 size_t count);

#endif
