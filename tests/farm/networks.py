"""networks.py OOZE SOURCE: every example network is built against the stand-in of hou: each node
type, parameter, menu word and input that it uses exists, and what comes out has the shape that the
farm scripts expect. SPDX-License-Identifier: Apache-2.0
"""
import glob
import importlib
import json
import os
import subprocess
import sys
import tempfile

ooze, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
os.environ["OOZE"] = ooze
sys.path[:0] = [os.path.join(source, "tests/farm/fake"), os.path.join(source, "examples/houdini"),
                os.path.join(source, "otls"),
                os.path.join(source, "examples/farm/houdini")]
import hou  # noqa: E402  the stand-in

problems = []


def expect(condition, text):
    if not condition:
        problems.append(text)


def above(node):
    found, todo = [], [node]
    while todo:
        n = todo.pop()
        if n is not None and n not in found:
            found.append(n)
            todo.extend(n.inputs())
    return found


names = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(source,
    "examples/houdini/ooze_*.py")) if "kit" not in p)
expect(len(names) >= 5, "there are only %s" % names)
for name in names:
    hou._new_scene()
    try:
        box = importlib.import_module(name).build(hou.node("/obj"))
    except Exception as why:  # whatever it is, it is the script's fault
        problems.append("%s: %s" % (name, why))
        continue
    for wanted in ("source", "sim", "cache", "farm", "surface", "OUT", "colliders"):
        expect(box.node(wanted), "%s: has no node %s" % (name, wanted))
    chain = [n.type().name() for n in above(box.node("OUT"))]
    if "dopimport" in chain:  # the source comes in by its path
        dynamics = box.node(box.node("sim").evalParm("doppath").rpartition("/")[2])
        chain += [hou.node(n.evalParm("soppath")).type().name() for n in dynamics.children()
                  if n.type().name() == "sopgeo"]
    for kind in ("ooze::source::1.0", "filecache", "ooze::surface::1.0"):
        expect(kind in chain, "%s: OUT does not come from %s" % (name, kind))
    every = [n.type().name() for n in hou._walk(hou.node("/"))]
    expect({"ooze::solver::1.0", "ooze::step::1.0", "gasooze"} & set(every), name
           + ": nothing simulates")
    expect({"display", "render"} <= box.node("OUT")._flags, name
           + ": OUT is not what is displayed and rendered")
    renders = [n for n in hou.node("/stage").children() if n.type().name() == "usdrender_rop"]
    expect(len(renders) == 1 and any(n.type().name() == "sopimport" for n in above(renders[0])),
           name + ": nothing for Karma to render")
    for n in hou._walk(hou.node("/")):
        if n.type().name() == "attribwrangle":
            code = n.evalParm("snippet")
            expect(code.count("(") == code.count(")") and code.count(";") >= 1, "%s: %s"
                   % (n.path(), code))
            # colliders are told apart by the name of their primitives
            expect("@name" not in code or n.evalParm("class") == 1, n.path() + ": names points")
    # one spacing everywhere, or the source's lattice does not fit the solver
    spacings = {n.evalParm("particlesep") for n in hou._walk(hou.node("/"))
                if n.type().name().startswith(("ooze::source", "ooze::solver", "ooze::step",
                                               "ooze::collider", "gasooze"))}
    expect(len(spacings) == 1, "%s: particle separations %s" % (name, spacings))
    print("%-18s %d nodes" % (name, len(every)))

# the stand-in refuses unknown names: otherwise the above would prove nothing
hou._new_scene()
import ooze_kit as kit  # noqa: E402
box = kit.network(hou.node("/obj"), "wrong")
for what, attempt in (
        ("a node type", lambda: kit.add(box, "ooze::pour::1.0", "x")),
        ("a parameter", lambda: kit.add(box, "ooze::solver::1.0", "x", substep=3)),
        ("a menu's word", lambda: kit.add(box, "ooze::source::1.0", "x", preset="hony")),
        ("a value", lambda: kit.add(box, "ooze::solver::1.0", "x", substeps=-3)),
        ("an input", lambda: kit.add(box, "ooze::surface::1.0", "x", None, None,
                                     kit.add(box, "null", "n"))),
        ("a tuple's length", lambda: kit.add(box, "box", "x", size=(1, 2)))):
    try:
        attempt()
        problems.append("a wrong name was taken for " + what)
    except (hou.OperationFailed, ValueError, TypeError):
        pass

