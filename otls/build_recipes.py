"""hython otls/build_recipes.py [FILE.hda]: the material presets as recipes (Houdini 20.5 or newer),
so that they stand in the preset menu (the gear) of Ooze Source with their numbers in the dialog,
ready to be changed. FILE is ooze_recipes.hda beside this script unless given; in a package it lies
in otls/, where Houdini finds it. The numbers are those of `ooze schema presets --json`: from the
package's scripts/python/ooze_presets.json, or from the program that OOZE names.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = "ooze::source::1.0"

import hou  # noqa: E402


def presets():
    file = os.path.join(HERE, "..", "scripts", "python", "ooze_presets.json")
    if os.path.exists(file):
        with open(file, encoding="utf-8") as f:
            return json.load(f)
    program = os.environ.get("OOZE", os.path.join(HERE, "..", "build", "ooze"))
    return json.loads(subprocess.run([program, "schema", "presets", "--json"], capture_output=True,
                                     check=True).stdout)


def token(field):
    """The name of a material's number on the node."""
    return {"relaxation_time": "relaxtime"}.get(field, field.replace("_", ""))


def build(file):
    if not hasattr(getattr(hou, "data", None), "saveNodePresetRecipe"):
        raise SystemExit("[ooze] this Houdini (%s) has no recipes; 20.5 or newer has"
                         % hou.applicationVersionString())
    box = hou.node("/obj").createNode("geo", "ooze_recipes")
    made = []
    for preset in presets():
        numbers = {token(k): v for k, v in preset.items() if isinstance(v, (int, float))}
        node = box.createNode(NODE, preset["name"])
        node.parm("preset").set("custom")
        for name, value in numbers.items():
            node.parm(name).set(value)
        hou.data.saveNodePresetRecipe("ooze::material_%s::1.0" % preset["name"],
                                      preset["name"].replace("_", " ").title(), file, node,
                                      nodetype_patterns=NODE, submenu="Ooze",
                                      parms=tuple(node.parmTuple(n) for n in ["preset"]
                                                  + sorted(numbers)))
        made.append(preset["name"])
    box.destroy()
    print("[ooze] %d recipes in %s" % (len(made), file))
    return made


if __name__ == "__main__":
    build(os.path.abspath(sys.argv[1] if len(sys.argv) > 1
                          else os.path.join(HERE, "ooze_recipes.hda")))
