/* The manual page and the completions of shells, from the same tables that parse the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "options.h"

#include <string.h>

/* roff: a dash is a minus, and a line that begins with a dot is no command */
static void roff(const char *text) {
  int begins = 1;
  for (; *text; ++text) {
    if (begins && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
    if (*text == '-' || *text == '\\') putchar('\\');
    putchar(*text == '\\' ? 'e' : *text);
    begins = *text == '\n';
  }
}

static void manual(const cli_syntax *s) {
  fputs(".SS ", stdout);
  roff(s->usage);
  putchar('\n');
  roff(s->about);
  putchar('\n');
  for (size_t k = 0; k < s->option_count; ++k) {
    const cli_option *o = &s->options[k];
    fputs(".TP\n\\fB", stdout);
    if (o->letter) printf("\\-%c\\fR, \\fB", o->letter);
    fputs("\\-\\-", stdout);
    roff(o->name);
    fputs("\\fR", stdout);
    if (o->kind != CLI_FLAG) {
      fputs(" \\fI", stdout);
      roff(o->argument);
      fputs("\\fR", stdout);
    }
    putchar('\n');
    roff(o->help);
    putchar('\n');
  }
  if (!s->more) return;
  fputs(".PP\n.nf\n", stdout);
  roff(s->more);
  fputs(".fi\n", stdout);
}

/* In single quotes of a shell, without the marks that its own lists use. */
static void quoted(const char *text) {
  for (; *text; ++text)
    if (*text == '\'')
      fputs("'\\''", stdout);
    else if (*text == '[' || *text == ']' || *text == ':')
      putchar(' ');
    else
      putchar(*text);
}

static void bash(const char *name, const cli_syntax *s) {
  printf("    %s) options='", name);
  for (size_t k = 0; k < s->option_count; ++k) printf("--%s ", s->options[k].name);
  puts("--help'");
  for (size_t k = 0; k < s->option_count; ++k) {
    const cli_option *o = &s->options[k];
    if (o->kind != CLI_CHOICE) continue;
    printf("      [ \"$before\" = --%s ] && words='", o->name);
    for (const char *c = o->argument; *c; ++c) putchar(*c == '|' ? ' ' : *c);
    puts("'");
  }
  puts("      ;;");
}

static void zsh(const char *name, const cli_syntax *s) {
  printf("    %s) _arguments \\\n", name);
  for (size_t k = 0; k < s->option_count; ++k) {
    const cli_option *o = &s->options[k];
    printf("      '%s--%s[", o->kind == CLI_LIST ? "*" : "", o->name);
    quoted(o->help);
    putchar(']');
    if (o->kind == CLI_CHOICE) {
      fputs(": :(", stdout);
      for (const char *c = o->argument; *c; ++c) putchar(*c == '|' ? ' ' : *c);
      putchar(')');
    } else if (o->kind == CLI_TEXT) {
      fputs(": :_files", stdout);
    } else if (o->kind != CLI_FLAG) {
      fputs(": : ", stdout);
    }
    puts("' \\");
  }
  puts("      '*:file:_files' ;;");
}

static void fish(const char *name, const cli_syntax *s) {
  for (size_t k = 0; k < s->option_count; ++k) {
    const cli_option *o = &s->options[k];
    printf("complete -c ooze -n '__fish_seen_subcommand_from %s' -l %s", name, o->name);
    if (o->letter) printf(" -s %c", o->letter);
    if (o->kind != CLI_FLAG) fputs(" -r", stdout);
    if (o->kind == CLI_CHOICE) {
      fputs(" -f -a '", stdout);
      for (const char *c = o->argument; *c; ++c) putchar(*c == '|' ? ' ' : *c);
      putchar('\'');
    }
    fputs(" -d '", stdout);
    quoted(o->help);
    puts("'");
  }
}

int cli_describe(const cli_syntax *syntax, const char *name, const char *form) {
  if (strcmp(form, "man") == 0)
    manual(syntax);
  else if (strcmp(form, "bash") == 0)
    bash(name, syntax);
  else if (strcmp(form, "zsh") == 0)
    zsh(name, syntax);
  else if (strcmp(form, "fish") == 0)
    fish(name, syntax);
  else
    return 0;
  return 1;
}

static void each(const cli_command *commands, int count, const char *form) {
  char option[40];
  snprintf(option, sizeof option, "--describe=%s", form);
  for (int i = 0; i < count; ++i) {
    char name[40];
    snprintf(name, sizeof name, "%s", commands[i].name);
    char *arguments[] = {name, option, NULL};
    (void)commands[i].run(2, arguments);
  }
}

/* Every command's name and its description, in the notation of a form. */
static void list(const cli_command *commands, int count, const char *before, const char *between,
                 void (*write)(const char *), const char *after) {
  for (int i = 0; i < count; ++i) {
    printf("%s%s%s", before, commands[i].name, between);
    write(commands[i].about);
    puts(after);
  }
}

int cli_manual(const cli_command *commands, int count, const char *form) {
  if (strcmp(form, "man") == 0) {
    printf(".TH OOZE 1 \"\" \"Ooze %s\" \"User Commands\"\n", ooze_version_text());
    puts(".SH NAME\nooze \\- simulate viscoelastic fluids with particles\n.SH SYNOPSIS\n"
         "\\fBooze\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n"
         "Honey, cream, slime, dough: from a scene file to caches, surfaces and pictures.");
    list(commands, count, ".TP\n\\fB", "\\fR\n", roff, "");
    puts(".SH COMMANDS");
    each(commands, count, form);
    puts(".SH EXIT STATUS\n0 done, 1 usage, 2 bad input, 3 diverged or a check failed, 4 out of "
         "memory, 75 stopped and resumable.");
  } else if (strcmp(form, "bash") == 0) {
    puts("# Completions of ooze for bash; made by `ooze --completions bash`.\n_ooze() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options= "
         "words=");
    fputs("  if [ \"$COMP_CWORD\" = 1 ]; then\n    COMPREPLY=($(compgen -W '", stdout);
    for (int i = 0; i < count; ++i) printf("%s ", commands[i].name);
    puts("--help --version' -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in");
    each(commands, count, form);
    puts("  esac\n  case $word in\n    -*) words=$options ;;\n  esac\n"
         "  if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  else COMPREPLY=($(compgen -f -- \"$word\")); fi\n}\n"
         "complete -o filenames -F _ooze ooze");
  } else if (strcmp(form, "zsh") == 0) {
    puts("#compdef ooze\n# Completions of ooze for zsh; made by `ooze --completions zsh`.\n_ooze() "
         "{\n"
         "  local -a commands\n  commands=(");
    list(commands, count, "    '", ":", quoted, "'");
    puts("  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
         "  local command=$words[2]\n  shift words; (( CURRENT-- ))\n  case $command in");
    each(commands, count, form);
    puts("  esac\n}\n_ooze \"$@\"");
  } else if (strcmp(form, "fish") == 0) {
    puts("# Completions of ooze for fish; made by `ooze --completions fish`.");
    list(commands, count, "complete -c ooze -n __fish_use_subcommand -f -a ", " -d '", quoted, "'");
    each(commands, count, form);
  } else {
    cli_error("--completions: there is none for '%s'; expected bash, zsh or fish", form);
    return CLI_USAGE;
  }
  return CLI_DONE;
}
