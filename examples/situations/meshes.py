#!/usr/bin/env python3
"""Meshes of the situations: a spoon, what fills it, and a bust. SPDX-License-Identifier: Apache-2.0

    meshes.py FOLDER      writes spoon.obj, spoonful.obj and bust.obj (m, y up) in well under a
    second
"""
import math
import os
import sys

# Spoon: along x, the middle of the bowl's rim at the origin, its handle towards +x.
BOWL_LENGTH, BOWL_WIDTH, BOWL_DEPTH = 0.026, 0.019, 0.011  # half axes and depth
HANDLE_END, HANDLE_WIDTH, THICKNESS = 0.085, 0.0045, 0.003

# Bust: [height, half width (x), half depth (z), how far its middle lies to the front (z)]
BUST = [
    (0.000, 0.078, 0.046, 0.000), (0.020, 0.082, 0.050, 0.000), (0.045, 0.080, 0.048, 0.000),
    (0.062, 0.066, 0.041, 0.000), (0.074, 0.043, 0.034, 0.000), (0.084, 0.029, 0.029, 0.000),
    (0.098, 0.026, 0.027, 0.001), (0.108, 0.028, 0.031, 0.005), (0.118, 0.034, 0.039, 0.006),
    (0.132, 0.039, 0.045, 0.005), (0.150, 0.042, 0.049, 0.002), (0.168, 0.042, 0.050, 0.000),
    (0.184, 0.037, 0.045, -0.001), (0.196, 0.026, 0.033, -0.001), (0.202, 0.014, 0.018, -0.001),
    (0.204, 0.004, 0.005, -0.001)]


def write(path, points, faces):
    with open(path, "w") as out:
        for p in points:
            out.write("v %.6f %.6f %.6f\n" % tuple(p))
        for f in faces:
            out.write("f %s\n" % " ".join(str(k + 1) for k in f))


def spline(rows, t, column):
    """Catmull-Rom through rows sorted by their first value."""
    k = max(i for i in range(len(rows) - 1) if rows[i][0] <= t or i == 0)
    p = [rows[min(max(k + j, 0), len(rows) - 1)][column] for j in (-1, 0, 1, 2)]
    u = (t - rows[k][0]) / (rows[k + 1][0] - rows[k][0])
    return 0.5 * (2 * p[1] + u * (p[2] - p[0] + u * (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3]
                                                     + u * (3 * (p[1] - p[2]) + p[3] - p[0]))))


def bump(angle, y, at, height, wide, tall):
    return math.exp(-((angle - at) / wide) ** 2 - ((y - height) / tall) ** 2)


def bust_point(y, angle):
    """Angle 0 looks to the front (+z)."""
    half_x, half_z, front = (spline(BUST, y, k) for k in (1, 2, 3))
    turn = (angle + math.pi) % (2 * math.pi) - math.pi
    r = 1.0 / math.hypot(math.sin(angle) / half_x, math.cos(angle) / half_z)
    r += 0.010 * bump(turn, y, 0, 0.140, 0.20, 0.008)  # nose
    r += 0.006 * bump(turn, y, 0, 0.153, 0.16, 0.010)
    r += 0.004 * bump(turn, y, 0, 0.119, 0.30, 0.004)  # lips
    r += 0.006 * bump(turn, y, 0, 0.107, 0.45, 0.006)  # chin
    for side in (-1, 1):
        r -= 0.006 * bump(turn, y, 0.48 * side, 0.152, 0.22, 0.008)  # eyes
        r += 0.003 * bump(turn, y, 0.45 * side, 0.165, 0.30, 0.006)  # brows
        r += 0.007 * bump(turn, y, 1.55 * side, 0.148, 0.14, 0.012)  # ears
    return r * math.sin(angle), y, r * math.cos(angle) + front


