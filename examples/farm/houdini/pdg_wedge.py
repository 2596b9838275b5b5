"""A wedge in PDG: hython pdg_wedge.py HIP ROP PARM VALUE VALUE ... [--out FILE.hip]

Adds /tasks/ooze_wedge to a scene: one work item for each value of a parameter of an Ooze node, each
simulating all its frames in one process (frames of a simulation cannot go to several machines), and
a second network that runs the same kind of wedge with the `ooze` command line, without a Houdini
licence.

  hython pdg_wedge.py honey.hip /obj/honey/farm /obj/honey/source/viscosity 3 10 50 200 --out
  honey_wedge.hip

The ROP's file gets a folder `wedge@wedgeindex`, unless its name has `@wedgeindex` already: else the
items would write over each other. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import sys

import hou


def houdini_wedge(tasks, rop, parm, values):
    """Wedge -> ROP Fetch. The parameter itself is driven: no expression has to be put into the
    network."""
    wedge = tasks.createNode("wedge", "values")
    wedge.parm("wedgecount").set(len(values))
    wedge.parm("wedgeattributes").set(1)
    wedge.parm("name1").set(parm.name())
    wedge.parm("exportchannel1").set(1)  # write the value into the node's parameter
    wedge.parm("channel1").set(parm.path())
    wedge.parm("type1").set(0)           # float
    wedge.parm("wedgetype1").set(2)      # a list of values
    wedge.parm("values1").set(len(values))
    for i, value in enumerate(values):
        wedge.parm("floatvalue1_%d" % (i + 1)).set(value)
    fetch = tasks.createNode("ropfetch", "simulate")
    fetch.setInput(0, wedge)
    fetch.parm("roppath").set(rop.path())
    frames = fetch.parm("framegeneration")
    frames.set(len(frames.menuItems()) - 1)  # the last: as the ROP says
    # all frames in one batch: a simulation stays in one process
    fetch.parm("batchall").set(1)
    return fetch


def command_line_wedge(tasks, scene, rows, out, program="ooze"):
    """One item for each row of a scene file's wedge table. The program takes all cores: let the
    scheduler run one at a time."""
    run = tasks.createNode("genericgenerator", "ooze_run")
    run.parm("itemcount").set(rows)
    # PDG reads OUTPUT_FILE:path; lines; --resume makes a retry go on where the item was killed
    run.parm("pdg_command").set(
        "%s run \"%s\" --wedge `@pdg_index` -o \"%s/wedge`@pdg_index`\" --resume --farm "
        "--output-lines" % (program, scene, out))
    return run


def apart(file):
    """A folder for each item, where the file's name does not tell them apart."""
    if file is None or "@wedge" in file.unexpandedString():
        return
    folder, _, name = file.unexpandedString().rpartition("/")
    file.set("%s/wedge`@wedgeindex`/%s" % (folder, name))


def build(rop, parm, values):
    tasks = hou.node("/tasks").createNode("topnet", "ooze_wedge")
    last = houdini_wedge(tasks, rop, parm, values)
    tasks.layoutChildren()
    return last


def main():
    parser = argparse.ArgumentParser(description="Adds a PDG wedge over one parameter to a scene.")
    parser.add_argument("hip")
    parser.add_argument("rop")
    parser.add_argument("parm", help="such as /obj/honey/source/viscosity")
    parser.add_argument("values", nargs="+", type=float)
    parser.add_argument("--out", help="default: the scene itself")
    args = parser.parse_args()
    hou.hipFile.load(args.hip, suppress_save_prompt=True, ignore_load_warnings=True)
    rop, parm = hou.node(args.rop), hou.parm(args.parm)
    if rop is None or parm is None:
        sys.stderr.write("pdg_wedge: the scene has no %s\n"
                         % (args.rop if rop is None else args.parm))
        return 2
    apart(rop.parm("sopoutput"))
    build(rop, parm, args.values)
    hou.hipFile.save(args.out or args.hip)
    return 0


if __name__ == "__main__":
    sys.exit(main())
