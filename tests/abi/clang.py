#!/usr/bin/env python3
"""clang.py BUILD CLANG: every C file of a build, with its own warnings as errors, is good to clang
as well. SPDX-License-Identifier: Apache-2.0"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

build, clang = sys.argv[1:3]
GCC_ALONE = r"-fno-trapping-math|-mprefer-vector-width=\d+|-fno-tree-\S+|--param\S*"
MASKS = ("-Wno-unknown-warning-option -Wno-unused-command-line-argument "
         "-Wno-bitwise-instead-of-logical")


def check(entry):
    command = re.sub(r"^.*?\S*/(cc|gcc)\b", clang, entry["command"], count=1)
    command = re.sub(GCC_ALONE, "", re.sub(r" -o \S+ -c", " -fsyntax-only", command))
    done = subprocess.run(f"{command} -Werror {MASKS}", shell=True, cwd=entry["directory"],
                          capture_output=True, text=True)
    return [line for line in done.stderr.splitlines() if "error:" in line]


with open(os.path.join(build, "compile_commands.json")) as file:
    entries = [e for e in json.load(file) if e["file"].endswith(".c")]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = sorted({line for lines in pool.map(check, entries) for line in lines})
print(f"{len(entries)} files, {len(found)} errors")
print("\n".join(found))
sys.exit(bool(found) or not entries)
