#!/usr/bin/env python3
"""make.py [--check]: draws the figures of docs/theory, and docs/dev/architecture.svg.

Curves and lattices are computed from the formulas that the chapters give. --check writes nothing
and fails where a file differs from what would be written. SPDX-License-Identifier: Apache-2.0
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
INK, SOFT, BLUE, RED, AMBER, WALL = "#222", "#8a8a8a", "#2b6cb0", "#c53030", "#b7791f", "#d9d4c7"


class Picture:
    """A list of SVG elements; y points down, as in SVG."""

    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def add(self, text):
        self.parts.append(text)

    def line(self, x0, y0, x1, y1, colour=INK, width=1.5, dash=None, arrow=False):
        more = ' stroke-dasharray="%s"' % dash if dash else ""
        more += ' marker-end="url(#arrow)"' if arrow else ""
        self.add('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%.1f"%s/>'
                 % (x0, y0, x1, y1, colour, width, more))

    def path(self, points, colour=INK, width=2.0, dash=None):
        more = ' stroke-dasharray="%s"' % dash if dash else ""
        self.add('<polyline points="%s" fill="none" stroke="%s" stroke-width="%.1f"%s/>'
                 % (" ".join("%.1f,%.1f" % p for p in points), colour, width, more))

    def dot(self, x, y, r=6, fill=BLUE, stroke="none"):
        self.add('<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s" stroke="%s"/>'
                 % (x, y, r, fill, stroke))

    def ring(self, x, y, r, colour=SOFT, dash="5 4", width=1.2):
        self.add('<circle cx="%.1f" cy="%.1f" r="%.1f" fill="none" stroke="%s" stroke-width="%.1f" '
                 'stroke-dasharray="%s"/>' % (x, y, r, colour, width, dash))

    def box(self, x, y, w, h, fill="#fff", stroke=INK, r=6):
        self.add('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%d" fill="%s" '
                 'stroke="%s"/>' % (x, y, w, h, r, fill, stroke))

    def text(self, x, y, words, colour=INK, size=13, anchor="middle", bold=False):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.add('<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s" fill="%s"%s>%s</text>'
                 % (x, y, size, anchor, colour, ' font-weight="bold"' if bold else "", words))

    def svg(self):
        w, h = self.size
        head = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" '
                'height="%d" font-family="Helvetica, Arial, sans-serif">\n'
                '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
                'markerHeight="7" orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="%s"/></marker>'
                '</defs>\n'
                '<rect width="%d" height="%d" fill="#fff"/>\n' % (w, h, w, h, INK, w, h))
        return head + "\n".join(self.parts) + "\n</svg>\n"


def jitter(i, j, k):
    """A number in [-1, 1) that is the same everywhere."""
    n = (i * 73856093 ^ j * 19349663 ^ k * 83492791) & 0xffffffff
    n = (n ^ n >> 13) * 1274126177 & 0xffffffff
    return (n >> 8 & 0xffff) / 32768.0 - 1.0


def neighbours():
    p, d, cx, cy = Picture(720, 330), 44.0, 190.0, 165.0
    row = []
    for i in range(-3, 4):
        for j in range(-3, 4):
            x, y = cx + d * (i + 0.18 * jitter(i, j, 1)), cy + d * (j + 0.18 * jitter(i, j, 2))
            near = math.hypot(x - cx, y - cy) < 2.2 * d
            own = i == 0 and j == 0
            if own:
                x, y = cx, cy
            elif near:
                row.append((math.hypot(x - cx, y - cy), x, y))
            if 20 < x < 360 and 10 < y < 320:
                p.dot(x, y, 9, RED if own else BLUE if near else "#cfd8e3")
    p.ring(cx, cy, 2.2 * d, INK)
    p.line(cx, cy, cx + 2.2 * d * 0.72, cy - 2.2 * d * 0.69, arrow=True)
    p.text(cx + 62, cy - 46, "h = 2.2 d", anchor="start")
    p.text(cx - 2, cy + 24, "i", RED, 14, bold=True)
    p.text(540, 40, "the row of particle i", bold=True)
    row.sort()
    for m, (r, _, _) in enumerate(row[:12]):
        x = 400 + 26 * m
        p.box(x - 11, 60, 22, 26, "#eaf1f8", BLUE, 3)
        p.text(x, 78, "j%d" % (m + 1), BLUE, 11)
        w = (1 - r / (2.2 * d)) ** 2
        p.line(x, 190, x, 190 - 90 * w, BLUE, 10)
    p.text(400 + 26 * 12, 78, "...", BLUE)
    p.line(385, 190, 715, 190)
    p.text(540, 210, "weight of each: (1 - r/h)², the slope of the spiky kernel", size=12)
    for n, words in enumerate(["begin   what i brings along",
                               "pair      one group of neighbours, added to the sums",
                               "end      what i makes of its sums"]):
        p.text(400, 245 + 24 * n, words, anchor="start")
    return p


def substep():
    p = Picture(760, 560)
    blocks = [
        ("neighbours at x⁰", "sort, nozzle, lists", SOFT),
        ("constraint-free state", "material, predict, gradient, bound, tension", BLUE),
        ("project velocities", "velocity_start, force, kick, residual", RED),
        ("y = Δt u", "advance, density list", SOFT),
        ("project positions", "density_lambda, strain", RED),
        ("conformation", "strain_send, sharpen, conform_update", BLUE),
        ("u = y / Δt,  x = x⁰ + y", "finish", SOFT),
        ("come to rest", "filter_gradient, filter_move, wall_drag", BLUE),
        ("heat, mixing", "heat_flow, mix_flow", BLUE),
    ]
    loops = {2: ("velocity_iterations", "force, wall_filter, cg_apply, cg_steps, cg_update"),
             4: ("position_iterations", "conform_move, wall_mirror, density_move, wall_project"),
             7: ("rest_filter sweeps", "")}
    for n, (title, stages, colour) in enumerate(blocks):
        y = 14 + 60 * n
        p.box(40, y, 330, 46, "#fff", colour)
        p.text(205, y + 20, title, bold=True, size=14)
        p.text(205, y + 37, stages, SOFT, 11)
        if n:
            p.line(205, y - 14, 205, y - 1, arrow=True)
        if n in loops:
            name, more = loops[n]
            p.add('<path d="M370,%d C420,%d 420,%d 372,%d" fill="none" stroke="%s" '
                  'stroke-width="1.5" marker-end="url(#arrow)"/>'
                  % (y + 38, y + 44, y + 2, y + 8, INK))
            p.text(420, y + 20, name + " times", anchor="start", size=13)
            p.text(420, y + 37, more, SOFT, 11, "start")
    p.text(420, 68 + 20, "forces; K, B (V.1, V.2); the bound (V.8)", SOFT, 11, "start")
    p.text(420, 14 + 60 * 5 + 26, "Q by (C.8)", SOFT, 11, "start")
    return p


def sharpening():
    """Part of a neck's strain that is seen, by the neck's length, and what Q is given (X.3)."""
    p, left, bottom, wide, high, longest = Picture(560, 260), 60, 215, 440, 180, 12.0

    def at(length, part):
        return left + wide * (length - 2) / (longest - 2), bottom - high * part / 6.0

    p.line(left, bottom, left + wide, bottom)
    p.line(left, bottom, left, bottom - high)
    for n in range(2, 13, 2):
        p.text(at(n, 0)[0], bottom + 18, "%d" % n, SOFT, 12)
    for n in range(0, 7, 2):
        p.text(left - 12, at(2, n)[1] + 4, "%d" % n, SOFT, 12)
    p.text(left + wide / 2, bottom + 38, "length of the neck in separations")
    curves = []
    for gain in (0.0, 8.0):
        curve = []
        for n in range(201):
            length = 2 + (longest - 2) * n / 200
            k = 2 * math.pi / length
            curve.append(at(length, math.sin(k) / k * (1 + gain * (1 - math.cos(k)))))
        curves.append(curve)
    p.line(*at(2, 0.5), *at(longest, 0.5), SOFT, 1.2, "5 4")
    p.text(left + wide - 4, at(2, 0.5)[1] + 16, "necks grow below 1/2", SOFT, 12, "end")
    p.path(curves[0], RED)
    p.path(curves[1], BLUE)
    p.text(at(8, 0)[0], at(8, 1.3)[1], "seen by the gradient: T", RED)
    p.text(at(7.4, 0)[0], at(7.4, 4.0)[1], "entered into Q: T'", BLUE, anchor="start")
    return p


def ellipse(p, x, y, a, b, turn, colour):
    p.add('<ellipse cx="%.1f" cy="%.1f" rx="%.1f" ry="%.1f" transform="rotate(%.1f %.1f %.1f)" '
          'fill="%s" fill-opacity="0.15" stroke="%s" stroke-width="2"/>'
          % (x, y, a, b, turn, x, y, colour, colour))


def conformation():
    """Q in start-up of simple shear at Wi = 1, and after it stops; by (C.8) in two dimensions."""
    p, rate, tau, dt = Picture(720, 210), 1.0, 1.0, 0.005
    q, shown, t, shear = [1.0, 1.0, 0.0], [], 0.0, []
    for step in range(int(4.0 / dt) + 1):
        if abs(t - round(t * 2) / 2) < dt / 2 and round(t * 2) in (0, 1, 2, 4, 6):
            shown.append((t, list(q)))
        shear.append((t, q[2]))
        g = rate * dt if t < 2.0 else 0.0
        xx, yy, xy = q[0] + 2 * g * q[2] + g * g * q[1], q[1], q[2] + g * q[1]
        f = dt / tau
        q = [(xx + f) / (1 + f), (yy + f) / (1 + f), xy / (1 + f)]
        t += dt
    for n, (when, (xx, yy, xy)) in enumerate(shown):
        mean, half = (xx + yy) / 2, math.hypot((xx - yy) / 2, xy)
        turn = 0.5 * math.degrees(math.atan2(2 * xy, xx - yy))
        x = 60 + 95 * n
        ellipse(p, x, 85, 24 * math.sqrt(mean + half), 24 * math.sqrt(mean - half), -turn,
                BLUE if when <= 2.0 else AMBER)
        p.text(x, 160, "t = %g τ" % when, size=12)
    p.text(205, 190, "sheared at 1/τ until t = 2 τ, then left alone", size=12)
    x0, y0 = 520, 165
    p.line(x0, y0, x0 + 180, y0, arrow=True)
    p.line(x0, y0, x0, 25, arrow=True)
    p.path([(x0 + 42 * s, y0 - 125 * v) for s, v in shear[::8]], RED)
    p.text(x0 + 95, 190, "stress Qxy over time", size=12)
    p.text(x0 + 84, 40, "stop", SOFT, 11)
    p.line(x0 + 84, 45, x0 + 84, y0, SOFT, 1, "3 3")
    return p


def zero_energy():
    p, d = Picture(720, 200), 52.0
    for row, (title, move) in enumerate([("affine: seen by the gradient", lambda i: 0.12 * i),
                                         ("to and fro: the sum over both sides is 0",
                                          lambda i: 0.3 * (-1) ** i)]):
        y = 60 + 90 * row
        p.text(20, y - 30, title, anchor="start", bold=True)
        for i in range(-5, 6):
            x = 350 + d * i
            p.ring(x, y, 8, SOFT, "2 2")
            p.dot(x + d * move(i), y, 8, RED if i == 0 else BLUE)
            if abs(move(i)) > 0.05:
                p.line(x, y + 16, x + d * move(i), y + 16, INK, 1.2, None, True)
    return p


def half_space(q):
    t = q * q
    s = q * (1 + t * (-4 / 3 + t * (6 / 5 + t * (-4 / 7 + t / 9))))
    return max(0.0, 0.5 - 315 / 256 * s)


def walls():
    p, d = Picture(740, 320), 40.0
    p.box(20, 200, 330, 100, WALL, "none", 0)
    p.line(20, 200, 350, 200, INK, 2)
    for i in range(8):
        for j in range(4):
            x = 45 + d * i + 0.12 * d * jitter(i, j, 3)
            off = 0.5 + j + (0.1 * jitter(i, j, 4) if j else 0)
            p.dot(x, 200 - d * off, 8, RED if (i, j) == (4, 0) else BLUE)
            if j < 2:
                p.ring(x, 200 + d * off, 8, BLUE, "2 2")
    p.line(20, 200 - d / 4, 350, 200 - d / 4, SOFT, 1, "4 3")
    p.text(356, 200 - d / 4 + 4, "gap", SOFT, 11, "start")
    p.line(356, 200, 356, 150, INK, 1.5, None, True)
    p.text(362, 152, "n", anchor="start")
    p.text(185, 292, "fluid mirrored in the wall", size=12)
    x0, y0, w = 430, 250, 260
    p.line(x0, y0, x0 + w + 20, y0, arrow=True)
    p.line(x0, y0, x0, 40, arrow=True)
    p.path([(x0 + w * k / 60, y0 - 360 * half_space(k / 60)) for k in range(61)], BLUE)
    p.path([(x0 + w * k / 60, y0 - 110 * 1.5 * (1 - k / 60) ** 4 * (1 + 4 * k / 60))
            for k in range(61)], RED)
    p.text(x0 + w, y0 + 18, "q = 1")
    p.text(x0 + 120, 120, "what the wall fills (W.5)", BLUE, 12, "start")
    p.text(x0 + 75, 165, "and its slope", RED, 12, "start")
    p.line(x0 + w * 0.5 / 2.2, y0, x0 + w * 0.5 / 2.2, 60, SOFT, 1, "3 3")
    p.text(x0 + w * 0.5 / 2.2, y0 + 18, "d/2", SOFT, 12)
    return p


def shifting():
    p, h = Picture(740, 250), 2.2
    for n, s in enumerate((1.0, 1.5, 2.3)):
        d, cx, cy = 24.0, 110 + 245 * n, 130.0
        for i in range(-4, 5):
            for j in range(-6, 7):
                x, y = s * i, j / s
                if abs(x * d) > 108 or abs(y * d) > 80:
                    continue
                near = math.hypot(x, y) < h
                p.dot(cx + d * x, cy + d * y, 5, RED if (i, j) == (0, 0) else BLUE if near
                      else "#cfd8e3")
        p.ring(cx, cy, h * d, INK)
        p.text(cx, 235, "stretched by %g" % s)
    p.text(370, 24, "the arrangement follows the flow: along it the neighbours leave h", bold=True)
    return p


def kernel_lattice(layer):
    """What the layer-th layer below a lattice's flat surface lacks of density."""
    h2, total, lack = 2.2 ** 2, 0.0, 0.0
    for i in range(-3, 4):
        for j in range(-3, 4):
            for k in range(-3, 4):
                w = max(0.0, h2 - i * i - j * j - k * k) ** 4
                total += w
                if k > layer:
                    lack += w
    return lack / total


