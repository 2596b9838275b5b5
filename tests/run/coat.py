"""coat.py OOZE SOURCE: the scene chocolate_ball. A coat that is cold and stiff inside and runs
outside rests on the ball or runs down; it crept upwards and became lumpy (both layers by 4 mm/s).
SPDX-License-Identifier: Apache-2.0"""
import math
import os
import subprocess
import sys
import tempfile

from ply import particles

ooze, source = (os.path.abspath(p) for p in sys.argv[1:3])
SEPARATION, CENTRE, RADIUS, LATE = 0.003, 0.047, 0.035, 60

with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run(
        [ooze, "run", os.path.join(source, "examples", "scenes", "chocolate_ball.json"), "-o",
         folder, "--quiet", "--frames", "1-%d" % LATE, "--set", "output.points=ply", "--set",
         "output.surface=none"], text=True, capture_output=True)
    if done.returncode:
        sys.exit("FAIL  chocolate_ball: " + done.stderr.strip())
    late = particles(os.path.join(folder, "points", "chocolate_ball.%04d.ply" % LATE))

# speed down the upper half of the ball, but for its pole, by layers
layers = {}
for p in late:
    r = [p["x"], p["y"] - CENTRE, p["z"]]
    away = math.sqrt(sum(c * c for c in r))
    n = [c / away for c in r]
    slope = math.sqrt(1.0 - min(1.0, n[1] * n[1]))
    if n[1] > 0.0 and slope > 0.3:
        t = [n[0] * n[1] / slope, -slope, n[2] * n[1] / slope]
        speed = t[0] * p["vx"] + t[1] * p["vy"] + t[2] * p["vz"]
        layers.setdefault(int((away - RADIUS) // SEPARATION), []).append(1e3 * speed)

failures = 0
for layer, most in ((0, 2.0), (1, 6.0)):
    speeds = layers.get(layer, [])
    mean = sum(speeds) / max(1, len(speeds))
    good = len(speeds) > 200 and -1.5 < mean < most
    failures += not good
    print("%s  layer %d: %d particles run down by %.2f mm/s" %
          ("ok   " if good else "FAIL ", layer, len(speeds), mean))
sys.exit(1 if failures else 0)