def closed(rings, ends):
    """Rings of points, from the first end to the last, closed by a fan at each."""
    n = len(rings[0])
    points = [p for ring in rings for p in ring] + list(ends)
    faces = []
    for i in range(len(rings) - 1):
        for j in range(n):
            a, b = i * n + j, i * n + (j + 1) % n
            faces.append((a, b, b + n, a + n))
    first, last = len(rings) * n, len(rings) * n + 1
    for j in range(n):
        faces.append((first, (j + 1) % n, j))
        faces.append((last, first - n + j, first - n + (j + 1) % n))
    return points, faces if volume(points, faces) > 0 else [f[::-1] for f in faces]


def volume(points, faces):
    """Enclosed by convex faces; positive where they turn counterclockwise as seen from outside."""
    total = 0.0
    for f in faces:
        a = points[f[0]]
        for b, c in ((points[f[k]], points[f[k + 1]]) for k in range(1, len(f) - 1)):
            total += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                      + a[2] * (b[0] * c[1] - b[1] * c[0]))
    return total / 6.0


def bust(path, around=72, up=90):
    top = BUST[-1][0]
    rings = [[bust_point(top * i / up, 2 * math.pi * j / around) for j in range(around)]
             for i in range(up + 1)]
    write(path, *closed(rings, [(0, 0, 0), (0, top, BUST[-1][3])]))


def bowl(x, z):
    """Depth of the bowl below its rim (negative) at a place of its outline, 0 outside."""
    q = (x / BOWL_LENGTH) ** 2 + (z / BOWL_WIDTH) ** 2
    return -BOWL_DEPTH * math.sqrt(max(0.0, 1.0 - q)) if q < 1 else 0.0


def spoon_width(x):
    half = 0.0
    if abs(x) < BOWL_LENGTH:
        half = BOWL_WIDTH * math.sqrt(max(0.0, 1.0 - (x / BOWL_LENGTH) ** 2))
    rim = 0.0025 if half > 0 else 0.0  # so that the bowl has a rim to stand on
    handle = HANDLE_WIDTH if x > 0.6 * BOWL_LENGTH else 0.0
    return max(half + rim, handle, 0.002)


def spoon(path, along=110, across=24):
    """A thick sheet: its upper side, then its lower side, as one ring for each x."""
    rings = []
    first = -BOWL_LENGTH - 0.002
    for i in range(along + 1):
        x = first + (HANDLE_END - first) * i / along
        rise = 0.12 * max(0.0, x - BOWL_LENGTH)  # the handle rises a little
        w = spoon_width(x)
        across_at = [w * math.sin(0.5 * math.pi * (2.0 * j / across - 1.0))
                     for j in range(across + 1)]
        upper = [(x, bowl(x, z) + rise, z) for z in across_at]
        lower = [(x, bowl(x, z) + rise - THICKNESS, z) for z in reversed(across_at)]
        rings.append(upper + lower)
    write(path, *closed(rings, [(first, -0.5 * THICKNESS, 0), (HANDLE_END,
        rings[-1][0][1] - 0.5 * THICKNESS, 0)]))


def spoonful(path, around=40, up=20):
    """A heaped spoonful: the bowl's inside below the rim, a lower dome above it."""
    rings = []
    for i in range(1, up):
        t = math.pi * (i / up - 0.5)
        y = math.sin(t) * (BOWL_DEPTH if t < 0 else 0.5 * BOWL_DEPTH)
        rings.append([(0.94 * BOWL_LENGTH * math.cos(t) * math.sin(2 * math.pi * j / around), y,
                       0.94 * BOWL_WIDTH * math.cos(t) * math.cos(2 * math.pi * j / around))
                       for j in range(around)])
    write(path, *closed(rings, [(0, -BOWL_DEPTH, 0), (0, 0.5 * BOWL_DEPTH, 0)]))


def make(folder):
    os.makedirs(folder, exist_ok=True)
    bust(os.path.join(folder, "bust.obj"))
    spoon(os.path.join(folder, "spoon.obj"))
    spoonful(os.path.join(folder, "spoonful.obj"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make(sys.argv[1])