def tension():
    p, d = Picture(720, 220), 36.0
    for i in range(8):
        for j in range(5):
            p.dot(60 + d * i, 40 + d * j, 9, BLUE)
    p.line(40, 20, 330, 20, SOFT, 1, "4 3")
    p.text(185, 14, "surface", SOFT, 11)
    for j in range(5):
        lack = kernel_lattice(j)
        p.line(400, 40 + d * j, 400 + 500 * lack, 40 + d * j, RED, 12)
        p.text(412 + 500 * lack, 44 + d * j, "%.3f" % lack, anchor="start", size=12)
    p.text(480, 212, "1 - ρ of each layer of the lattice", size=12)
    return p


def heat():
    p, x0, y0 = Picture(560, 240), 60, 190
    p.line(x0, y0, 520, y0, arrow=True)
    p.line(x0, y0, x0, 20, arrow=True)
    p.path([(x0, y0 - 10), (x0 + 150, y0 - 85), (x0 + 290, y0 - 85), (x0 + 430, y0 - 155)], BLUE)
    p.path([(x0, y0), (x0 + 150, y0), (x0 + 290, y0 - 120), (x0 + 430, y0 - 120)], RED, 2, "6 4")
    p.text(x0 + 445, y0 - 150, "T", BLUE, 14, "start")
    p.text(x0 + 445, y0 - 115, "melt", RED, 14, "start")
    p.text(290, 220, "enthalpy θ")
    p.text(x0 + 220, y0 - 95, "melting point", BLUE, 12)
    return p


