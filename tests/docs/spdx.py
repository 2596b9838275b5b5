#!/usr/bin/env python3
"""spdx.py SOURCE [--fix]: every source says its licence near its beginning; --fix writes the line
where it is missing. SPDX-License-Identifier: Apache-2.0"""
import os
import re
import subprocess
import sys

LINE = "SPDX-License-Identifier: Apache-2.0"
C_LIKE = (".c", ".h", ".cpp", ".cu", ".cuh", ".hpp", ".def", ".map")
HASH = (".py", ".sh", ".cmake", ".sbatch", "CMakeLists.txt", "Makefile", "dev", ".ci/run")


def with_line(name, text):
    if not name.endswith(C_LIKE):
        lines = text.split("\n")
        at = 1 if lines[0].startswith("#!") else 0
        alone = at + 1 >= len(lines) or not lines[at + 1].startswith("#")
        if alone and lines[at].startswith("# ") and len(lines[at]) + len(LINE) < 124:
            lines[at] = lines[at].rstrip() + (" " if lines[at].rstrip().endswith((".", ":"))
                                              else ". ") + LINE
        else:
            lines.insert(at, "# " + LINE)
        return "\n".join(lines)
    if text.startswith("//"):
        return "// " + LINE + "\n" + text
    end = text.find("*/")
    if not text.startswith("/*") or end < 0:
        return "/* " + LINE + " */\n" + text
    head = text[:end].rstrip()
    last = head.split("\n")[-1]
    joined = " " if len(last) + len(LINE) + 4 <= 100 else "\n * "
    return head + joined + LINE + " */" + text[end + 2:]


def main():
    source, fix = sys.argv[1], "--fix" in sys.argv
    names = subprocess.run(["git", "-C", source, "ls-files"], capture_output=True,
                           text=True).stdout.split("\n")
    missing = []
    for name in names:
        if not name.endswith(C_LIKE) and not (name.endswith(HASH) and name.split("/")[-1] in HASH
                                              or name.endswith(HASH[:5]) or name in HASH):
            continue
        path = os.path.join(source, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        # a formatter may break the line within a comment
        if re.search(r"SPDX-License-Identifier:[\s*/#]*Apache-2\.0", text[:8000]):
            continue
        missing.append(name)
        if fix:
            with open(path, "w", encoding="utf-8") as file:
                file.write(with_line(name, text))
    print(f"{len(missing)} sources without a licence line{' were given one' if fix else ''}")
    print("\n".join(missing[:20]))
    sys.exit(bool(missing) and not fix)


main()
