"""crust.py OOZE SOURCE [slow]: the lava of the scene lava_crust, ductile and poured down its slope,
with particles half as wide again. Air cools the top of the flow, evenly, and hardly the inside; the
front moves on under the crust. slow: the scene with particles of 10 mm. Its crust cracks and shows
the inside; one of the wedge `ductile` does not.
SPDX-License-Identifier: Apache-2.0"""
import math
import os
import subprocess
import sys
import tempfile

from ply import particles

ooze, source = (os.path.abspath(p) for p in sys.argv[1:3])
slow = sys.argv[3:] == ["slow"]
SEPARATION, SLOPE, EARLY, LATE = 0.010 if slow else 0.012, math.radians(20.0), 60, 90
CRACKED = 110
POURED = {"emitters.vent.position": "[-0.19, 0.19, 0]", "emitters.vent.rotate": "[0, 0, 0]",
          "emitters.vent.speed": "0.25", "materials.lava.conductivity": "25",
          "materials.lava.film_coefficient": "9000", "materials.lava.ramp_4": "[1320, 3, 0]"}
failures = 0


def check(good, told):
    global failures
    failures += not good
    print(("ok    " if good else "FAIL  ") + told)


def points(folder, frame):
    """Of each particle: way down the slope, across it, height above it, temperature."""
    c, s = math.cos(SLOPE), math.sin(SLOPE)
    rows = particles(os.path.join(folder, "points", "lava_crust.%04d.ply" % frame))
    return [(r["x"] * c - r["y"] * s, r["z"], r["x"] * s + r["y"] * c, r["temperature"])
            for r in rows if r["x"] > -0.13]  # without the stream that comes down


def spot(p):
    return round(p[0] / (1.5 * SEPARATION)), round(p[1] / (1.5 * SEPARATION))


def run(folder, last, wedge, sets):
    done = subprocess.run(
        [ooze, "run", os.path.join(source, "examples", "scenes", "lava_crust.json"), "-o", folder,
         "--quiet", "--frames", "1-%d" % last, "--set", "output.points=ply",
         "--set", "solver.particle_separation=%g" % SEPARATION]
        + (["--wedge", wedge] if wedge else [])
        + [word for key, value in sets.items() for word in ("--set", "%s=%s" % (key, value))],
        text=True, capture_output=True)
    check(done.returncode == 0, "lava_crust %s runs %s" % (wedge or "", done.stderr.strip()))


def columns_of(cloud):
    columns = {}
    for p in cloud:
        columns.setdefault(spot(p), []).append(p)
    return columns


def shown_inside(wedge):
    """Share of the columns of three and more whose top is hotter than 950 K, where the crust's
    median is below 800 K."""
    with tempfile.TemporaryDirectory() as folder:
        run(folder, CRACKED, wedge, {"output.surface": "none"})
        columns = columns_of(points(folder, CRACKED)).values()
    top = [max(c, key=lambda p: p[2])[3] for c in columns if len(c) >= 3]
    return sum(T > 950 for T in top) / max(1, len(top))


if slow:
    cracked, whole = shown_inside(None), shown_inside("ductile")
    # 0.27 and 0.04: half of the one, twice the other
    check(cracked > 0.13, "a solid crust shows %.2f of the inside" % cracked)
    check(whole < 0.08, "a ductile one %.2f" % whole)
    sys.exit(failures > 0)

with tempfile.TemporaryDirectory() as folder:
    run(folder, LATE, "ductile", POURED)
    early, late = points(folder, EARLY), points(folder, LATE)

columns = columns_of(late)
thick = {at: sorted(c, key=lambda p: p[2]) for at, c in columns.items() if len(c) >= 4}
top = {at: c[-1][3] for at, c in thick.items()}
inside = [p[3] for c in thick.values() for p in c[:-1] if c[-1][2] - p[2] > 1.5 * SEPARATION]
mean = sum(top.values()) / len(top)
below = sum(inside) / len(inside)
check(len(top) > 20, "%d columns" % len(top))
check(mean < below - 20, "the top has %.0f K, the inside %.0f K" % (mean, below))

# a particle of the top beside those around it: 43 K with a surface by lack of neighbours, 15 now
rough = []
for at, T in top.items():
    near = [top[at[0] + a, at[1] + b] for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))
            if (at[0] + a, at[1] + b) in top]
    if len(near) == 4:
        rough.append(T - sum(near) / 4)
spread = math.sqrt(sum(r * r for r in rough) / max(1, len(rough)))
check(len(rough) > 5 and spread < 30, "the top differs by %.0f K from what is around" % spread)
front = [max(p[0] for p in cloud) for cloud in (early, late)]
check(front[1] - front[0] > 2 * SEPARATION, "the front moves by %.3f m" % (front[1] - front[0]))
sys.exit(failures > 0)
