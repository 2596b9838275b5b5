"""hython otls/build_assets.py [FOLDER]: the digital assets and the example scenes, from the
networks of examples/houdini.

For each network NAME it leaves FOLDER/ooze_NAME.hda, an object whose few parameters drive the nodes
inside, and FOLDER/NAME.hip, the network by itself with its stage. FOLDER is this one unless given.
Run it with a commercial or Engine licence: others leave .hdalc, .hdanc and .hipnc, which only they
can read. To keep an asset in the repository as text: hotl -t ooze_NAME.hda.d ooze_NAME.hda.
SPDX-License-Identifier: Apache-2.0
"""
import glob
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# in a checkout; an installed package has them on the path
sys.path.append(os.path.join(HERE, "..", "examples", "houdini"))

import hou  # noqa: E402

LABELS = {"honey": "Honey", "toothpaste": "Toothpaste", "chocolate": "Chocolate Melt",
          "slime": "Slime Stretch", "cream": "Whipped Cream", "crate": "Crate in Syrup"}
# The parameters of an asset: parameter, the node types that have it, template, label, help.
PROMOTED = (
    ("particlesep", ("ooze::source", "ooze::collider", "ooze::solver", "ooze::step", "gasooze"),
     hou.FloatParmTemplate, "Particle Separation",
     "The spacing of particles at rest, in metres. Halving it makes eight times as many."),
    ("substeps", ("ooze::solver", "ooze::step", "gasooze"), hou.IntParmTemplate, "Substeps",
     "Steps taken for each frame."),
    ("veliterations", ("ooze::solver", "ooze::step", "gasooze"), hou.IntParmTemplate,
     "Velocity Iterations",
     "Iterations that make the motion viscous or stiff."),
)


def networks():
    import ooze_kit
    folder = os.path.dirname(os.path.abspath(ooze_kit.__file__))
    found = sorted(os.path.basename(p)[len("ooze_"):-3]
                   for p in glob.glob(os.path.join(folder, "ooze_*.py")))
    return [n for n in found if n != "kit"]


def below(node):
    for child in node.children():
        yield child
        for further in below(child):
            yield further


def promote(asset):
    """Each promoted parameter starts with the network's own value, and the nodes follow it."""
    definition = asset.type().definition()
    group = definition.parmTemplateGroup()
    drive = []
    for name, kinds, template, label, text in PROMOTED:
        nodes = [n for n in below(asset) if n.type().name().startswith(kinds)]
        if not nodes:
            continue
        value = nodes[0].parm(name).eval()
        group.append(template(name, label, 1, default_value=(value,), min=0, max=4 * value,
                              help=text))
        drive += [(node, name) for node in nodes]
    definition.setParmTemplateGroup(group)
    for node, name in drive:
        up = "../" * (node.path().count("/") - asset.path().count("/"))
        node.parm(name).setExpression('ch("%s%s")' % (up, name))
    return definition


def build(folder):
    for name in networks():
        module = importlib.import_module("ooze_" + name)
        file = os.path.join(folder, "ooze_%s.hda" % name)
        holder = hou.node("/obj").createNode("subnet", "ooze_" + name)
        module.build(holder)
        asset = holder.createDigitalAsset(name="ooze::%s::1.0" % name, hda_file_name=file,
                                          description="Ooze " + LABELS.get(name, name.title()),
                                          min_num_inputs=0, max_num_inputs=0,
                                          ignore_external_references=True)
        asset.allowEditingOfContents()
        definition = promote(asset)
        definition.setIcon("ooze")
        definition.updateFromNode(asset)
        definition.save(file)
        for root in (hou.node("/obj"), hou.node("/stage")):
            for node in root.children():
                node.destroy()
        module.build(hou.node("/obj"))
        hou.hipFile.save(os.path.join(folder, name + ".hip"))
        for root in (hou.node("/obj"), hou.node("/stage")):
            for node in root.children():
                node.destroy()
        print("[ooze] %s and %s.hip" % (file, name))


if __name__ == "__main__":
    build(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else HERE))