# a material for Karma for each preset, of parameters that the shader has
hou._new_scene()
library = kit.add(hou.node("/stage"), "materiallibrary", "all")
for preset in json.loads(subprocess.run([ooze, "schema", "presets", "--json"], capture_output=True,
                                        check=True).stdout):
    expect(preset["name"] in kit.MATERIALS, "Karma: there is no material for %s" % preset["name"])
    try:
        kit.put(library.createNode("mtlxstandard_surface", preset["name"]),
                **kit.MATERIALS.get(preset["name"], {}))
    except (ValueError, TypeError, hou.OperationFailed) as why:
        problems.append("Karma: %s: %s" % (preset["name"], why))
print("%d materials" % len(kit.MATERIALS))

# the PDG recipe
import pdg_wedge  # noqa: E402

hou._new_scene()
box = importlib.import_module("ooze_honey").build(hou.node("/obj"))
box = hou.node("/obj/honey") or box
expect(box.node("source").evalParm("viscosity") > 5 and box.node("source")._pressed == ["preset"],
       "honey: the preset was not pressed, or not first")
pdg_wedge.apart(box.node("farm").parm("sopoutput"))
expect("/wedge`@wedgeindex`/sim." in box.node("farm").parm("sopoutput").unexpandedString(),
       "PDG: items write the same files")
last = pdg_wedge.build(box.node("farm"), box.node("source").parm("viscosity"), [3.0, 10.0, 50.0])
wedge = last.inputs()[0]
expect(wedge.evalParm("floatvalue1_3") == 50.0 and wedge.evalParm("wedgecount") == 3,
       "PDG: the values are not in the wedge")
expect(last.evalParm("roppath") == "/obj/honey/farm" and last.evalParm("batchall") == 1,
       "PDG: the ROP is not fetched in one batch")
command = pdg_wedge.command_line_wedge(last.parent(), "honey.json", 4,
                                       "/shared/honey").evalParm("pdg_command")
expect("--wedge `@pdg_index`" in command and "--output-lines" in command, "PDG: " + command)

# the digital assets
if os.path.exists(os.path.join(source, "otls/build_assets.py")):
    import build_assets
    hou._new_scene()
    with tempfile.TemporaryDirectory() as folder:
        build_assets.build(folder)
        made = sorted(os.listdir(folder))
        expect(len([n for n in made if n.endswith(".hda")]) == len(names), "assets: %s of %s"
               % (made, names))
        for n in made:
            if n.endswith(".hda"):
                with open(os.path.join(folder, n)) as f:
                    asset = json.load(f)
                for parm in asset["parms"]:
                    expect(any("../%s\")" % parm in e for es in asset["expressions"]
                               for e in es.values()), "%s: %s drives nothing" % (n, parm))
        print("%d files of assets and example scenes" % len(made))

# the presets as recipes: each with the numbers that the program has, which the node takes
import build_recipes  # noqa: E402
hou._new_scene()
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "ooze_recipes.hda")
    made = build_recipes.build(file)
    with open(file) as f:
        recipes = [json.loads(line) for line in f]
    presets = build_recipes.presets()
    expect([r["name"] for r in recipes] == ["ooze::material_%s::1.0" % p["name"] for p in presets]
           and len(presets) > 8, "recipes: %s" % made)
    for recipe, preset in zip(recipes, presets):
        values = recipe["parms"]
        expect(recipe["nodes"] == "ooze::source::1.0" and values["preset"] == "custom", "%s: %s"
               % (preset["name"], recipe))
        expect(values["density"] == preset["density"]
               and values["relaxtime"] == preset["relaxation_time"] and
               values["yieldstress"] == preset["yield_stress"], "%s has other numbers: %s"
               % (preset["name"], values))
    print("%d recipes" % len(recipes))

for p in problems:
    print("FAILED: " + p)
sys.exit(1 if problems else 0)
