"""house.py ROOT: bars of the sources that no reader should have to watch. `house.py --self-test`
shows each bar a text that breaks it.

- lines of at most 100 characters in C, C++, CUDA, lists (.def), Python, CMake and shell scripts,
  those without an ending too, but for a word that is longer;
- comments whose subject is a noun: in every folder fewer than 1 of 100 have a clause with who,
  what, nobody and the like;
- functions of a complexity (McCabe: 1 and every branch, loop, case, && || ?) of at most 30;
- no folder with more than 15% of the lines;
- no circle of files: neither files that include each other nor, in C and CUDA, sources that call
  each other, a source and its header taken as one.

SPDX-License-Identifier: Apache-2.0
"""
import ast
import collections
import os
import re
import sys
import tempfile

LONGEST, MOST_COMPLEX, LARGEST, CLAUSES = 100, 30, 0.15, 0.01
C = re.compile(r"\.(c|h|cpp|cu|def)$")
SCRIPT = re.compile(r"(\.(py|sh|cmake|sbatch)|CMakeLists\.txt)$")
SHELL = re.compile(rb"#!.*\b(?:ba|da)?sh\b")  # first line of dev and .ci/run
PRONOUN = re.compile(r"\b(who|whom|whoever|what|nobody|everybody|somebody)\b", re.I)
QUOTED = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
C_COMMENT = r"/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*"
BRANCH = re.compile(r"\b(?:if|for|while|case|catch)\b|&&|\|\||\?")
PYTHON_BRANCH = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension)
NO_FUNCTION = re.compile(r"(?:if|for|while|switch|do|else|return|namespace|extern|enum|struct"
                         r"|union|class|typedef)\b")