def yield_stress():
    p, x0, y0 = Picture(560, 230), 60, 185
    p.line(x0, y0, 520, y0, arrow=True)
    p.line(x0, y0, x0, 20, arrow=True)
    p.path([(x0, y0), (x0, y0 - 60), (x0 + 400, y0 - 150)], RED, 2.5)
    p.path([(x0, y0), (x0 + 400, y0 - 90)], BLUE, 2, "6 4")
    p.text(x0 - 14, y0 - 56, "σy", size=14)
    p.text(x0 + 300, y0 - 138, "σy + μ γ̇", RED, 13)
    p.text(x0 + 330, y0 - 58, "μ γ̇ alone", BLUE, 13)
    p.text(290, 212, "rate of shear")
    p.text(x0 + 10, y0 - 24, "elastic below", anchor="start", size=12)
    return p


def emission():
    p, d, r = Picture(640, 300), 26.0, 4.0
    cx, cy = 160, 150
    n = round(math.pi * r * r)
    for k in range(n):
        a, q = 2.39996322972865332 * k, r * math.sqrt((k + 0.5) / n)
        shade = (jitter(k, 5, 7) + 1) / 2
        p.dot(cx + d * q * math.cos(a), cy + d * q * math.sin(a), 8, "hsl(210,60%%,%d%%)"
              % (30 + 50 * shade))
    p.ring(cx, cy, d * r, INK)
    p.text(cx, 290, "sunflower: a phase of its own for each point")
    cx = 480
    for i in range(-4, 5):
        for j in range(-4, 5):
            if i * i + j * j <= r * r + 1e-6:
                p.dot(cx + d * i, cy + d * j, 8, BLUE if (i + j) % 2 == 0 else "#a9c6e6")
    p.ring(cx, cy, d * r, INK)
    p.text(cx, 290, "bct: every other column half a layer on")
    p.text(320, 24, "the mouth of a nozzle, seen along the stream; shade: phase along it",
           bold=True)
    return p


