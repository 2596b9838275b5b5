"""hython tests/farm/check_names.py: for a machine with Houdini and the installed package. Creates
every node of fake/stock.json and every Ooze node, and says which types, parameters, menu words and
inner nodes do not exist there. Nothing printed but the count is good. SPDX-License-Identifier:
Apache-2.0
"""
import json
import os
import sys

import hou

HOLDERS = {"obj": "/obj", "lop": "/stage", "tasks": "/tasks"}


def holder(context):
    if context in HOLDERS:
        return hou.node(HOLDERS[context])
    parent, kind = {"sop": ("/obj", "geo"), "vop": ("/stage", "materiallibrary"),
                    "top": ("/tasks", "topnet"), "dop": ("/obj", "dopnet")}[context]
    return hou.node(parent).createNode(kind)


def check(context, kind, spec):
    missing = []
    try:
        node = holder(context).createNode(kind)
    except hou.OperationFailed:
        return ["%s: there is no such %s node" % (kind, context)]
    for path, names in spec.get("inside", {}).items():
        missing += ["%s: has no %s/%s inside" % (kind, path, n) for n in names
                    if node.node(path + "/" + n) is None]
    counts = [n for n in ("points", "materials", "wedgeattributes") if n in spec["parms"]]
    for name in counts:
        node.parm(name).set(1)
    if "values#" in spec["parms"]:
        node.parm("wedgetype1").set(2)
        node.parm("values1").set(1)
    for name, default in spec["parms"].items():
        # Add counts its points from 0, the others from 1
        real = name.replace("#", "0" if kind == "add" else "1")
        parm = node.parmTuple(real) if isinstance(default, list) else node.parm(real)
        if parm is None:
            missing.append("%s: has no parameter %s" % (kind, real))
        elif isinstance(default, list) and len(parm) != len(default):
            missing.append("%s: %s has %d components, not %d"
                           % (kind, real, len(parm), len(default)))
        elif isinstance(default,
                        dict) and "menu" in default and list(parm.menuItems()) != default["menu"]:
            missing.append("%s: the menu of %s is %s, not %s"
                           % (kind, real, list(parm.menuItems()), default["menu"]))
    if len(node.inputConnectors()) < min(spec["inputs"], 4):
        missing.append("%s: has %d inputs, not %d"
                       % (kind, len(node.inputConnectors()), spec["inputs"]))
    return missing


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake", "stock.json")) as f:
        types = {k: v for k, v in json.load(f).items() if k != "about"}
    for kind, context in (("ooze::step::1.0", "sop"), ("ooze::solver::1.0", "sop"),
                          ("ooze::source::1.0", "sop"), ("ooze::collider::1.0", "sop"),
                          ("ooze::surface::1.0", "sop"), ("gasooze", "dop")):
        types["%s/%s" % (context, kind)] = {"inputs": 0, "parms": {}}
    missing = [text for name, spec in sorted(types.items())
               for text in check(*name.split("/", 1), spec)]
    print("\n".join(missing))
    print("[ooze] Houdini %s: %d node types checked, %d names differ"
          % (hou.applicationVersionString(), len(types), len(missing)))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
