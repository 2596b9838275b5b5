"""emit.py OOZE: fluids that go on coming, from a mesh's surface and from a volume.
SPDX-License-Identifier: Apache-2.0"""
import json
import os
import subprocess
import sys
import tempfile

ooze = os.path.abspath(sys.argv[1])
failures = 0
CORNERS = [(x, y, z) for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05)]
# counter-clockwise from outside
FACES = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]


def check(good, told):
    global failures
    failures += not good
    print(("ok    " if good else "FAIL  ") + told)


def run(folder, name, scene, *more):
    with open(os.path.join(folder, name + ".json"), "w") as file:
        json.dump(scene, file)
    return subprocess.run([ooze, "run", name + ".json", "-o", name, "--quiet", "--json", *more],
                          cwd=folder, text=True,
                          capture_output=True)


def scene(fluid, gravity, frames=13):
    return {"solver": {"particle_separation": 0.01, "gravity": [0, gravity, 0]},
            "materials": {"m": {"viscosity": 1}},
            "fluids": {"f": dict(fluid, material="m")},
            "output": {"frames": [1, frames], "fps": 24}}


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "cube.obj"), "w") as file:
        for c in CORNERS:
            file.write("v %g %g %g\n" % c)
        for f in FACES:
            file.write("f %d %d %d %d\n" % f)

    skin = {"shape": "mesh", "file": "cube.obj", "emit": "surface", "speed": 0.2}
    done = run(folder, "skin", scene(skin, 0))
    check(done.returncode == 0, "a cube emits from its surface " + done.stderr.strip())
    told = json.loads(done.stdout)
    # at the beginning of the last step 12 frames - 1 have passed: 0.4583 s at 0.2 m/s are 9 layers
    # of 600
    check(abs(told["particles"] - 9 * 600) < 0.1 * 9 * 600, "%d particles of 5400 have come"
          % told["particles"])
    info = subprocess.run([ooze, "info", "skin/points/skin.0013.bgeo.sc", "--json"], cwd=folder,
                          text=True, capture_output=True)
    bounds = json.loads(info.stdout)["bounds"]
    far = 0.05 + 0.2 * 12 / 24
    check(abs(bounds[4] - far) < 0.02, "the first is at %.3f m, expected %.3f" % (bounds[4], far))

    again = run(folder, "skin", scene(skin, 0), "--frames", "1-6")
    whole = told["state_hash"]
    again = run(folder, "skin", scene(skin, 0), "--resume")
    check(json.loads(again.stdout)["state_hash"] == whole, "a resumed run ends with the same bits")

    ended = json.loads(run(folder, "ended", scene(dict(skin, until=0.2), 0)).stdout)["particles"]
    check(0.25 * told["particles"] < ended < 0.6 * told["particles"], "until 0.2 s there are %d"
          % ended)

    late = dict(skin, **{"from": 0.26})
    done = json.loads(run(folder, "late", scene(late, 0)).stdout)["particles"]
    # layers leave every 0.05 s from 0 s on: those of 0.3, 0.35, 0.4 and 0.45 s are left of ten
    check(abs(done / told["particles"] - 0.4) < 0.04, "from 0.26 s on there are %d of %d"
          % (done, told["particles"]))

    tank = {"shape": "box", "size": [0.1, 0.1, 0.1], "position": [0, 1, 0]}
    once = json.loads(run(folder, "once", scene(tank, -9.81)).stdout)["particles"]
    more = json.loads(run(folder, "more", scene(dict(tank, emit="volume"),
                                                -9.81)).stdout)["particles"]
    # half a second of fall is 1.2 m, so that the box is empty again and again
    check(once == 1000 and more > 3000, "a box of 1000 particles gave %d" % more)

    bad = run(folder, "bad", scene({"shape": "box", "size": [0.1, 0.1, 0.1], "emit": "surface",
                                    "speed": 1}, 0))
    check(bad.returncode == 2 and "a surface emits with" in bad.stderr,
          "a box has no mesh to emit from: " + bad.stderr.strip())

sys.exit(1 if failures else 0)
