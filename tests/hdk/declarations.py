"""declarations.py SOURCE: every declaration of the stand-in that is Houdini's (all before "The
stand-in's own." in a class) has a row in standin/declarations.tsv with the header that it is in,
what is known of it, and its public source; every HDK name that hdk_plugin/ uses has one too, and
the file that uses it includes its header; what is not confirmed is in hdk_plugin/CHECKLIST.md.
Prints the counts. SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import sys

source = os.path.abspath(sys.argv[1])
standin, plugin = source + "/tests/hdk/standin", source + "/hdk_plugin"
PREFIX = r"(?:GA|GU|GEO|UT|OP|SOP|PRM|SIM|GAS|DEP|CH|SYS|HDK)"
KNOWN = ("confirmed", "plausible", "unknown")
problems = []


def stripped(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    return text


def members(text):
    """Class::member of every class in the text, up to the stand-in's own part of it."""
    found = set()
    for m in re.finditer(r"\bclass (%s_\w+)[^;{]*\{" % PREFIX, text):
        name, depth, at = m.group(1), 1, m.end()
        end = at
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        body = text[at:end - 1].split("// The stand-in's own.")[0]
        body = re.sub(r"//[^\n]*", "", body)
        flat, depth = "", 0  # without the insides of functions and nested classes
        for c in body:
            if c == "{":
                depth += 1
            if depth == 0:
                flat += c
            if c == "}":
                depth -= 1
                flat += ";" if depth == 0 else ""
        for statement in flat.split(";"):
            statement = re.sub(r"\b(public|protected|private):", "", statement).split(":")[0]
            call = re.search(r"(~?\b\w+|operator\W{1,3})\s*\(", statement)
            if not call or "delete" in statement:
                continue
            if call.group(1).lstrip("~") != name and call.group(1) != "decltype":
                found.add("%s::%s" % (name, call.group(1)))
        found.add(name)
    return found


rows = {}
with open(standin + "/declarations.tsv", encoding="utf-8") as f:
    for number, line in enumerate(f, 1):
        if line.startswith("#") or not line.strip():
            continue
        cells = line.rstrip("\n").split("\t")
        if len(cells) != 4 or cells[2] not in KNOWN or not cells[3]:
            problems.append("declarations.tsv:%d: expected name, header, %s, source: %s"
                            % (number, "|".join(KNOWN), line.strip()))
        elif cells[0] in rows:
            problems.append("declarations.tsv:%d: %s is there twice" % (number, cells[0]))
        else:
            rows[cells[0]] = cells[1:]

declared = set()
for path in sorted(glob.glob(standin + "/*.h")):
    with open(path, encoding="utf-8") as f:
        declared |= members(stripped(f.read()))
if "--list" in sys.argv:
    print("\n".join(sorted(declared - set(rows))))
for name in sorted(declared - set(rows)):
    problems.append("the stand-in declares %s, which has no row in declarations.tsv" % name)
for name in sorted(rows):
    if "::" in name and name not in declared:
        problems.append("declarations.tsv: the stand-in has no %s" % name)

# names that the plug-in uses, and the headers that each file reaches through the plug-in's own
# headers
files = {os.path.basename(p): p for p in glob.glob(plugin + "/*.h") + glob.glob(plugin + "/*.cpp")}
texts = {n: open(p, encoding="utf-8").read() for n, p in files.items()}
includes = {n: re.findall(r'#include [<"]([^>"]+)[>"]', t) for n, t in texts.items()}


# Base classes come with those that are made of them.
BRINGS = {"GU/GU_Detail.h": ("GA/GA_Types.h", "GA/GA_Attribute.h", "GA/GA_Defaults.h",
                             "GA/GA_Range.h", "UT/UT_Vector3.h"),
          "GAS/GAS_SubSolver.h": ("SIM/SIM_Object.h", "SIM/SIM_DopDescription.h")}


def reached(name, seen):
    if name in seen:
        return set()
    seen.add(name)
    all_of = set()
    for i in includes[name]:
        all_of |= reached(i, seen) if i in includes else {i} | set(BRINGS.get(i, ()))
    return all_of


STANDARD = {"map": "map", "unordered_map": "unordered_map", "set": "set",
            "string": "string", "to_string": "string",
            "vector": "vector", "unique_ptr": "memory", "make_unique": "memory",
            "shared_ptr": "memory", "make_shared": "memory", "strcmp": "cstring",
            "strncmp": "cstring", "memcpy": "cstring", "memcmp": "cstring",
            "strcspn": "cstring", "strspn": "cstring", "strlen": "cstring",
            "min": "algorithm", "max": "algorithm", "sort": "algorithm", "stable_sort": "algorithm",
            "copy": "algorithm", "find": "algorithm",
            "lower_bound": "algorithm", "is_sorted": "algorithm", "iota": "numeric",
            "fabs": "cmath", "floor": "cmath", "swap": "utility",
            "move": "utility", "pair": "utility", "next": "iterator", "bad_alloc": "new",
            "exception": "exception", "logic_error": "stdexcept",
            "isalnum": "cctype", "fprintf": "cstdio", "vsnprintf": "cstdio", "snprintf": "cstdio",
            "getenv": "cstdlib", "isfinite": "cmath",
            "function": "functional", "strtod": "cstdlib", "strtol": "cstdlib", "fill": "algorithm",
            "binary_search": "algorithm", "copy_n": "algorithm", "max_element": "algorithm",
            "numeric_limits": "limits", "array": "array", "chrono": "chrono"}
used = 0
for name in sorted(texts):
    code = re.sub(r"//[^\n]*", "", stripped(texts[name]))
    code = re.sub(r"#include[^\n]*|\bclass \w+;", "", code)
    have = reached(name, set())
    for word in sorted(set(re.findall(r"\b%s_\w+" % PREFIX, code)
                           + re.findall(r"\b(?:UT|OP|SYS)[a-z]\w+", code))):
        if re.search(r"\bclass %s;" % word, texts[name]):  # declared there: a pointer to it is all
            continue
        # verb.h makes the first where there is none; the other is ours
        if word in ("OP_InputIdx", "GAS_Ooze"):
            continue
        used += 1
        if word not in rows:
            problems.append("%s uses %s, which has no row in declarations.tsv" % (name, word))
        elif rows[word][0] not in have:
            problems.append("%s uses %s without <%s>" % (name, word, rows[word][0]))
    for word in sorted(set(re.findall(r"\bstd::(\w+)", code))):
        if word not in STANDARD:
            problems.append("%s uses std::%s, whose header declarations.py does not know"
                            % (name, word))
        elif STANDARD[word] not in have:
            problems.append("%s uses std::%s without <%s>" % (name, word, STANDARD[word]))

with open(plugin + "/CHECKLIST.md", encoding="utf-8") as f:
    checklist = f.read()
count = {k: 0 for k in KNOWN}
for name, (header, known, where) in sorted(rows.items()):
    count[known] += 1
    listed = "`%s`" % name in checklist
    if known != "confirmed" and not listed:
        problems.append("%s is %s; expected `%s` in CHECKLIST.md" % (name, known, name))
for p in problems:
    print("FAILED: " + p)
print("declarations: %d confirmed, %d plausible, %d unknown; %d uses in hdk_plugin%s"
      % (count["confirmed"], count["plausible"], count["unknown"], used, "; FAILED" if problems
         else ""))
sys.exit(1 if problems else 0)
