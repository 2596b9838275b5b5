"""make_help.py OOZE OUT: the help pages of the nodes, in Houdini's markup, into
OUT/nodes/{sop,dop}.

Beside this script lies NAME.txt for each node: title and summary are made from the list of nodes,
the text is taken as it is, and three sections are filled in:
  @parameters   every parameter from `ooze schema nodes --json`, in the dialog's order with unit,
  default and range. Indented below it may stand
                notes, "token: text", that are added to a parameter's own help; a note on a
                parameter that does not exist is an error
  @inputs       the labels come from the list; one paragraph each, in order, is the text
  | a | b |     a table
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import re
import subprocess
import sys


def fail(text):
    sys.stderr.write("make_help: %s\n" % text)
    sys.exit(1)


def page_name(node):
    """ooze::solver::1.0 is ooze--solver-1.0.txt: the namespace with two dashes, the version with
    one."""
    words = node["type_name"].split("::")
    if len(words) == 1:
        return words[0] + ".txt"
    return "%s--%s-%s.txt" % tuple(words)


def value_text(parm):
    if parm["type"] == "button":
        return ""
    if parm["type"] in ("menu", "choice"):
        words = [w.split("=") for w in parm["menu"].split("|")]
        token = parm["default_text"]
        if parm["type"] != "choice":
            token = words[int(parm["default"][0])][0]
        if parm["token"] == "preset":  # they have a table of their own
            return "Default: %s." % dict(words)[token]
        return "One of %s. Default: %s." % (", ".join(label for _, label in words),
                                            dict(words)[token])
    if parm["type"] == "toggle":
        return "Default: %s." % ("on" if parm["default"][0] else "off")
    if parm["type"] == "text":
        return "Default: `%s`." % parm["default_text"] if parm["default_text"] else ""
    numbers = " ".join("%.6g" % v for v in parm["default"])
    unit = " " + parm["unit"] if parm["unit"] else ""
    text = "Default: %s%s." % (numbers, unit)
    if parm["type"] in ("float", "int"):
        low, high = parm["minimum"], parm["maximum"]
        if high <= 1e4:
            text += " From %.6g to %.6g%s." % (low, high, unit)
        elif low > -1e4:
            text += " %.6g%s or more." % (low, unit)
    return text


def parameters(node, notes):
    known = {p["token"] for p in node["parameters"]}
    for token in notes:
        if token not in known:
            fail("%s.txt has a note on '%s', which is no parameter of %s"
                 % (node["name"], token, node["type_name"]))
    lines, folder = ["@parameters", ""], ""
    for p in node["parameters"]:
        if not p["help"].strip():
            fail("%s: %s has no help" % (node["type_name"], p["token"]))
        if p["folder"] != folder:
            folder = p["folder"]
            lines += ["== %s ==" % folder, ""]
        lines += ["%s:" % p["label"], "    #id: %s" % p["token"], ""]
        lines += ["    " + (p["help"] + " " + value_text(p)).strip(), ""]
        if p["token"] in notes:
            lines += ["    " + notes[p["token"]], ""]
    return lines


def inputs(node, paragraphs):
    labels = [l for l in node["inputs"].split("|") if l]
    if len(labels) != len(paragraphs):
        fail("%s.txt tells of %d inputs, %s has %s"
             % (node["name"], len(paragraphs), node["type_name"], labels))
    lines = ["@inputs", ""] if labels else []
    for label, text in zip(labels, paragraphs):
        lines += ["%s:" % label, "    " + text, ""]
    return lines


def table(rows):
    lines = ["table>>"]
    for i, row in enumerate(rows):
        lines.append("    tr>>")
        lines += ["        %s>>%s" % ("th" if i == 0 else "td", cell.strip())
                  for cell in row.strip().strip("|").split("|")]
    return lines + [""]


def presets(ooze):
    rows = ["| Material | Density (kg/m^3) | Viscosity (Pa s) | Relaxation time (s) "
            "| Compliance (1/Pa) | |"]
    for p in json.loads(subprocess.run([ooze, "schema", "presets", "--json"], capture_output=True,
                                       check=True).stdout):
        rows.append("| %s | %g | %g | %g | %g | %s |"
                    % (p["name"].replace("_", " ").title(), p["density"], p["viscosity"],
                                                     p["relaxation_time"], p["compliance"],
                                                     p["about"]))
    return table(rows)


def page(node, text, ooze):
    out = ["#type:     node", "#context:  " + node["context"], "#internal: " + node["type_name"],
           "#icon:     " + icon(node), "",
           "= %s =" % node["label"], "", '"""%s"""' % node["help"], ""]
    lines, i, seen = text.split("\n"), 0, set()
    while i < len(lines):
        line = lines[i]
        i += 1
        if line.startswith("@parameters") or line.startswith("@inputs"):
            seen.add(line.strip())
            block = []
            while i < len(lines) and (not lines[i].strip() or lines[i].startswith("    ")):
                block.append(lines[i].strip())
                i += 1
            paragraphs = [" ".join(p.split("\n")) for p in "\n".join(block).strip().split("\n\n")
                          if p]
            if line.startswith("@inputs"):
                out += inputs(node, paragraphs)
                continue
            notes = {}
            for paragraph in paragraphs:
                match = re.match(r"([a-z0-9]+): (.*)", paragraph)
                if not match:
                    fail("%s.txt: '%s' is no note" % (node["name"], paragraph))
                notes[match.group(1)] = match.group(2)
            out += parameters(node, notes)
        elif line.startswith("@presets"):
            out += presets(ooze)
        elif line.startswith("|"):
            rows = [line]
            while i < len(lines) and lines[i].startswith("|"):
                rows.append(lines[i])
                i += 1
            out += table(rows)
        else:
            out.append(line)
    missing = {"@parameters", "@inputs"} - seen - (set() if node["inputs"] else {"@inputs"})
    if missing:
        fail("%s.txt has no %s" % (node["name"], ", ".join(sorted(missing))))
    return "\n".join(out).rstrip() + "\n"


def icon(node):
    """SOP/ooze_solver is the file config/Icons/SOP_ooze_solver.svg; for a node without an icon of
    its choice Houdini takes CONTEXT_type."""
    return "SOP/ooze_" + node["name"] if node["context"] == "sop" else "DOP/" + node["type_name"]


def main():
    ooze, folder = sys.argv[1], sys.argv[2]
    here = os.path.dirname(os.path.abspath(__file__))
    nodes = json.loads(subprocess.run([ooze, "schema", "nodes", "--json"], capture_output=True,
                                      check=True).stdout)
    for node in nodes:
        source = os.path.join(here, node["name"] + ".txt")
        if not os.path.exists(source):
            fail("there is no help/%s.txt for %s" % (node["name"], node["type_name"]))
        with open(source, encoding="utf-8") as f:
            text = page(node, f.read(), ooze)
        place = os.path.join(folder, "nodes", node["context"])
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, page_name(node)), "w", encoding="utf-8", newline="\n") as f:
            f.write(text)


if __name__ == "__main__":
    main()