def architecture():
    """Folders; an arrow points at what a folder may include (tests/abi/includes.sh)."""
    p = Picture(860, 600)
    places = {  # name: x, y, w, fill, contents
        "hdk_plugin": (20, 20, 190, "#fdf3e1", "Houdini nodes"),
        "cli": (240, 20, 160, "#fdf3e1", "the program ooze"),
        "verify": (430, 20, 220, "#fdf3e1", "checks against papers"),
        "session": (270, 130, 100, "#eef6ec", "runs, resume"),
        "render": (380, 130, 110, "#eef6ec", "pictures"),
        "scene": (510, 130, 110, "#eef6ec", "JSON, filling"),
        "surface": (380, 200, 110, "#eef6ec", "level sets"),
        "geo": (510, 200, 110, "#eef6ec", "files"),
        "include/ooze": (20, 290, 630, "#fff",
                         "the public headers: ooze.h, ooze_scene.h, ooze_io.h, ooze_surface.h, "
                         "ooze_nodes.h"),
        "core": (20, 380, 190, "#eaf1f8", "API, step, colliders, state"),
        "models": (240, 380, 160, "#eaf1f8", "algorithm boxes"),
        "cpu": (430, 380, 90, "#f3ecf8", "loops"),
        "cuda": (530, 380, 90, "#f3ecf8", "kernels"),
        "base": (20, 500, 290, "#f4f4f4", "results, memory, the table of a backend"),
        "physics": (330, 500, 290, "#f4f4f4", "formulas, stages.def, the frame"),
    }
    for name, (x, y, w, fill, what) in places.items():
        p.box(x, y, w, 52, fill)
        p.text(x + w / 2, y + 22, name, bold=True, size=14)
        p.text(x + w / 2, y + 41, what, SOFT, 11)

    def arrow(a, b, dx=0.0, dy=0.0):
        xa, ya, wa = places[a][:3]
        xb, yb, wb = places[b][:3]
        x = min(max(xa + wa / 2 + dx, xb + 10), xb + wb - 10)
        p.line(xa + wa / 2 + dx, ya + 52, x + dy, yb, INK, 1.3, None, True)

    arrow("hdk_plugin", "include/ooze")
    arrow("cli", "include/ooze", -65)
    arrow("verify", "include/ooze", 95)
    p.line(400, 46, 429, 46, INK, 1.3, None, True)
    arrow("session", "include/ooze")
    p.line(370, 156, 379, 156, INK, 1.3, None, True)
    arrow("render", "surface")
    arrow("scene", "geo")
    p.line(490, 226, 509, 226, INK, 1.3, None, True)
    arrow("surface", "include/ooze")
    arrow("geo", "include/ooze")
    p.line(115, 380, 115, 343, INK, 1.3, "4 3", True)
    p.text(123, 366, "makes what the headers promise", SOFT, 11, "start")
    p.line(210, 406, 239, 406, INK, 1.3, None, True)
    arrow("core", "base")
    arrow("models", "base", -30)
    arrow("models", "physics", 40)
    arrow("cpu", "physics")
    arrow("cuda", "physics")
    p.line(310, 526, 329, 526, INK, 1.3, None, True)
    p.box(665, 380, 180, 172, "#fff", SOFT)
    for n, words in enumerate(["core calls a backend", "through the table of",
                               "base/backend.h alone;", "core/registry.c names",
                               "the backends of a build.", "", "cpu and cuda know", "no model."]):
        p.text(755, 402 + 19 * n, words, size=12)
    p.text(755, 46, "an arrow points at", size=12)
    p.text(755, 64, "what may be included", size=12)
    p.text(755, 150, "geo, scene, surface,", size=12)
    p.text(755, 168, "render, session: files,", size=12)
    p.text(755, 186, "on base and on those", size=12)
    p.text(755, 204, "to the right and below", size=12)
    return p


FIGURES = {f.__name__: f for f in (neighbours, substep, conformation, zero_energy, walls, shifting,
                                   sharpening, tension, heat,
                                   emission)}
FIGURES["yield"] = yield_stress
FIGURES["../../dev/architecture"] = architecture


def main():
    check, bad = "--check" in sys.argv[1:], 0
    for name, draw in sorted(FIGURES.items()):
        path, text = os.path.join(HERE, name + ".svg"), draw().svg()
        if check:
            old = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
            if old != text:
                print("%s.svg is not what make.py draws: run docs/theory/figures/make.py" % name)
                bad = 1
        else:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
    if not bad:
        print("%d figures" % len(FIGURES))
    sys.exit(bad)


if __name__ == "__main__":
    main()
