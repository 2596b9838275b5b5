"""package.py OOZE SOURCE: installs the Houdini package into a scratch folder and reads it as
Houdini would: the package file, the shelf, the icons, and the help pages against the list of the
nodes' parameters. SPDX-License-Identifier: Apache-2.0
"""
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import report

ooze, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
build = os.path.dirname(ooze)
problems = []


def expect(condition, text):
    if not condition:
        problems.append(text)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def check_package(tree):
    package = json.loads(read(tree, "packages/ooze.json"))
    values = {k: v for entry in package["env"] for k, v in entry.items()}
    expect(values["OOZE"] == "$HOUDINI_PACKAGE_PATH/..",
           "the package does not know where it stands: %s" % values["OOZE"])
    version = subprocess.run([ooze, "info"], capture_output=True,
                             text=True).stdout.split()[1].rstrip(";")
    expect(package["version"] == version == values["OOZE_VERSION"], "package %s, program %s"
           % (package["version"], version))
    # Houdini compares versions as text: each build must get one folder, and no later minor version
    # may sort before an earlier one
    conditions = [(k, v) for entry in values["HOUDINI_PATH"] for k, v in entry.items()
                  if k not in ("method", "value")]

    def served(system, number):
        words = {"houdini_os": system, "houdini_version": number}
        return [v for k, v in conditions if eval(k, {}, words)] if eval(package["enable"], {},
            words) else []
    for system in ("linux", "windows", "macos"):
        for number in ("20.5.654", "21.0.440", "21.0.99", "22.0.368"):
            expect(served(system, number) == ["$OOZE/%s-%s" % (system, number[:4])],
                   "%s %s is served %s" % (system, number, served(system, number)))
        for number in ("20.0.896", "23.0.100"):
            expect(served(system, number) == [], "%s %s is served" % (system, number))


def check_shelf(tree):
    root = xml.fromstring(read(tree, "toolbar/ooze.shelf"))
    tools = {t.get("name"): t for t in root.iter("tool")}
    expect([m.get("name") for m in root.iter("memberTool")] == list(tools),
           "the shelf's members are not its tools")
    modules = {n[:-3] for n in os.listdir(os.path.join(tree, "scripts/python"))
               if n.endswith(".py")}
    expect(len(json.loads(read(tree, "scripts/python/ooze_presets.json"))) > 8,
           "the presets are not in the package")
    expect(set(tools) == {m for m in modules if m != "ooze_kit"}, "tools %s, networks %s"
           % (sorted(tools), sorted(modules)))
    for name, tool in tools.items():
        expect(os.path.exists(os.path.join(tree, "config/Icons", tool.get("icon") + ".svg")),
               "%s: no icon %s" % (name, tool.get("icon")))
        expect(tool.get("label") and (tool.findtext("helpText") or "").strip(),
               "%s: no label or help" % name)
        code = ast.parse(tool.findtext("script"))
        imported = {a.name for n in ast.walk(code) if isinstance(n, ast.Import) for a in n.names}
        expect(imported <= modules | {"hou"} and name in imported, "%s imports %s"
               % (name, imported))
    for name in ["%s.py" % m for m in modules] + ["../../farm/cook.py", "../../farm/pdg_wedge.py",
                                                  "../../otls/build_assets.py",
                                                  "../../otls/build_recipes.py"]:
        ast.parse(read(tree, "scripts/python", name))


def check_icons(tree, nodes):
    for name in os.listdir(os.path.join(tree, "config/Icons")):
        root = xml.fromstring(read(tree, "config/Icons", name))
        expect(root.get("viewBox") == "0 0 64 64", name + " is drawn on another sheet")
    for node in nodes:
        page = help_page(tree, node)
        icon = re.search(r"^#icon: +(\S+)$", page, re.M).group(1).replace("/", "_")
        # the name that plugin.cpp gives to setIconName, or Houdini's own choice
        wanted = "DOP_" + node["type_name"]
        if node["context"] == "sop":
            wanted = "SOP_ooze_" + node["name"]
        expect(icon == wanted, "%s: the page shows %s" % (node["type_name"], icon))
        expect(os.path.exists(os.path.join(tree, "config/Icons", icon + ".svg")), "%s: no icon %s"
               % (node["type_name"], icon))


def help_page(tree, node):
    words = node["type_name"].split("::")
    name = words[0] if len(words) == 1 else "%s--%s-%s" % tuple(words)
    path = os.path.join(tree, "help/nodes", node["context"], name + ".txt")
    return read(path) if os.path.exists(path) else ""


