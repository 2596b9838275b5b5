# SPDX-License-Identifier: Apache-2.0
"""Meshes of Ooze in Blender 3.2 and newer, with every channel.

    blender --python ooze_import.py -- meshes/slime.0001.ply            # one frame
    blender --python ooze_import.py -- 'meshes/slime.####.ply'          # one object for all frames

Blender's own importer reads positions, normals and colours of a .ply. This one keeps the other
channels too, as attributes of the vertices: `velocity` (m/s: Cycles takes it for motion blur), `Cd`
(linear), `rest`, `rest2`, `age`, `material`, `temperature` and whatever else the file has. Y is up
in the file and Z in Blender: positions and vectors are turned.
"""
import os
import re
import sys

import bpy
import numpy

TYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4",
         "float": "f4", "double": "f8", "int32": "i4", "uint32": "u4", "float32": "f4",
         "uint8": "u1"}
TURNED = {"P", "v", "N", "rest", "rest2"}  # vectors in space, in metres or m/s


def read(path):
    """Channels by name, triangles, details of a binary little-endian .ply with one list a face."""
    with open(path, "rb") as file:
        head, body = file.read().split(b"end_header\n", 1)
    lines = [line.split() for line in head.decode().splitlines()]
    if ["format", "binary_little_endian", "1.0"] not in lines:
        raise ValueError("%s: expected a binary little-endian .ply, as Ooze writes it" % path)
    counts, row, details, element = {}, [], {}, None
    for words in lines:
        if words[:1] == ["element"]:
            element, counts[words[1]] = words[1], int(words[2])
        elif words[:1] == ["property"] and element == "vertex":
            row.append((words[2], "<" + TYPES[words[1]]))
        elif words[:3] == ["comment", "ooze", "detail"]:
            details[words[3]] = float(words[4])
    vertices = numpy.frombuffer(body, numpy.dtype(row), counts["vertex"])
    face = numpy.dtype([("n", "u1"), ("v", "<i4", 3)])
    faces = numpy.frombuffer(body, face, counts.get("face", 0), vertices.nbytes)
    if len(faces) and not (faces["n"] == 3).all():
        raise ValueError("%s: expected triangles" % path)
    channels, names = {}, [name for name, _ in row]
    vectors = {"P": ["x", "y", "z"], "v": ["vx", "vy", "vz"], "N": ["nx", "ny", "nz"]}
    for name in names:
        if name.endswith("_0"):
            vectors[name[:-2]] = ["%s_%d" % (name[:-2], k) for k in range(3)]
    for name, parts in vectors.items():
        if all(part in names for part in parts):
            channels[name] = numpy.stack([vertices[part] for part in parts], 1).astype("f4")
    spare = {part for parts in vectors.values() for part in parts} | {"red", "green", "blue"}
    channels.update({name: vertices[name] for name in names if name not in spare})
    for name in TURNED & set(channels):  # y up to z up
        x, y, z = channels[name].T
        channels[name] = numpy.stack([x, -z, y], 1)
    return channels, faces["v"], details


def add(mesh, name, kind, field, values):
    layer = mesh.attributes.new(name, kind, "POINT")
    layer.data.foreach_set(field, numpy.ascontiguousarray(values).ravel())


def fill(mesh, path):
    """Replaces what is in a mesh by that of a file; returns the file's details (frame, time)."""
    channels, triangles, details = read(path)
    mesh.clear_geometry()
    mesh.vertices.add(len(channels["P"]))
    mesh.vertices.foreach_set("co", channels.pop("P").ravel())
    mesh.loops.add(3 * len(triangles))
    mesh.loops.foreach_set("vertex_index", triangles.ravel())
    mesh.polygons.add(len(triangles))
    mesh.polygons.foreach_set("loop_start", numpy.arange(0, 3 * len(triangles), 3, dtype="i4"))
    if bpy.app.version < (4, 0):
        mesh.polygons.foreach_set("loop_total", numpy.full(len(triangles), 3, dtype="i4"))
    mesh.polygons.foreach_set("use_smooth", numpy.ones(len(triangles), dtype=bool))
    mesh.update(calc_edges=True)
    channels.pop("N", None)  # of the level set; Blender has its own
    for name, values in channels.items():
        if name == "Cd":
            opaque = numpy.ones((len(values), 1), dtype="f4")
            add(mesh, name, "FLOAT_COLOR", "color", numpy.hstack([values, opaque]))
            mesh.attributes.active_color = mesh.attributes[name]
        elif values.ndim == 2:
            add(mesh, "velocity" if name == "v" else name, "FLOAT_VECTOR", "vector", values)
        elif values.dtype.kind == "f":
            add(mesh, name, "FLOAT", "value", values.astype("f4"))
        else:
            add(mesh, name, "INT", "value", values.astype("i4"))
    return details


def load(path):
    """An object with the mesh of a file, or, with #### in its name, of the file of each frame."""
    name = re.sub(r"[.#]*\.ply$", "", os.path.basename(path)) or "ooze"
    mesh = bpy.data.meshes.new(name)
    item = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(item)
    marks = re.search("#+", os.path.basename(path))
    if not marks:
        fill(mesh, path)
        return item

    def change(scene, *_):
        number = "%0*d" % (len(marks.group()), scene.frame_current)
        file = os.path.join(os.path.dirname(path),
                            os.path.basename(path).replace(marks.group(), number))
        if os.path.exists(file):
            fill(mesh, file)

    bpy.app.handlers.frame_change_pre.append(change)
    change(bpy.context.scene)
    return item


if __name__ == "__main__":
    for argument in sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []:
        load(argument)
