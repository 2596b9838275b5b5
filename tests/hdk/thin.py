"""thin.py SOURCE: the plug-in stays thin: no formula, no file format and no thread in hdk_plugin/,
and short files. SPDX-License-Identifier: Apache-2.0"""
import glob
import os
import re
import sys

folder = os.path.join(os.path.abspath(sys.argv[1]), "hdk_plugin")
LONGEST = {"node": 300, "other": 500}  # lines
FORBIDDEN = (
    ("a thread", r"std::(thread|async|mutex|atomic|condition_variable|jthread)|pthread_|<thread>"
                 r"|<mutex>|<atomic>|<future>|\btbb::|<tbb/"),
    ("a file", r"\bfopen|\bfwrite|\bfread|fstream|\bopen\(|::save\(|->save\(|\.save\("
               r"|->load\(\"|writeGrid|io::File|std::filesystem"),
    ("a formula", r"\b(std::)?(sqrt|cbrt|exp|log|pow|sin|cos|tan|atan2?|acos|asin|hypot)f?\("),
    ("the solver's inside", r"#include \"(core|physics|models|cpu|cuda|base|io)/"),
)
# Houdini's own files are written by Houdini, in one place.
ALLOWED = {("disk.cpp", "a file"): r"copy\.save\(ooze_file_path\(file\), nullptr\)"}
problems, read = [], 0
for path in sorted(glob.glob(os.path.join(folder, "*.cpp"))
                   + glob.glob(os.path.join(folder, "*.h"))):
    name = os.path.basename(path)
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    read += 1
    most = LONGEST["node" if re.match(r"(SOP|GAS)_", name) else "other"]
    if len(lines) > most:
        problems.append("%s has %d lines; expected at most %d" % (name, len(lines), most))
    for number, line in enumerate(lines, 1):
        code = re.sub(r'"(\\.|[^"\\])*"', '""',
                      line.split("//")[0]) if not line.startswith("#include") else line
        for what, pattern in FORBIDDEN:
            allowed = ALLOWED.get((name, what))
            if re.search(pattern, re.sub(allowed, "", code) if allowed else code):
                problems.append("%s:%d has %s: %s" % (name, number, what, line.strip()))
# it finds each pattern
for what, sample in (("a thread", "std::thread t(f);"), ("a file", 'FILE *f = fopen(p, "w");'),
                     ("a formula", "x = std::sqrt(y);"),
                     ("the solver's inside", '#include "core/solver.h"')):
    if not any(w == what and re.search(p, sample) for w, p in FORBIDDEN):
        problems.append("%s would not be found" % what)
if read < 15:
    problems.append("only %d files were read" % read)
for p in problems:
    print("FAILED: " + p)
print("thin: %s" % ("FAILED" if problems else "%d files without formula, file or thread" % read))
sys.exit(1 if problems else 0)
