"""documents.py OOZE SOURCE: what the pages for users name exists: files they link to, commands of
./dev and of ooze with their options, paths of the repository, nodes. SPDX-License-Identifier:
Apache-2.0
"""
import glob
import os
import re
import subprocess
import sys

import report

ooze, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
problems, helps = [], {}


def read(path):
    with open(os.path.join(source, path), encoding="utf-8") as f:
        return f.read()


def options_of(command):
    if command not in helps:
        done = subprocess.run([ooze, command, "--help"], capture_output=True, text=True)
        helps[command] = done.stdout + done.stderr if done.returncode == 0 else None
    return helps[command]


pages = ["README.md", "hdk_plugin/README.md", "examples/farm/README.md"] + sorted(
    os.path.relpath(p, source) for kind in ("guide", "dev")
    for p in glob.glob(os.path.join(source, "docs", kind, "*.md")))
dev = set(re.findall(r"^  ([a-z]+)(?: \| [^)]*)?\) ", read("dev"), re.M))
for page in pages:
    text, folder = read(page), os.path.dirname(page)
    for target in re.findall(r"\]\(([^)#\s]+)\)", text):
        if "://" not in target and not os.path.exists(os.path.join(source, folder, target)):
            problems.append("%s links to %s, which is not there" % (page, target))
    for word in re.findall(r"\./dev ([a-z]+)", text):
        if word not in dev:
            problems.append("%s: there is no ./dev %s" % (page, word))
    for path in re.findall(r"(?<![\w/.-])((?:examples|tests|hdk_plugin|otls|solver_c|cmake|docs"
                           r"|cuda)/[\w./-]*\w)", text):
        places = (source, os.path.join(source, folder))
        # outputs of a build
        if not any(glob.glob(os.path.join(place, path) + "*")
                   for place in places) and "drop" not in path:
            problems.append("%s names %s, which is not there" % (page, path))
    # lines of code that run the program: the command and its long options exist
    for block in re.findall(r"^```(?:sh)?\n(.*?)^```", text, re.M | re.S):
        for line in block.replace("\\\n", " ").split("\n"):
            match = re.match(r"(?:build/)?ooze ([a-z]+)(.*)", line.split("#")[0].strip())
            if not match:
                continue
            text_of = options_of(match.group(1))
            if text_of is None:
                problems.append("%s: there is no `ooze %s`" % (page, match.group(1)))
                continue
            for option in re.findall(r"(--[a-z][a-z-]+)", match.group(2)):
                if option not in text_of:
                    problems.append("%s: ooze %s has no %s" % (page, match.group(1), option))
report.end("documents", problems, "%d pages name existing options" % len(pages))
