"""walls.py OOZE: fluid stays on its side of a wall: of a bowl on a table, of a thin glass.
SPDX-License-Identifier: Apache-2.0"""
import json
import math
import os
import subprocess
import sys
import tempfile

from ply import particles

ooze = os.path.abspath(sys.argv[1])
failures = 0

BOWL = [[0, -0.01], [0.04, -0.01], [0.08, 0.02], [0.09, 0.06], [0.08, 0.06], [0.07, 0.025],
        [0.035, 0], [0, 0]]


def check(good, what):
    global failures
    failures += not good
    print("%s  %s" % ("ok   " if good else "FAIL ", what))


def run(scene, *more):
    """Particles of the last frame, and what the program said."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "scene.json")
        with open(file, "w", encoding="utf-8") as opened:
            json.dump(scene, opened)
        done = subprocess.run([ooze, "run", file, "-o", folder, "--quiet", *more], text=True,
                              capture_output=True)
        if done.returncode:
            sys.exit("FAIL  " + done.stderr.strip())
        last = scene["output"]["frames"][1]
        return particles(os.path.join(folder, "points", "scene.%04d.ply" % last)), done.stderr


# A bottom of 2.5 separations right on the table, and a millimetre above: what falls in at 2 m/s
# was held at the table as well, and drawn through the bottom (16 of 1372 particles, for ever).
for below in (-0.01, -0.011):
    fallen, _ = run({
        "solver": {"particle_separation": 0.004},
        "fluids": {"cube": {
            "material": "jelly", "shape": "box", "size": [0.028, 0.028, 0.028],
            "position": [-0.02, 0.1, -0.02], "count": [2, 1, 2], "step": [0.04, 0.05, 0.04],
            "velocity": [0, -1, 0], "turn": 40}},
        "colliders": {
            "bowl": {"shape": "revolve", "profile": BOWL},
            "table": {"shape": "plane", "position": [0, below, 0]}},
        "output": {"frames": [1, 6], "fps": 24, "points": "ply"}})
    through = sum(p["y"] < 0.0 for p in fallen)
    check(len(fallen) > 1000 and through == 0, "table at %g m: %d of %d particles are below the "
          "bowl's bottom" % (below, through, len(fallen)))

# A glass of 2 mm at a separation of 5 mm: its own voxel is half of that. The separation as its
# voxel leaks (175 of 3222 particles by frame 36), and is told. One plane stands for a wall of
# distances, so that in the corner at its foot a particle may slide along one face into the other.
GLASS = [[0, 0], [0.05, 0], [0.05, 0.12], [0.048, 0.12], [0.048, 0.002], [0, 0.002]]
for voxel, warned in ((None, False), (0.001, False), (0.005, True)):
    glass = {"shape": "revolve", "profile": GLASS}
    if voxel:
        glass["voxel"] = voxel
    poured, said = run({
        "solver": {"particle_separation": 0.005},
        "fluids": {"drink": {"material": "syrup", "shape": "cylinder", "radius": 0.04,
                             "height": 0.08, "position": [0, 0.055, 0]}},
        "colliders": {"glass": glass},
        "output": {"frames": [1, 12], "points": "ply"}})
    check(("colliders.glass.voxel: 0.005 m is more than half of the thinnest wall, 0.002 m" in said)
          == warned, "glass, voxel %s: %s" % (voxel, said.strip() or "no warning"))
    out = sum(p["y"] < 0.0 or math.hypot(p["x"], p["z"]) > 0.049 for p in poured)
    check(warned or (len(poured) > 3000 and out < 0.001 * len(poured)),
          "glass, voxel %s: %d of %d particles are outside" % (voxel, out, len(poured)))

sys.exit(1 if failures else 0)
