"""changelog.py ROOT: CHANGELOG.md goes by version, newest first, in the sections of Keep a
Changelog, and the version in ooze.h is its newest or the one before. SPDX-License-Identifier:
Apache-2.0
"""
import os
import re
import sys

SECTIONS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
root = sys.argv[1]
with open(os.path.join(root, "CHANGELOG.md"), encoding="utf-8") as f:
    text = f.read()
with open(os.path.join(root, "solver_c/include/ooze/ooze.h"), encoding="utf-8") as f:
    numbers = re.findall(r"^#define OOZE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", f.read(), re.M)
built, problems, versions = tuple(int(n) for n in numbers), [], []
for heading, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.M | re.S):
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+) - (unreleased|\d{4}-\d\d-\d\d)", heading)
    if not match:
        problems.append("'## %s': expected '## 1.2.3 - 2026-11-16' or '- unreleased'" % heading)
        continue
    versions.append(tuple(int(n) for n in match.group(1, 2, 3)))
    if match.group(4) == "unreleased" and len(versions) > 1:
        problems.append("%s is unreleased, but a newer one is above it" % heading)
    kinds = re.findall(r"^### (.+)$", body, re.M)
    if [k for k in SECTIONS if k in kinds] != kinds:
        problems.append("%s has sections %s; expected some of %s, in this order"
                        % (heading, kinds, SECTIONS))
if versions != sorted(set(versions), reverse=True) or not versions:
    problems.append("versions are %s; expected each once, newest first" % versions)
if built not in versions[:2]:
    problems.append("ooze.h says %s, which is not one of the two newest" % (built,))
for p in problems:
    print("FAILED: " + p)
print("changelog: %s" % ("FAILED" if problems else "%d versions" % len(versions)))
sys.exit(1 if problems else 0)
