#!/usr/bin/env python3
"""cross_suite.py FOLDER [--seconds N] [--jobs N] [CTEST_ARGUMENTS...]: the tests of a build folder
for another machine, in parts.

A test that has passed is not run again until one of the files in its command, or the program that
scripts start, has other bytes: FOLDER/cross.tsv keeps what is known. --seconds is the time of all
calls for this machine together that one call may take; the next call goes on from there. Exit
status: 0 when all have passed, 1 when one failed, 3 when time was up.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time

words = argparse.ArgumentParser()
words.add_argument("folder", type=os.path.abspath)
words.add_argument("--seconds", type=float, default=0)
words.add_argument("--jobs", type=int, default=1)
asked, chosen = words.parse_known_args()
NOTES = os.path.join(asked.folder, "cross.tsv")
END = re.compile(r"Test\s+#\d+: (\S+) \.+\s*(\**[A-Za-z ]+?)\s+([0-9.]+) sec")


def listed():
    out = subprocess.run(["ctest", "--test-dir", asked.folder, "--show-only=json-v1", *chosen],
                         capture_output=True, text=True, check=True)
    return {test["name"]: test.get("command", []) for test in json.loads(out.stdout)["tests"]}


known_bytes = {}


def bytes_of(path):
    if path not in known_bytes:
        with open(path, "rb") as file:
            known_bytes[path] = hashlib.sha256(file.read()).hexdigest()
    return known_bytes[path]


def digest(command):
    """Of the files that the test is made of."""
    files = [word for word in command if os.path.isfile(word)]
    tests = os.path.join(asked.folder, "tests")
    if not any(word.startswith(tests) for word in files):
        programs = [os.path.join(asked.folder, name) for name in ("ooze", "ooze.exe")]
        files += [p for p in programs if os.path.isfile(p)]
    parts = "\n".join([*command, *(bytes_of(f) for f in files)])
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


def notes():
    rows = {}
    if os.path.exists(NOTES):
        with open(NOTES) as file:
            for line in file:
                name, mark, state, seconds = line.rstrip("\n").split("\t")
                rows[name] = (mark, state, float(seconds))
    return rows


def run(names, left):
    """State and seconds of each test; a test that time cuts off is missing."""
    command = ["ctest", "--test-dir", asked.folder, "--output-on-failure", "--parallel",
               str(asked.jobs), "-R", f"^({'|'.join(names)})$"]
    ctest = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             start_new_session=True)
    try:
        said, _ = ctest.communicate(timeout=left)
    except (subprocess.TimeoutExpired, SystemExit) as end:
        os.killpg(ctest.pid, signal.SIGTERM)
        said, _ = ctest.communicate()
        if isinstance(end, SystemExit):
            raise
        return {m[1]: (m[2].strip("* "), float(m[3]))
                for m in END.finditer(said) if m[2] == "Passed"}
    found = {m[1]: (m[2].strip("* "), float(m[3])) for m in END.finditer(said)}
    if any(state not in ("Passed", "Skipped") for state, _ in found.values()):
        print(said, flush=True)
    return found


def main():
    began, tests, rows = time.monotonic(), listed(), notes()
    marks = {name: digest(command) for name, command in tests.items()}
    passed = [n for n in tests if rows.get(n, ("", "", 0))[:2] == (marks[n], "Passed")]
    states = {n: "Passed" for n in passed}
    # short ones first, as far as that is known: a call of little time gets further
    to_do = sorted((n for n in tests if n not in states),
                   key=lambda n: rows.get(n, ("", "", 0.0))[2])
    while to_do:
        left = asked.seconds - (time.monotonic() - began) if asked.seconds else None
        if left is not None and left <= 0:
            break
        batch, to_do = to_do[: asked.jobs], to_do[asked.jobs :]
        for name, (state, seconds) in run(batch, left).items():
            states[name] = state
            rows[name] = (marks[name], state, seconds)
            print(f"{name}\t{state}\t{seconds} s", flush=True)
        with open(NOTES + ".part", "w") as file:
            file.writelines(f"{n}\t{m}\t{s}\t{t}\n" for n, (m, s, t) in sorted(rows.items()))
        os.replace(NOTES + ".part", NOTES)
    by = lambda *wanted: [n for n in tests if states.get(n) in wanted]
    skipped, missing = by("Skipped"), [n for n in tests if n not in states]
    failed = [n for n in tests if n in states and states[n] not in ("Passed", "Skipped")]
    print(f"{os.path.basename(asked.folder)}: {len(tests)} tests: {len(by('Passed'))} passed "
          f"({len(passed)} of them in earlier calls), {len(failed)} failed, "
          f"{len(skipped)} skipped, {len(missing)} not reached")
    for what, names in (("failed", failed), ("skipped", skipped),
                        ("not reached, the same command goes on", missing)):
        if names:
            print(f"  {what}: {' '.join(names)}")
    sys.exit(1 if failed else 3 if missing else 0)


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda *_: sys.exit(3))
main()
