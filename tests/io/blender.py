# SPDX-License-Identifier: Apache-2.0
"""Files of `ooze run` in Blender: blender -b --factory-startup --python blender.py -- OOZE SOURCE.

A .ply by Blender's own importer (shape and colours) and by examples/blender (every channel), an
.obj, and a .vdb with its grids.
"""
import json
import os
import subprocess
import sys
import tempfile
import traceback

import bpy
import numpy

OOZE, SOURCE = sys.argv[sys.argv.index("--") + 1:][:2]
sys.path.insert(0, os.path.join(SOURCE, "examples", "blender"))
import ooze_import  # noqa: E402

SCENE = {
    "solver": {"particle_separation": 0.004},
    "materials": {"red": {"preset": "honey", "colour": [0.8, 0.1, 0.1]},
                  "blue": {"preset": "honey", "colour": [0.1, 0.2, 0.9]}},
    "fluids": {
        "left": {"material": "red", "shape": "box", "size": [0.03, 0.03, 0.03],
                 "position": [-0.015, 0.1, 0.01], "velocity": [0.1, 0, 0.3]},
        "right": {"material": "blue", "shape": "box", "size": [0.03, 0.03, 0.03],
                  "position": [0.015, 0.1, 0.01], "velocity": [0.1, 0, 0.3]}},
    "output": {"frames": [1, 3], "fps": 24, "mesh": "ply", "surface": "vdb"},
}


def check(true, text):
    if not true:
        raise AssertionError(text)


def near(a, b, tolerance, text):
    error = float(numpy.abs(numpy.asarray(a, dtype="f8") - numpy.asarray(b, dtype="f8")).max())
    check(error <= tolerance, "%s: differs by %g, expected %g or less" % (text, error, tolerance))


def values(data, field, width):
    out = numpy.empty(len(data) * width, dtype="f4")
    data.foreach_get(field, out)
    return out.reshape(-1, width)


def corner_colours(mesh):
    """Colours by vertex, of either kind that importers make."""
    layer = mesh.color_attributes[0]
    of = values(layer.data, "color", 4)
    if layer.domain == "POINT":
        return of
    out, at = numpy.zeros((len(mesh.vertices), 4)), numpy.empty(len(mesh.loops), dtype="i4")
    mesh.loops.foreach_get("vertex_index", at)
    out[at] = of
    return out


def main(folder):
    scene = os.path.join(folder, "two.json")
    with open(scene, "w") as file:
        json.dump(SCENE, file)
    subprocess.run([OOZE, "run", scene, "-o", os.path.join(folder, "two"), "--quiet"], check=True)
    found = {os.path.splitext(name)[1]: os.path.join(where, name)
             for where, _, names in os.walk(os.path.join(folder, "two")) for name in names
             if ".0003." in name}
    ply, vdb = found[".ply"], found[".vdb"]
    channels, triangles, details = ooze_import.read(ply)
    check(details["frame"] == 3, "frame %g in the file" % details["frame"])

    # Blender's own importer
    if bpy.app.version < (4, 0):
        bpy.ops.import_mesh.ply(filepath=ply)
    else:
        bpy.ops.wm.ply_import(filepath=ply, forward_axis="Y", up_axis="Z")
    mesh = bpy.context.object.data
    check(len(mesh.vertices) == len(channels["P"]), "%d vertices" % len(mesh.vertices))
    check(len(mesh.polygons) == len(triangles), "%d triangles" % len(mesh.polygons))
    own = corner_colours(mesh)[:, :3]
    # bytes of sRGB; Blender tells them linear
    near(own, channels["Cd"], 0.02, "colours by Blender's importer")

    # ours, with every channel
    item = ooze_import.load(ply.replace(".0003.", ".####."))
    bpy.context.scene.frame_set(3)
    mesh = item.data
    check(not mesh.validate(), "the mesh was not valid")
    near(values(mesh.vertices, "co", 3), channels["P"], 0, "positions")
    near(values(mesh.attributes["velocity"].data, "vector", 3), channels["v"], 0, "velocities")
    near(values(mesh.attributes["Cd"].data, "color", 4)[:, :3], channels["Cd"], 0, "colours")
    near(values(mesh.attributes["rest"].data, "vector", 3), channels["rest"], 0, "rest")
    # -z of the file is y; two frames of a twenty-fourth fall by gravity
    mean = values(mesh.attributes["velocity"].data, "vector", 3).mean(0)
    near(mean, [0.1, -0.3, -9.81 * 2 / 24], 0.02, "mean velocity, z up")
    left = channels["P"][:, 0] < channels["P"][:, 0].mean() - 0.008
    shown = numpy.array(SCENE["materials"]["red"]["colour"])  # sRGB; Cd is linear
    near(channels["Cd"][left], ((shown + 0.055) / 1.055) ** 2.4, 0.01, "colour of the left half")
    bpy.context.scene.frame_set(1)
    check(len(item.data.vertices) > 0, "frame 1 has no mesh")

    # .obj, by the surface command
    obj = os.path.join(folder, "two.obj")
    points = [os.path.join(where, name) for where, _, names in os.walk(os.path.join(folder, "two"))
              for name in names if name.endswith(".0003.bgeo.sc")][0]
    subprocess.run([OOZE, "surface", points, "-o", obj, "--quiet"], check=True)
    bpy.ops.wm.obj_import(filepath=obj)
    imported = len(bpy.context.object.data.vertices)
    check(imported == len(channels["P"]), "%d vertices of the .obj, %d of the .ply"
          % (imported, len(channels["P"])))

    # .vdb
    if getattr(bpy.app, "openvdb", None) and bpy.app.openvdb.supported:
        bpy.ops.object.volume_import(filepath=vdb)
        grids = bpy.context.object.data.grids
        check(grids.load(), grids.error_message)
        kinds = {grid.name: grid.data_type for grid in grids}
        for name, kind in (("surface", "FLOAT"), ("v", "VECTOR_FLOAT"), ("Cd", "VECTOR_FLOAT")):
            check(kinds.get(name) == kind, "grid %s: %s among %s" % (name, kinds.get(name), kinds))
    else:
        print("skipped: this Blender has no OpenVDB")
    print("Blender %s: %d vertices, grids and channels as written"
          % (bpy.app.version_string, len(channels["P"])))


try:
    with tempfile.TemporaryDirectory() as where:
        main(where)
except Exception:  # Blender goes on after an error in a script
    traceback.print_exc()
    sys.stdout.flush()
    os._exit(1)
