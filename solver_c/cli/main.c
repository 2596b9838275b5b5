/* The program `ooze`: one subcommand each. SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json_memory.h"
#include "options.h"

static const cli_command commands[] = {
#ifdef OOZE_HAVE_SCENE
    {"run", "simulate a scene file to caches, surfaces and pictures", cli_run},
    {"compare", "run one scene with several models: a table and a picture", cli_compare},
    {"surface", "make meshes or .vdb files of cached points", cli_surface},
    {"render", "make a shaded picture or film of cached frames", cli_render},
#endif
    {"convert", "turn points or meshes from one format into another", cli_convert},
    {"verify", "run the checks against the papers and closed forms", cli_verify},
    {"bench", "time the solver on fixed scenes", cli_bench},
    {"schema", "print every parameter: unit, range, default, help", cli_schema},
    {"info", "describe a file or a scene, or this build and machine", cli_info},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void help(FILE *out) {
  fputs("usage: ooze COMMAND [ARGUMENT...]\n\n"
        "Ooze simulates viscoelastic fluids with particles: honey, cream, slime, "
        "dough.\n\ncommands:\n",
        out);
  for (int i = 0; i < COMMAND_COUNT; ++i)
    fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].about);
  fputs("\n`ooze COMMAND --help` tells more about each; `ooze --version` prints the version,\n"
        "`ooze --man` the manual page, `ooze --completions bash|zsh|fish` what a shell needs.\n"
        "Exit codes: 0 done, 1 usage, 2 bad input, 3 diverged or a check failed, 4 out of memory, "
        "75 stopped.\n",
        out);
}

static const char *command_word(const void *context, size_t index) {
  (void)context;
  return commands[index].name;
}

/* All output has to have arrived: the last of it leaves when the stream is closed. */
static int printed(int code) {
  const int before = ferror(stdout);
  if (!before && fflush(stdout) == 0) return code;
  const int reason = errno;
  if (reason == EPIPE) return code; /* a reader such as head has seen enough */
  cli_error("cannot write what was to be printed: %s", reason ? strerror(reason) : "an error");
  return code == CLI_DONE ? CLI_BAD_INPUT : code;
}

static int run(int argc, char **argv) {
  if (argc < 2) {
    help(stderr);
    return CLI_USAGE;
  }
  const char *word = argv[1];
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
    /* `ooze help bench` is `ooze bench --help` */
    if (argc > 2 && word[0] == 'h')
      for (int i = 0; i < COMMAND_COUNT; ++i)
        if (strcmp(argv[2], commands[i].name) == 0) {
          static char option[] = "--help";
          char *arguments[] = {argv[2], option, NULL};
          return commands[i].run(2, arguments);
        }
    help(stdout);
    return CLI_DONE;
  }
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
    printf("ooze %s\n", ooze_version_text());
    return CLI_DONE;
  }
  if (strcmp(word, "--man") == 0) return cli_manual(commands, COMMAND_COUNT, "man");
  if (strcmp(word, "--completions") == 0)
    return cli_manual(commands, COMMAND_COUNT, argc > 2 ? argv[2] : "");
  for (int i = 0; i < COMMAND_COUNT; ++i)
    if (strcmp(word, commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
  const char *near = cli_nearest(word, command_word, NULL, COMMAND_COUNT);
  if (near)
    cli_error("there is no command '%s'; did you mean `ooze %s`?", word, near);
  else
    cli_error("there is no command '%s'; `ooze --help` lists them", word);
  return CLI_USAGE;
}

int main(int argc, char **argv) {
#ifdef SIGXFSZ
  signal(SIGXFSZ, SIG_IGN); /* a file that grows past `ulimit -f` becomes an error with its name */
#endif
  cli_json_memory(malloc, free);
  const int code = printed(run(argc, argv));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  /* Destructors of libraries allocate (log4cplus, beneath OpenVDB), and throw where memory is out.
   */
  fflush(NULL);
  _Exit(code);
#endif
  return code;
}
