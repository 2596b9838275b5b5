"""references.py ROOT [FILE...]: every reference in *.md and in comments leads somewhere.

A reference is a link, the name of a file, a section of a file ("file.md#anchor"), a numbered
section, an equation of docs/theory, "(V.3)", an equation of a paper, "(16)", or, in docs/theory and
docs/dev, a name of the code between backticks. Files named after ROOT are read instead of all.
SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import sys

SOURCES = (".c", ".h", ".cpp", ".cu", ".def")
SCRIPTS = (".py", ".sh", ".cmake", ".sbatch")
# papers whose equations and sections are cited by number
PAPERS = re.compile(r"Barreiro|Takahashi|Takamatsu|Clavet|Mukai|Akinci|Macklin|Saramito"
                    r"|\bpapers?\b")
LAST_EQUATION = 21  # of the longest of them
# documents of a workplace: nothing in the repository may point at them
ELSEWHERE = re.compile(r"\b(NUMERICS|DESIGN|HOUSE_RULES|GLOSSARY)\.md\b")
NAME = re.compile(r"(?<![\w./#*<>$%{}~-])((?:[\w+-]+/)*[\w+-]+"
                  r"\.(?:md|h|cpp|cu|c|def|py|sh|cmake|sbatch))"
                  r"(#[\w-]+)?(?!\w|[./*]\w|\()")
FOLDER = re.compile(r"(?<![\w./-])((?:solver_c|cuda|tests|docs|examples|hdk_plugin|otls|cmake"
                    r"|verify)(?:/[\w-]+)+)/?"
                    r"(?![\w./*<\[-])")
SECTION = re.compile(r"\b(?:[Ss]ection|[Ss]ec\.|[Pp]art) ([1-9](?:\.[1-9])?)\b(?! (?:of|in) )")
DOTTED = re.compile(r"\((?:[^()]*[,;] ?)?([1-9]\.[1-9])(?:[,;)]| step)")
OURS = re.compile(r"\(([A-Z]\.\d+)(?:[,;)]| to)")
THEIRS = re.compile(r"(?<![\w)\]`])\((\d{1,2})\)(?!\w)")


def walk(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f in (".github", ".ci") or
                            not f.startswith((".", "build", "shared", "__pycache__")))
        for f in sorted(files):
            yield os.path.relpath(os.path.join(folder, f), root).replace(os.sep, "/")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def blank(text):
    """The same lines without their letters."""
    return re.sub(r"[^\n]", " ", text)


def comments(path, text):
    """What of a file is prose, with line breaks where they were."""
    if path.endswith(".md"):
        return re.sub(r"^```.*?^```", lambda m: blank(m.group(0)), text, flags=re.M | re.S)
    out, at = [], 0
    if path.endswith(SOURCES):
        pattern = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/'
    else:
        pattern = r'"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|(?:(?<=\s)|^)#[^\n]*'
    for m in re.finditer(pattern, text, re.S | re.M):
        out.append(blank(text[at:m.start()]))
        prose = m.group(0).startswith(("//", "/*", "#", '"""'))
        out.append(m.group(0) if prose else blank(m.group(0)))
        at = m.end()
    return "".join(out) + blank(text[at:])


def slug(heading):
    words = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
    return words.strip().replace(" ", "-")


class Tree:
    def __init__(self, root):
        self.root = root
        self.files = [f for f in walk(root)]
        self.known = set(self.files)
        self.by_name, self.folders = {}, set()
        for f in self.files:
            self.by_name.setdefault(f.rsplit("/", 1)[-1], []).append(f)
            parts = f.split("/")
            for n in range(1, len(parts)):
                self.folders.add("/".join(parts[:n]))
        self.anchors, self.tags, self.included, self.words = {}, {}, set(), set()
        for f in self.files:
            name = f.rsplit("/", 1)[-1]
            if f.endswith(".md"):
                text = read(os.path.join(root, f))
                self.anchors[f] = {slug(h) for h in re.findall(r"^#+ +(.+?) *$", text, re.M)}
                for tag in re.findall(r"\\tag\{([A-Z]\.\d+)\}", text):
                    self.tags.setdefault(tag, []).append(f)
            elif f.endswith(SOURCES + SCRIPTS) or name in ("dev",
                "CMakeLists.txt") or f.endswith(".json"):
                text = read(os.path.join(root, f))
                self.included.update(t.rsplit("/", 1)[-1]
                                     for t in re.findall(r'#\s*include\s*[<"]([^>"]+)', text))
                self.words.update(re.findall(r"\w+", text))

    def find(self, name, beside):
        """A file by its path, from the root, from beside, or by the end of a path."""
        for start in ("", beside + "/" if beside else ""):
            path = os.path.normpath(start + name).replace(os.sep, "/")
            if path in self.known:
                return path
        for path in self.by_name.get(name.rsplit("/", 1)[-1], []):
            if path == name or path.endswith("/" + name):
                return path
        return None

    def folder(self, name):
        return name in self.folders or name in self.known or any(
            f.startswith(name + ".") or f.startswith(name + "_") for f in self.known)


PHYSICS = ("solver_c/physics/", "solver_c/models/")


