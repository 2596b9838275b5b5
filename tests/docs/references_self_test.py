"""references_self_test.py: references.py finds what leads nowhere, and nothing else.
SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

GOOD = {
    "docs/theory/walls.md": "# Walls\n\n## Stick\n\n```math\na \\tag{W.1}\n```\n\n"
                            "As (W.1) has it, `oz_wall_stick`.\n",
    "docs/guide.md": "See [walls](theory/walls.md#stick), `solver_c/physics/wall.h` and "
                     "tests/run.sh.\n",
    "solver_c/physics/wall.h": "/* Walls (docs/theory/walls.md#stick, W.1). Equation (4) of "
                               "Clavet et al. 2005.\n"
                               " * Beside wall.h there is run.sh. */\nint oz_wall_stick(void);\n",
    "tests/run.sh": "# runs wall.h\nexit 0\n",
}
# file, text that goes to its end, the message
BAD = [
    ("docs/guide.md", "[x](theory/floors.md)\n", "links to theory/floors.md"),
    ("docs/guide.md", "[x](theory/walls.md#slip)\n", "has no section #slip"),
    ("docs/guide.md", "See `solver_c/physics/floor.h`.\n", "names solver_c/physics/floor.h"),
    ("docs/guide.md", "See solver_c/io for files.\n", "names solver_c/io"),
    ("docs/guide.md", "It is derived in section 3 of it.\n\nAnd in section 4.\n",
     "section 4: of which document"),
    ("docs/theory/walls.md", "As (W.7) has it.\n", "no equation (W.7)"),
    # twice in one file: told by its number
    ("docs/theory/walls.md", "```math\nb \\tag{W.1}\n```\n", None),
    ("docs/theory/walls.md", "See `oz_wall_glue`.\n", "`oz_wall_glue` is not in the sources"),
    ("solver_c/physics/wall.h", "/* DESIGN.md has it. */\n", "DESIGN.md is not in the repository"),
    ("solver_c/physics/wall.h", "/* the active set (3.6) */\n", "section 3.6 of which document"),
    ("solver_c/physics/wall.h", "/* as in floor.c */\n", "names floor.c"),
    ("tests/run.sh", "# see floor.md\n", "names floor.md"),
    ("solver_c/physics/wall.h", '/* core/wall.h */\n#include "wall.h"\n', "names core/wall.h"),
]


def run(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run([sys.executable, os.path.join(HERE, "references.py"), root],
                              capture_output=True,
                              text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    bad = 0
    code, said = run(GOOD)
    if code:
        print("FAILED: good references are refused:\n" + said)
        bad += 1
    for name, more, expected in BAD:
        files = dict(GOOD)
        files[name] += more
        code, said = run(files)
        if code == 0 or (expected and expected not in said):
            print("FAILED: %r in %s: expected %r, got:\n%s" % (more, name, expected, said))
            bad += 1
    print("references_self_test: %s" % ("FAILED" if bad else "%d kinds are found" % len(BAD)))
    sys.exit(1 if bad else 0)


main()