def section(page, name):
    match = re.search(r"^@%s\n(.*?)(?=^@|\Z)" % name, page, re.M | re.S)
    return match.group(1) if match else ""


def check_help(tree, nodes):
    pages = {n["type_name"]: help_page(tree, n) for n in nodes}
    for node in nodes:
        page, name = pages[node["type_name"]], node["type_name"]
        if not page:
            problems.append(name + " has no help page")
            continue
        expect("#internal: %s\n" % name in page and "#context:  %s\n" % node["context"] in page,
               name + ": the page is of another node")
        expect('= %s =' % node["label"] in page and '"""%s"""' % node["help"] in page, name
               + ": no title or summary")
        entries = re.findall(r"^(\S.*):\n    #id: (\S+)\n\n    (\S.*)$",
                             section(page, "parameters"), re.M)
        found = [(label, token) for label, token, _ in entries]
        wanted = [(p["label"], p["token"]) for p in node["parameters"]]
        expect(not set(wanted) - set(found), "%s: no help for %s"
               % (name, sorted(set(wanted) - set(found))))
        expect(not set(found) - set(wanted), "%s: help for what is no parameter: %s"
               % (name, sorted(set(found) - set(wanted))))
        expect(found == wanted, name + ": the parameters' help is in another order than the dialog")
        for label, token, text in entries:
            expect(len(text) > 20, "%s: %s is hardly explained: %s" % (name, token, text))
        labels = [l for l in node["inputs"].split("|") if l]
        expect(re.findall(r"^(\S.*):$", section(page, "inputs"), re.M) == labels,
               "%s: inputs are not %s" % (name, labels))
        expect(len(section(page, "attributes")) > 20, name + ": nothing about attributes")
        expect("== Overview ==" in page and "== Examples ==" in page, name
               + ": no overview or examples")
        for link in re.findall(r"Node:(\w+/[\w.-]+)", page):
            ours = "ooze" in link
            expect(not ours or os.path.exists(os.path.join(tree, "help/nodes", link + ".txt")),
                   "%s links to %s" % (name, link))
        # words in __bold__ are labels of some node's parameters
        known = {p["label"] for n in nodes for p in n["parameters"]}
        for word in re.findall(r"__([^_]+)__", page):
            expect(word in known, "%s speaks of the parameter '%s', which no node has"
                   % (name, word))
        for row in re.findall(r"table>>\n(.*?)\n\n", page, re.S):
            counts = {len(re.findall(r">>", r)) for r in row.split("    tr>>\n")[1:]}
            expect(len(counts) == 1, "%s: a table's rows have %s cells" % (name, counts))
    # every attribute that the solver leaves is in its table
    scene = os.path.join(source, "tests/run/small.json")
    subprocess.run([ooze, "run", scene, "-o", os.path.join(tree, "run"), "--set",
                    "output.frames=[1,2]", "--quiet"], check=True)
    info = json.loads(subprocess.run([ooze, "info",
                                      os.path.join(tree, "run/points/small.0002.bgeo.sc"),
                                      "--json"], capture_output=True).stdout)
    table = section(pages["ooze::solver::1.0"], "attributes")
    names = [a["name"] for a in info["attributes"]]
    expect(len(names) > 8, "attributes: %s" % names)
    for name in names:
        expect("`%s`" % name in table, "the help of Ooze Solver does not tell of `%s`" % name)


with tempfile.TemporaryDirectory() as tree:
    done = subprocess.run(["cmake", "--install", build, "--component", "houdini", "--prefix", tree],
                          capture_output=True, text=True)
    if done.returncode:
        print("FAILED: " + done.stdout[-500:] + done.stderr)
        sys.exit(1)
    nodes = json.loads(subprocess.run([ooze, "schema", "nodes", "--json"], capture_output=True,
                                      check=True).stdout)
    check_package(tree)
    check_shelf(tree)
    check_icons(tree, nodes)
    check_help(tree, nodes)
    # a note on a parameter that does not exist stops the pages from being made
    import shutil
    shutil.copytree(os.path.join(source, "hdk_plugin/help"), os.path.join(tree, "copy"))
    with open(os.path.join(tree, "copy/solver.txt"), "a") as f:
        f.write("\n@parameters\n    substep: There is no such parameter.\n")
    done = subprocess.run([sys.executable, "-B", os.path.join(tree, "copy/make_help.py"), ooze,
                           os.path.join(tree, "out")], capture_output=True, text=True)
    expect(done.returncode == 1 and "'substep', which is no parameter" in done.stderr,
           "a wrong note was taken: " + done.stderr)

report.end("package", problems,
           "package file, shelf, icons and %d help pages fit the nodes" % len(nodes))
