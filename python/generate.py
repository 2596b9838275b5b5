"""Writes the module _abi: structs, constants and functions of the C headers for ctypes.

    python3 generate.py INCLUDE_FOLDER OUT

The headers are the one list; nothing of them is written down a second time.
SPDX-License-Identifier: Apache-2.0
"""
import re
import sys

HEADERS = ["ooze_base.h", "ooze_objects.h", "ooze_particles.h", "ooze.h", "ooze_io.h",
           "ooze_surface.h", "ooze_scene.h"]
TYPES = {
    "uint8_t": "c_uint8", "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64",
    "uint64_t": "c_uint64", "size_t": "c_size_t", "float": "c_float", "double": "c_double",
    "int": "c_int", "char": "c_char", "ooze_result": "c_int32", "ooze_attribute": "c_int",
    "ooze_collider": "c_uint32", "ooze_emitter": "c_uint32", "ooze_body": "c_uint32",
}


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^\s*#.*$", "", text, flags=re.M)


def number(expression, names):
    """The value of a C constant expression, or None."""
    e = re.sub(r"\((?:u?int\d+_t|size_t)\)", "", expression.strip())
    e = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", e)
    e = re.sub(r"(\d\.?\d*(?:e[-+]?\d+)?)f\b", r"\1", e)
    if e == "NULL":
        return None
    try:
        return eval(e, {"__builtins__": {}}, names)
    except Exception:
        return None


class Headers:
    def __init__(self, folder):
        self.constants, self.structs, self.defaults = {}, {}, {}
        self.opaque, self.functions = [], []
        text = "".join(without_comments(open("%s/ooze/%s" % (folder, h)).read()) for h in HEADERS)
        self.read_enums(text)
        self.read_structs(text)
        self.read_functions(text)
        self.read_defaults(text)

    def read_enums(self, text):
        for body in re.findall(r"\benum\s*\w*\s*\{(.*?)\}", text, flags=re.S):
            last = -1
            for item in filter(None, (i.strip() for i in body.split(","))):
                name, _, value = item.partition("=")
                last = number(value, self.constants) if value else last + 1
                self.constants[name.strip()] = last

    def read_structs(self, text):
        for name in re.findall(r"typedef struct (ooze_\w+) \1\s*;", text):
            self.opaque.append(name)
        for name, body in re.findall(r"typedef struct (ooze_\w+) \{(.*?)\}\s*\1\s*;", text,
                                     flags=re.S):
            self.structs[name] = [f for line in body.split(";") for f in self.fields(line.strip())]

    def fields(self, line):
        if not line:
            return
        if "(*" in line or re.match(r"(?:ooze_range_fn|ooze_line_fn)\b", line):
            name = re.search(r"\(\*(\w+)\)", line) or re.search(r"(\w+)$", line)
            yield name.group(1), "c_void_p"
            return
        m = re.match(r"((?:const\s+)?(?:struct\s+)?\w+)\s*(.*)$", line, flags=re.S)
        base = m.group(1).replace("const", "").replace("struct", "").strip()
        for item in m.group(2).split(","):
            item = item.strip()
            name = re.search(r"(\w+)\s*(?:\[|$)", re.sub(r"\*|\bconst\b", " ", item)).group(1)
            stars = re.sub(r"\[.*?\]", "", item).count("*")  # a size may be a product
            kind = "c_char_p" if base == "char" and stars == 1 else self.kind(base, stars)
            for size in reversed(re.findall(r"\[(.*?)\]", item)):
                kind = "%s * %d" % (kind, number(size, self.constants))
                kind = "(%s)" % kind
            yield name, kind

    def kind(self, base, stars):
        if stars:
            return "c_void_p"
        if base in TYPES:
            return TYPES[base]
        return base if base in self.structs else "c_void_p"

    def read_functions(self, text):
        for result, stars, name, args in re.findall(
                r"OOZE_API\s+(?:const\s+)?(\w+)\s*(\**)\s*(\w+)\(([^;]*?)\)\s*;", text, flags=re.S):
            kinds = []
            for a in (a.strip() for a in args.split(",")):
                if a in ("void", ""):
                    continue
                base = re.sub(r"\bconst\b|\bstruct\b", "", a).split()[0]
                pointer = "*" in a or "[" in a or base in ("ooze_line_fn",)
                kinds.append("c_void_p" if pointer and not (base == "char" and a.count("*") == 1)
                             else "c_char_p" if pointer else self.kind(base, 0))
            out = ("c_char_p" if result == "char" else "c_void_p") if stars else \
                  "None" if result == "void" else TYPES.get(result, "c_int")
            self.functions.append((name, out, kinds))

    def read_defaults(self, text):
        default = r"static inline void (ooze_\w+)_default\(\1 \*\w+\)\s*\{(.*?)\}"
        for name, body in re.findall(default, text, flags=re.S):
            values = []
            for statement in (s.strip() for s in body.split(";")):
                targets = re.findall(r"\w+->([\w.\[\]]+)\s*=(?!=)", statement)
                nested = re.match(r"(ooze_\w+)_default\(&\w+->([\w.]+)\)", statement)
                if nested:
                    values.append((nested.group(2), nested.group(1)))
                elif targets and "sizeof" not in statement:
                    right = statement.rsplit("=", 1)[1].strip()
                    value = right[1:-1].encode() if right.startswith('"') else number(right,
                        self.constants)
                    values += [(t, value) for t in targets]
            self.defaults[name] = values

    def write(self, path):
        out = ['"""Made by generate.py from the headers; not to be edited."""',
               "from ctypes import (Structure, c_char, c_char_p, c_double, c_float, c_int,",
               "                    c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64,",
               "                    c_void_p)", ""]
        out += ["%s = %r" % item for item in self.constants.items()]
        for name, fields in self.structs.items():
            out += ["", "", "class %s(Structure):" % name, "    pass", "", "",
                    "%s._fields_ = [" % name] + ["    (%r, %s)," % f for f in fields] + ["]"]
        out += ["", "DEFAULTS = {"]
        out += ["    %r: %r," % item for item in self.defaults.items()]
        out += ["}", "", "FUNCTIONS = ["]
        out += ["    (%r, %s, [%s])," % (n, r, ", ".join(k)) for n, r, k in self.functions]
        out += ["]", ""]
        with open(path, "w") as f:
            f.write("\n".join(out))


if __name__ == "__main__":
    Headers(sys.argv[1]).write(sys.argv[2])