def is_shell(path):
    """Of a name without an ending: whether a shell runs it."""
    if "." in os.path.basename(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as f:
        return SHELL.match(f.readline(80)) is not None


def files(root):
    for folder, inside, names in os.walk(root):
        inside[:] = sorted(d for d in inside
                           if d == ".ci" or not re.match(r"\.|build|__pycache__", d))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            if C.search(path) or SCRIPT.search(path) or is_shell(os.path.join(folder, name)):
                with open(os.path.join(root, path), encoding="utf-8") as f:
                    yield path, f.read()


def room(path):
    """solver_c and tests are houses of their own: their folders count."""
    parts = path.split("/")
    if parts[0] in ("solver_c", "tests") and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 else "."


def comments(path, text):
    if C.search(path):
        return [m.group(0) for m in re.finditer(QUOTED + "|" + C_COMMENT, text, re.S)
                if m.group(0)[0] == "/"]
    blocks = re.findall(r"(?:^[ \t]*#(?!!).*\n)+", text + "\n", re.M)
    return blocks + re.findall(r"^[^#\n]*\S[ \t]+# ([^\"'\n]*)$", text, re.M)


def bare(text):
    """Without comments, texts and preprocessor lines; line breaks stay."""
    def blank(m):
        return "\n" * m.group(0).count("\n") or " "
    text = re.sub(QUOTED + "|" + C_COMMENT, blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def is_function(head):
    name = head.split("(")[0]
    return (re.search(r"\)[\w\s]*(?:->\s*[\w:<>]+)?(?::[^;]*)?$", head) is not None
            and not NO_FUNCTION.match(name.strip()) and "=" not in name)


def functions(text):
    """(name, line, body, static) of each function in a bare text."""
    stack, end = [], 0
    for m in re.finditer(r"[{};]", text):
        if m.group(0) == "{":
            head = text[end:m.start()].strip()
            outer = not any(found for _, _, found in stack)
            stack.append((m.end(), head, outer and is_function(head)))
        elif m.group(0) == "}" and stack:
            start, head, found = stack.pop()
            name = re.search(r"([\w:~]+)\s*\(", head)
            if found and name:
                yield (name.group(1), text.count("\n", 0, start) + 1, text[start:m.start()],
                       "static" in head)
        end = m.end()


def python_functions(text):
    """(complexity, name, line): of a function with those inside it."""
    for f in ast.walk(ast.parse(text)):
        if isinstance(f, ast.FunctionDef):
            inside = list(ast.walk(f))
            yield (1 + sum(isinstance(n, PYTHON_BRANCH) for n in inside)
                   + sum(len(n.values) - 1 for n in inside if isinstance(n, ast.BoolOp)),
                   f.name, f.lineno)


def circles(graph):
    """Strongly connected components of more than one node (Tarjan)."""
    number, low, stack, found = {}, {}, [], []

    def visit(v):
        number[v] = low[v] = len(number)
        stack.append(v)
        for w in graph[v]:
            if w not in number:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == number[v]:
            k = stack.index(v)
            if len(stack) - k > 1:
                found.append(sorted(stack[k:]))
            del stack[k:]

    for v in sorted(graph):
        if v not in number:
            visit(v)
    return found


def calls(sources):
    """Which source calls a function that one other source alone defines."""
    defined, used = collections.defaultdict(set), collections.defaultdict(set)
    own, graph = collections.defaultdict(set), collections.defaultdict(set)
    for path, text in sources.items():
        here = re.sub(r"\.\w+$", "", path)
        graph[here] |= set()
        for name, _, body, static in functions(text):
            own[here].add(name)
            used[here] |= set(re.findall(r"(?<![\w.>])([a-z]\w+)\s*\(", body))
            if not static or path.endswith(".h"):
                defined[name].add(here)
    for here, names in used.items():
        for name in names - own[here]:
            if len(defined.get(name, ())) == 1:
                graph[here] |= defined[name]
    return graph


def includes(sources):
    graph = collections.defaultdict(set)
    for path, text in sources.items():
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M):
            for base in (os.path.dirname(path), "solver_c", "solver_c/include", ""):
                to = os.path.normpath(os.path.join(base, name)).replace(os.sep, "/")
                if to in sources:
                    graph[path].add(to)
                    graph[to] |= set()
                    break
    return graph


def judge(texts):
    problems, said, unsaid, lines = [], collections.Counter(), {}, collections.Counter()
    for path, text in texts.items():
        for n, line in enumerate(text.split("\n"), 1):
            if len(line) > LONGEST and " " in line.strip():
                problems.append("%s:%d: %d characters; at most %d" % (path, n, len(line), LONGEST))
        lines[room(path)] += len([line for line in text.split("\n") if line.strip()])
        for comment in comments(path, text):
            said[room(path)] += 1
            if PRONOUN.search(comment):
                first = " ".join(comment.split())[:80]
                unsaid.setdefault(room(path), []).append("%s: %s" % (path, first))
        found = []
        if C.search(path):
            found = [(1 + len(BRANCH.findall(body)), name, line)
                     for name, line, body, _ in functions(bare(text))]
        elif path.endswith(".py"):
            found = python_functions(text)
        for complexity, name, line in found:
            if complexity > MOST_COMPLEX:
                problems.append("%s:%d: %s has a complexity of %d; at most %d"
                                % (path, line, name, complexity, MOST_COMPLEX))
    for folder, found in unsaid.items():
        if len(found) >= CLAUSES * said[folder]:
            problems.append("%s: %d of %d comments have who or what in the place of a noun:\n  %s"
                            % (folder, len(found), said[folder], "\n  ".join(found[:5])))
    for folder, count in lines.items():
        if count > LARGEST * sum(lines.values()):
            problems.append("%s has %.1f%% of the lines; at most %.0f%%"
                            % (folder, 100.0 * count / sum(lines.values()), 100 * LARGEST))
    ours = {path: text for path, text in texts.items()
            if C.search(path) and re.match(r"(solver_c|cuda|verify|hdk_plugin)/", path)}
    for circle in circles(includes(ours)):
        problems.append("files include each other: " + ", ".join(circle))
    sources = re.compile(r"((solver_c|verify)/.*\.[ch]|cuda/.*\.(cu|h))$")
    for circle in circles(calls({path: bare(text) for path, text in ours.items()
                                 if sources.match(path)})):
        problems.append("files call each other: " + ", ".join(circle))
    return problems, lines


def self_test():
    good = {"a%d/x.c" % k: "/* A noun. */\nint x%d(void) { return 0; }\n" % k for k in range(8)}
    bad = {
        "characters; at most": ("a1/x.c", "int y; /* %s */\n" % ("long " * 20)),
        "x.sh:2: 110 characters; at most": ("a1/x.sh", "#!/bin/sh\necho %s\n" % ("long " * 21)),
        "in the place of a noun": ("a2/x.c", "/* What waits here is told. */\n"),
        "has a complexity of 31": ("a3/x.c", "void f(int a) {\n%s}\n" % ("if (a) a--;\n" * 30)),
        "x.py:1: g has a complexity of 31": (
            "a3/x.py", "def g(a):\n" + "    if a:\n        a -= 1\n" * 30),
        "of the lines; at most": ("a4/x.c", "int z;\n" * 20),
        "include each other": ("cuda/a.h", '#include "b.h"\n'),
        "call each other: verify/a, verify/b": ("verify/a.c", "void v_one(void) { v_two(); }\n"),
        "call each other: cuda/c, cuda/d": ("cuda/c.cu", "void c_one(void) { c_two(); }\n"),
    }
    more = {"cuda/b.h": '#include "a.h"\n', "verify/b.c": "void v_two(void) { v_one(); }\n",
            "cuda/d.h": "inline void c_two(void) { c_one(); }\n"}
    if judge(good)[0]:
        sys.exit("house: a good tree is refused: %s" % judge(good)[0])
    for words, (path, text) in bad.items():
        found = judge(good | more | {path: text})[0]
        if not any(words in f for f in found):
            sys.exit("house: '%s' is not found: %s" % (words, found))
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, ".ci"))
        for name, first in ((".ci/run", "#!/usr/bin/env bash"), ("dev", "#!/bin/sh"),
                            ("LICENSE", "Text"), ("tool", "#!/usr/bin/env python3")):
            with open(os.path.join(root, name), "w", encoding="utf-8") as f:
                f.write(first + "\n")
        seen = sorted(path for path, _ in files(root))
        if seen != [".ci/run", "dev"]:
            sys.exit("house: scripts read are %s; expected .ci/run and dev" % seen)
    print("house: each of %d faults is found" % len(bad))


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    problems, lines = judge(dict(files(sys.argv[1])))
    for p in problems:
        print(p)
    largest = max(lines, key=lines.get)
    print("house: %d lines in %d folders, the largest %s with %.1f%%: %s"
          % (sum(lines.values()), len(lines), largest,
             100.0 * lines[largest] / sum(lines.values()),
             "%d problems" % len(problems) if problems else "as it should be"))
    sys.exit(1 if problems else 0)


main()
