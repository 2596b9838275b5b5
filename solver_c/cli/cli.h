/* The common part of the subcommands: exit codes, errors, and the list of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_CLI_CLI_H
#define OOZE_CLI_CLI_H

#include "base/result.h"

/* Exit codes of the program. */
enum {
  CLI_DONE = 0,
  CLI_USAGE = 1, /* the command line makes no sense */
  CLI_BAD_INPUT = 2,
  CLI_DIVERGED = 3, /* also: a check of `verify` failed */
  CLI_MEMORY = 4,
  CLI_STOPPED = 75 /* stopped by a signal; can be resumed */
};

typedef struct cli_command {
  const char *name;
  const char *about;
  int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name; returns an exit code */
} cli_command;

int cli_verify(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_schema(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_surface(int argc, char **argv);
int cli_render(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_convert(int argc, char **argv);
/* Prints the contents of a file or a scene; gigabytes is --max-memory, 0 for the default. */
typedef struct cli_list cli_list;
int cli_info_file(const char *path, const char *wedge, const cli_list *sets, double gigabytes,
                  int as_json);

/* temporary files that killed programs left in the folder of an output */
void cli_sweep_beside(const char *path);
uint32_t cli_processors(void); /* of this machine; 0 if not known */
/* the choices of a parameter of the solver, "first|second|third" */
const char *cli_menu(const char *group, const char *name);
/* the exit code that fits a result of the library */
int cli_exit_code(ooze_result result);
/* "ooze: ..." and a new line on standard error */
OZ_PRINTF(1, 2) void cli_error(const char *format, ...);
/* the same as a hook of scenes; user is not used */
void cli_warning(void *user, const char *line);

/* manual.c: the whole manual page ("man"), or completions for bash, zsh or fish. */
int cli_manual(const cli_command *commands, int count, const char *form);

/* busy.c: SIGINT and SIGTERM set cli_stop_asked; a second one ends the program. */
void cli_catch_stop(void);
int cli_stop_asked(void);
/* From cli_busy to cli_idle a line tells, after two seconds, the task and its time so far; not if
 * quiet. A stop meanwhile: work in steps ends by itself; work with nothing to save is left at once;
 * work on files, which a resumed run does again, is left if it goes on for another second. */
enum { CLI_STOP_BY_ITSELF, CLI_STOP_AT_ONCE, CLI_STOP_SOON };
void cli_busy(const char *what, int quiet, int stop);
void cli_idle(void);

#endif