class Page:
    """One file, and (line, what) of each of its references that leads nowhere."""

    def __init__(self, tree, path):
        self.tree, self.path, self.found = tree, path, []
        self.text = read(os.path.join(tree.root, path))
        self.prose, self.beside = comments(path, self.text), os.path.dirname(path)
        self.unlinked = re.sub(r"\]\([^)]*\)", lambda k: blank(k.group(0)), self.prose)
        self.flat = re.sub(r"\n[ \t]*(?:\*|#|//)?[ \t]*", lambda m: " " * len(m.group(0)),
                           self.prose)

    def at(self, m, what):
        self.found.append((self.text.count("\n", 0, m.start()) + 1, what))

    def around(self, m, reach=240):
        return self.flat[max(0, m.start() - reach):m.end() + reach]

    def elsewhere(self):
        for m in ELSEWHERE.finditer(self.text):
            self.at(m, "%s is not in the repository" % m.group(0))

    def links(self):
        for m in re.finditer(r"\]\(([^)\s]*)\)", self.prose):
            target, _, anchor = m.group(1).partition("#")
            if "://" in target:
                continue
            to = self.path
            if target:
                to = os.path.normpath(os.path.join(self.beside, target)).replace(os.sep, "/")
            if to not in self.tree.known and to not in self.tree.folders:
                self.at(m, "links to %s, which is not there" % target)
            elif anchor and anchor not in self.tree.anchors.get(to, ()):
                self.at(m, "%s has no section #%s" % (to, anchor))

    def names(self):
        tree = self.tree
        for m in NAME.finditer(self.unlinked):
            name, anchor = m.group(1), (m.group(2) or "")[1:]
            stands_for_any = r"(?:^|/)(?:NAME|FILE|file|name|x|a|b)\.\w+$"
            if ELSEWHERE.search(name) or re.search(stands_for_any, name):
                continue
            to = tree.find(name, self.beside)
            if not to:
                last = name.rsplit("/", 1)[-1]
                if last not in tree.included or "/" in name and last in tree.by_name:
                    self.at(m, "names %s, which is not there" % name)
            elif anchor and to.endswith(".md") and anchor not in tree.anchors[to]:
                self.at(m, "%s has no section #%s" % (to, anchor))
        for m in FOLDER.finditer(self.unlinked):
            if not tree.folder(m.group(1)) and not tree.find(m.group(1), self.beside):
                self.at(m, "names %s, which is not there" % m.group(1))

    def sections(self):
        for m in SECTION.finditer(self.flat):
            near, before = self.around(m), self.flat[max(0, m.start() - 30):m.start()]
            if PAPERS.search(near) or not re.match(r"[Ss]ec", m.group(0)) and "(" not in before:
                continue
            number = "^" + re.escape(m.group(1)) + r"\.?\b"
            files = [self.tree.find(n.group(1), self.beside) for n in NAME.finditer(near)]
            if not any(re.search(number, a.replace("-", " ")) for f in files + [self.path] if f
                       for a in self.tree.anchors.get(f, ())):
                self.at(m, "%s: of which document?" % m.group(0))
        for m in DOTTED.finditer(self.flat if self.path.startswith(PHYSICS) else ""):
            if not PAPERS.search(self.around(m, 60)):
                self.at(m, "section %s of which document?" % m.group(1))

    def equations(self):
        for m in OURS.finditer(self.flat):
            if m.group(1) not in self.tree.tags:
                self.at(m, "there is no equation (%s) in docs/theory" % m.group(1))
        theory = self.path.startswith("docs/theory/")
        if not theory and not self.path.startswith(PHYSICS) or "/lanes" in self.path:
            return
        cites = bool(PAPERS.search(self.flat)) or theory and "paper" in self.flat
        for m in THEIRS.finditer(self.flat):
            if not cites or int(m.group(1)) > LAST_EQUATION:
                self.at(m, "equation (%s) of which paper?" % m.group(1))

    def words(self):
        for m in re.finditer(r"`([A-Za-z]\w*_\w*)(\*?)`", self.prose):
            word, known = m.group(1), self.tree.words
            if not (any(w.startswith(word) for w in known) if m.group(2) else word in known):
                self.at(m, "`%s` is not in the sources" % m.group(0).strip("`"))


def problems_of(tree, path):
    page = Page(tree, path)
    page.elsewhere()
    if path.endswith(".md"):
        page.links()
    if path.startswith("docs/lab/"):  # files and sections are those of an entry's commit
        return page.found
    page.names()
    page.sections()
    page.equations()
    if path.startswith(("docs/theory/", "docs/dev/")):
        page.words()
    return page.found


def main():
    root = os.path.abspath(sys.argv[1])
    tree, bad, read_files = Tree(root), 0, 0
    for tag, where in sorted(tree.tags.items()):
        if len(where) > 1:
            print("FAILED: equation (%s) is in %s" % (tag, " and in ".join(where)))
            bad += 1
    chosen = sys.argv[2:] or [
        f for f in tree.files if f.endswith((".md",) + SOURCES + SCRIPTS)
        or f.rsplit("/", 1)[-1] in (
            "dev", "CMakeLists.txt")]
    for f in chosen:
        if f.startswith("tests/docs/") and f.endswith(".py"):
            continue
        read_files += 1
        for line, what in problems_of(tree, f):
            print("FAILED: %s:%d: %s" % (f, line, what))
            bad += 1
    print("references: %s" % ("%d lead nowhere" % bad if bad else "all of %d files lead somewhere"
                              % read_files))
    sys.exit(1 if bad or read_files == 0 else 0)


if __name__ == "__main__":
    main()
