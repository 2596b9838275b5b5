/* ooze info: the build, its backends and the machine. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli.h"
#include "json.h"
#include "options.h"

int cli_info(int argc, char **argv) {
  int as_json = 0;
  size_t operands = 0;
  const char *file = NULL, *wedge = NULL;
  double gigabytes = 0.0;
  cli_list sets = {{NULL}, 0};
  const cli_option options[] = {
      {"wedge", 'w', CLI_TEXT, &wedge, "K", "of a scene: with this row of its wedge table", 0, 0},
      {"set", 's', CLI_LIST, &sets, "KEY=VALUE",
       "of a scene: with another value for a key, as in `ooze run`", 0, 0},
      {"max-memory", 0, CLI_NUMBER, &gigabytes, "GB",
       "refuse a file that needs more to be read. Default 16", 1e-6, 1e6},
      {"json", 0, CLI_FLAG, &as_json, NULL, "print one JSON object", 0, 0}};
  const cli_syntax syntax = {"ooze info [FILE] [options]",
                             "Describes a file: points and meshes (.bgeo .bgeo.sc .geo .ply .obj), "
                             "a checkpoint (.ozc), every grid of a .vdb, "
                             "or a scene (.json) with its particles, memory, steps and time on "
                             "this machine, for which a small block of "
                             "particles is stepped. Without a file: the version, what was built "
                             "in, and each backend with whether this "
                             "machine can use it.",
                             options, sizeof options / sizeof options[0],
                             "examples:\n"
                             "  ooze info honey/points/honey.0075.bgeo.sc\n"
                             "  ooze info examples/scenes/honey.json --wedge table1\n"};
  int code = cli_parse(&syntax, argc, argv, &file, 1, &operands);
  if (code != CLI_PARSED) return code;
  if (operands) return cli_info_file(file, wedge, &sets, gigabytes, as_json);
  cli_json j = {stdout, 0};
  if (as_json) {
    cli_json_object(&j, NULL);
    cli_json_text(&j, "version", ooze_version_text());
    cli_json_text(&j, "build", ooze_build_text());
    cli_json_array(&j, "backends");
  } else {
    printf("ooze %s\n%s\n\n", ooze_version_text(), ooze_build_text());
  }
  for (uint32_t i = 0; i < ooze_backend_count(); ++i) {
    ooze_backend_info b;
    ooze_backend_info_default(&b);
    if (ooze_backend_get(i, &b) < 0) continue;
    if (as_json) {
      cli_json_object(&j, NULL);
      cli_json_text(&j, "name", b.name);
      cli_json_text(&j, "kind", b.backend == OOZE_BACKEND_CUDA ? "cuda" : "cpu");
      cli_json_bool(&j, "usable", b.usable != 0);
      cli_json_text(&j, "detail", b.detail);
      cli_json_object_end(&j);
    } else {
      printf("%-14s %-11s %s\n", b.name, b.usable ? "usable" : "not usable",
             b.detail ? b.detail : "");
    }
  }
  if (as_json) {
    cli_json_array_end(&j);
    cli_json_object_end(&j);
    putchar('\n');
  }
  return CLI_DONE;
}
