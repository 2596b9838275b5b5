#!/usr/bin/env python3
"""The look-book: presets as shipped in every situation, knobs in five values.
SPDX-License-Identifier: Apache-2.0

    lookbook.py OOZE FOLDER [NAME...] [-j N] [--only SITUATION]... [--fine] [--json FILE]

NAME is a preset or a knob; none: all of them. For each a sheet FOLDER/NAME.png, for several presets
FOLDER/overview.png with a row each, and at the end a table of measures:

    cluster    share of the particles that are in the largest piece at the end, joined at 1.5
               separations
    early      the same at the first picture: while it is poured, or drawn to 1.8 times its height
    crumbs     share that is in pieces of less than 2 % of the particles
    volume     that the surface encloses, over that of the particles
    pressed    median of the particles' density over that at rest, less 1
    rough      outline from above: deviation from its first four harmonics (rms) over the mean
               radius
    covered    share of the bust's upper side that has fluid within 1.2 separations
    told by    of a knob: what of the end shows it. top: height below which all but 1 % of the
               particles lie; r95: radius of 95 % (mm); forward: how far the mean has slid (mm);
               hanging: share above 1 cm; coat: what is above 5 cm (cm^3); warmed: by how much the
               mean temperature rose (K); molten: mean share that has melted; parted: deviation of
               the particles' densities (kg/m^3)

A value that misses its bar has a star: a cluster below 98 % where one would see one piece, at the
end or early (off a spoon, at the end, the two largest pieces: in the spoon and below), crumbs above
2 % of what does not splash, a volume that is off by more than 2 %. Of a knob a value has one whose
measure goes back from that before it, and all have where the last is within 5 % of the first; of a
setting of the solver those that differ by more than 10 % from the finest.
--fine runs the bust at half the separation too, each on an even share of N processors, and prints
the coverage of the one over that of the other: first with the reach of each, 1.2 of its own
separations, then with that of the coarser for both. Below 0.6 by the first it has a star.
"""
import argparse
import hashlib
import json
import math
import os
import shutil
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import meshes
import situations

# Which of a situation's moments tells most.
TELLING = {"thick": 1, "thin": 1, "spoon": 1, "bust": 2, "plates": 1}
# How a knob's measure is shown: factor and form. mm, cm^3 or K, and shares.
SHOWN = {"top": (1e3, "%.1f"), "r95": (1e3, "%.1f"), "forward": (1e3, "%.1f"),
         "coat": (1, "%.2f"), "warmed": (1, "%.1f"),
         "hanging": (1, "%.3f"), "molten": (1, "%.3f"), "parted": (1, "%.1f")}
SPLASH = 1.0  # Pa s: thinner presets may come apart into drops
PLY = {"float": "f", "float32": "f", "double": "d", "float64": "d", "int": "i", "int32": "i",
       "uint": "I", "uint32": "I",
       "uchar": "B", "uint8": "B", "char": "b", "int8": "b", "short": "h", "int16": "h",
       "ushort": "H", "uint16": "H"}


def read_ply(path):
    """Vertices as a dictionary of lists, faces as a list of index tuples, of a binary PLY file."""
    with open(path, "rb") as file:
        head, body = file.read().split(b"end_header\n", 1)
    elements = []
    for words in (line.split() for line in head.decode().splitlines()):
        if words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][2].append(words[1:])
    at, vertices, faces = 0, {}, []
    for name, count, properties in elements:
        if properties and properties[0][0] == "list":
            one = struct.Struct("<" + PLY[properties[0][1]])
            many = {}
            for _ in range(count):
                (n,) = one.unpack_from(body, at)
                pack = many.setdefault(n, struct.Struct("<%d%s" % (n, PLY[properties[0][2]])))
                faces.append(pack.unpack_from(body, at + one.size))
                at += one.size + pack.size
            continue
        row = struct.Struct("<" + "".join(PLY[p[0]] for p in properties))
        rows = list(zip(*row.iter_unpack(body[at:at + count * row.size]))) or [()] * len(properties)
        at += count * row.size
        if name == "vertex":
            vertices = {p[1]: column for p, column in zip(properties, rows)}
    return vertices, faces


class Cells:
    """Points by cells of `reach`."""

    def __init__(self, points, reach):
        self.points, self.reach, self.cells = points, reach, {}
        for i, p in enumerate(points):
            self.cells.setdefault(self.cell(p), []).append(i)

    def cell(self, p):
        return tuple(math.floor(x / self.reach) for x in p)

    def near(self, p):
        i, j, k = self.cell(p)
        for a in (i - 1, i, i + 1):
            for b in (j - 1, j, j + 1):
                for c in (k - 1, k, k + 1):
                    for n in self.cells.get((a, b, c), ()):
                        if math.dist(p, self.points[n]) <= self.reach:
                            yield n


def pieces(points, reach):
    """Sizes of the sets of points that are joined at `reach`, the largest first."""
    cells, left, sizes = Cells(points, reach), set(range(len(points))), []
    while left:
        stack, size = [left.pop()], 0
        while stack:
            size += 1
            fresh = [n for n in cells.near(points[stack.pop()]) if n in left]
            left.difference_update(fresh)
            stack.extend(fresh)
        sizes.append(size)
    return sorted(sizes, reverse=True)


def roughness(points, separation, bins=64, harmonics=4):
    """Of the outline, seen from above, of what lies within two separations of the plate."""
    low = [p for p in points if p[1] < 2 * separation]
    if len(low) < bins:
        return None
    x, z = (sum(p[k] for p in low) / len(low) for k in (0, 2))
    r = [0.0] * bins
    for p in low:
        k = int(bins * (math.atan2(p[2] - z, p[0] - x) / (2 * math.pi) + 0.5)) % bins
        r[k] = max(r[k], math.hypot(p[0] - x, p[2] - z))
    mean = sum(r) / bins
    rest = [value - mean for value in r]
    for h in range(1, harmonics + 1):
        for wave in (math.cos, math.sin):
            basis = [wave(2 * math.pi * h * k / bins) for k in range(bins)]
            part = 2 / bins * sum(a * b for a, b in zip(rest, basis))
            rest = [a - part * b for a, b in zip(rest, basis)]
    return math.sqrt(sum(a * a for a in rest) / bins) / mean


def coverage(points, separation, mesh):
    """Share of the area of a mesh's upper two thirds, sides and top, that has a point beside it."""
    vertices, faces = [], []
    for words in (line.split() for line in open(mesh)):
        if words[0] == "v":
            vertices.append(tuple(map(float, words[1:])))
        else:
            faces.append([int(w) - 1 for w in words[1:]])
    floor = max(v[1] for v in vertices) / 3
    cells, all_area, area = Cells(points, 1.2 * separation), 0.0, 0.0
    for f in faces:
        middle = tuple(sum(vertices[k][i] for k in f) / len(f) for i in range(3))
        if middle[1] < floor:
            continue
        a, b, c = vertices[f[0]], vertices[f[1]], vertices[f[-2] if len(f) > 3 else f[2]]
        u, v = [b[i] - a[i] for i in range(3)], [c[i] - a[i] for i in range(3)]
        here = math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                          u[0] * v[1] - u[1] * v[0])
        here *= 1.0 if len(f) > 3 else 0.5
        all_area += here
        area += here if next(cells.near(middle), None) is not None else 0.0
    return area / all_area


def out_of_order(values, sign):
    """Which of a knob's measures break its order; sign 1: they grow, -1: they fall, 0: they are
    those of the last."""
    if not sign:
        return [abs(v / values[-1] - 1) > 0.1 for v in values]
    if sign * (values[-1] - values[0]) <= 0.05 * max(map(abs, values)):
        return [True] * len(values)
    return [False] + [sign * (b - a) < 0 for a, b in zip(values, values[1:])]


def knob_run(name, value):
    """Name of the run of one value; a scene's name ends at its first point."""
    return ("%s_%g" % (name, value)).replace(".", "p")


def mean(values):
    return sum(values) / len(values) if values else 0.0


def deviation(values):
    return math.sqrt(max(0.0, mean([v * v for v in values]) - mean(values) ** 2))


class Book:
    def __init__(self, ooze, folder):
        self.ooze, self.folder = os.path.abspath(ooze), os.path.abspath(folder)
        meshes.make(self.folder)
        with open(self.ooze, "rb") as file:
            self.program = hashlib.sha1(file.read()).hexdigest()
        self.presets = {p["name"]: p for p in json.loads(self.call("schema", "presets", "--json"))}

    def call(self, *arguments):
        done = subprocess.run([self.ooze, *arguments], cwd=self.folder, text=True,
                              capture_output=True)
        if done.returncode:
            raise RuntimeError("ooze %s: %s" % (" ".join(arguments), done.stderr.strip()))
        return done.stdout

    def frame(self, name, number):
        return os.path.join(name, "points", "%s.%04d.bgeo.sc" % (name, number))

    def run(self, name, scene, threads=1):
        """Simulates and measures, but for what the same program has made of the same scene."""
        stamp = hashlib.sha1((self.program + json.dumps(scene)).encode()).hexdigest()
        with open(os.path.join(self.folder, name + ".json"), "w") as file:
            json.dump(scene, file, indent=1)
        shown, separation = scene["picture"]["frames"], scene["solver"]["particle_separation"]
        measured = os.path.join(self.folder, name, "measures.json")
        measures = {}
        if os.path.exists(measured):
            with open(measured) as file:
                measures = json.load(file)
        if measures.get("stamp") != stamp:
            shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
            self.call("run", name + ".json", "-o", name, "--threads", str(threads), "--quiet")
            measures = dict(self.measure(name, shown, separation), stamp=stamp)
            with open(measured, "w") as file:
                json.dump(measures, file)
            # only files that are shown are kept
            for number in range(1, scene["output"]["frames"][1] + 1):
                if number not in shown and os.path.exists(os.path.join(self.folder,
                    self.frame(name, number))):
                    os.remove(os.path.join(self.folder, self.frame(name, number)))
        return measures

    def points(self, name, number):
        ply = os.path.join(name, "points.ply")
        self.call("convert", self.frame(name, number), ply, "--quiet")
        values, _ = read_ply(os.path.join(self.folder, ply))
        return list(zip(values["x"], values["y"], values["z"])), values

    def measure(self, name, shown, separation):
        points, values = self.points(name, shown[-1])
        first = self.points(name, 1)[1]
        sizes = pieces(points, 1.5 * separation)
        count = len(points)
        self.call("surface", self.frame(name, shown[-1]), "-o", os.path.join(name, "mesh.ply"),
                  "--quiet", "--threads", "1")
        mesh, faces = read_ply(os.path.join(self.folder, name, "mesh.ply"))
        volume = meshes.volume(list(zip(mesh["x"], mesh["y"], mesh["z"])), faces)
        heights = sorted(p[1] for p in points)
        radii = sorted(math.hypot(p[0], p[2]) for p in points)
        measures = {
            "particles": count,
            "cluster": sizes[0] / count,
            "second": sum(sizes[1:2]) / count,
            "crumbs": sum(s for s in sizes if s < 0.02 * count) / count,
            "volume": volume / (count * separation ** 3),
            "pressed": sorted(values["compression"])[count // 2],
            "rough": roughness(points, separation),
            "covered": None,
            "top": heights[-1 - count // 100],
            "r95": radii[count * 95 // 100],
            "forward": sum(p[0] for p in points) / count,
            "hanging": sum(y > 0.01 for y in heights) / count,
            "coat": 1e6 * sum(y > 0.05 for y in heights) * separation ** 3,
            "warmed": mean(values["temperature"]) - mean(first.get("temperature", ())),
            "molten": mean(values.get("melt", ())),
            "parted": deviation(values["density"]),
        }
        if name.endswith("bust"):
            bust = os.path.join(self.folder, "bust.obj")
            measures["covered"] = coverage(points, separation, bust)
            measures["covered_at_twice"] = coverage(points, 2 * separation, bust)
        early = self.points(name, shown[0])[0]
        measures["early"] = pieces(early, 1.5 * separation)[0] / len(early)
        return measures

    def sheet(self, name, runs, scenes, columns):
        pictures = [self.frame(run, number) for run, scene in zip(runs, scenes)
                    for number in scene["picture"]["frames"]]
        if columns == len(runs):  # a row for each moment
            rows = len(scenes[0]["picture"]["frames"])
            pictures = [pictures[rows * k + row] for row in range(rows) for k in range(columns)]
        self.call("render", *pictures, "--sheet", str(columns), "--cell", "320", "-o", name
                  + ".png", "--quiet",
                  "--threads", "1")


    def overview(self, names, chosen):
        """A row for each preset: one moment of each situation."""
        shown = {s: situations.of(s, names[0])["picture"]["frames"][TELLING[s]] for s in chosen}
        pictures = [self.frame("%s_%s" % (name, s), shown[s]) for name in names for s in chosen]
        self.call("render", *pictures, "--sheet", str(len(chosen)), "--cell", "200", "-o",
                  "overview.png", "--quiet")


def stars(situation, preset, m):
    """Names of the measures that miss their bars."""
    missed = set()
    thick = preset["viscosity"] >= SPLASH or preset["compliance"]
    early, late = situations.pieces_seen(situation, preset)
    if early and m["early"] < 0.98:
        missed.add("early")
    if late and m["cluster"] + (m["second"] if late > 1 else 0) < 0.98:
        missed.add("cluster")
    if thick and m["crumbs"] > 0.02:
        missed.add("crumbs")
    if abs(m["volume"] - 1) > 0.02:
        missed.add("volume")
    return missed


def shown(value, star, form):
    return "-" if value is None else form % value + ("*" if star else "")


def table(rows, columns):
    lines = [[c for c in columns]] + rows
    wide = [max(len(r[k]) for r in lines) for k in range(len(columns))]
    for r in lines:
        print("  ".join(text.ljust(w) if k < 2 else text.rjust(w) for k,
                        (text, w) in enumerate(zip(r, wide))))


def asked():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ooze")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", action="append", choices=situations.SITUATIONS)
    parser.add_argument("--fine", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    a = parser.parse_intermixed_args()
    book = Book(a.ooze, a.folder)
    unknown = [n for n in a.names if n not in book.presets and n not in situations.KNOBS]
    if unknown:
        parser.error("%s: neither a preset (ooze schema presets) nor one of %s"
                     % (unknown[0], ", ".join(situations.KNOBS)))
    return a, book


def sheets_of(book, names, chosen):
    """name: (names of runs, their scenes, columns)"""
    sheets = {}
    for name in names:
        if name in book.presets:
            sheets[name] = ([name + "_" + s for s in chosen],
                            [situations.of(s, name) for s in chosen], 3)
        else:
            _, values, of = situations.KNOBS[name][:3]
            sheets[name] = ([knob_run(name, v) for v in values], [of(v) for v in values],
                            len(values))
    return sheets


def fine_of(book, names):
    """name: (name of the run, its scene), at half the separation"""
    fine = {}
    for name in (n for n in names if n in book.presets):
        scene = situations.of("bust", name)
        scene["solver"]["particle_separation"] /= 2
        scene["emitters"]["jug"]["max_particles"] *= 8
        fine[name] = ("%s_fine_bust" % name, scene)
    return fine


def measured(book, sheets, fine, jobs):
    """Measures of every run, and a line for each that failed; draws the sheets that are whole."""
    with ThreadPoolExecutor(jobs) as pool:
        share = max(1, jobs // max(1, len(fine)))
        # the longest first
        jobs = {run: pool.submit(book.run, run, scene, share) for run, scene in fine.values()}
        jobs.update({run: pool.submit(book.run, run, scene) for runs, scenes, _ in sheets.values()
                     for run, scene in zip(runs, scenes)})
        measures, failed = {}, []
        for run, job in jobs.items():
            try:
                measures[run] = job.result()
            except (RuntimeError, OSError, KeyError, ValueError) as error:
                failed.append("%s: %s" % (run, error))
        whole = [n for n, (runs, _, _) in sheets.items() if all(r in measures for r in runs)]
        list(pool.map(lambda n: book.sheet(n, *sheets[n]), whole))
    return measures, failed


def of_half(m, half):
    """Words on the coverage over that at half the separation, and whether it misses its bar."""
    ratios = [m["covered"] / max(half[k], 1e-9) for k in ("covered", "covered_at_twice")]
    low = ratios[0] < 0.6
    told = " (%.2f%s of half's, %.2f at one reach)" % (ratios[0], "*" if low else "", ratios[1])
    return told, low


def preset_table(book, names, chosen, measures, fine):
    """Returns how many values miss their bar."""
    missed, rows = 0, []
    for name in (n for n in names if n in book.presets):
        for situation in (s for s in chosen if name + "_" + s in measures):
            m = measures[name + "_" + situation]
            star = stars(situation, book.presets[name], m)
            missed += len(star)
            covered = shown(m["covered"], False, "%.2f")
            if situation == "bust" and name in fine and fine[name][0] in measures:
                told, low = of_half(m, measures[fine[name][0]])
                covered += told
                missed += low
            rows.append([name, situation, str(m["particles"]),
                         shown(m["cluster"], "cluster" in star, "%.3f"),
                         shown(m["early"], "early" in star, "%.3f"),
                         shown(m["crumbs"], "crumbs" in star, "%.3f"),
                         shown(m["volume"], "volume" in star, "%.3f"),
                         shown(m["pressed"], False, "%+.3f"),
                         shown(m["rough"], False, "%.3f"), covered])
    if rows:
        table(rows, ["preset", "situation", "particles", "cluster", "early", "crumbs", "volume",
                     "pressed", "rough", "covered"])
    return missed


def knob_table(names, measures):
    """Returns how many values are out of order."""
    missed, rows = 0, []
    for name in (n for n in names if n in situations.KNOBS):
        unit, values, _, told, sign = situations.KNOBS[name]
        had = [v for v in values if knob_run(name, v) in measures]
        told_by = [measures[knob_run(name, v)][told] for v in had]
        wrong = out_of_order(told_by, sign) if had else []
        missed += sum(wrong)
        for v, by, star in zip(had, told_by, wrong):
            m = measures[knob_run(name, v)]
            factor, form = SHOWN[told]
            rows.append([name, "%g %s" % (v, unit), told, shown(factor * by, star, form),
                         "%.1f" % (1e3 * m["top"]), "%.1f" % (1e3 * m["r95"]),
                         "%.3f" % m["cluster"], "%.3f" % m["volume"],
                         shown(m["rough"], False, "%.3f")])
    if rows:
        table(rows, ["knob", "value", "told by", "", "top mm", "r95 mm", "cluster", "volume",
                     "rough"])
    return missed


def main():
    a, book = asked()
    names = a.names or list(book.presets) + list(situations.KNOBS)
    chosen = [s for s in situations.SITUATIONS if not a.only or s in a.only]
    fine = fine_of(book, names) if a.fine and "bust" in chosen else {}
    measures, failed = measured(book, sheets_of(book, names, chosen), fine, a.jobs)
    whole = [n for n in names if n in book.presets
             and all("%s_%s" % (n, s) in measures for s in chosen)]
    if len(whole) > 1:
        book.overview(whole, chosen)
    missed = preset_table(book, names, chosen, measures, fine)
    missed += knob_table(names, measures)
    if a.json:
        with open(a.json, "w") as file:
            json.dump(measures, file, indent=1)
    print("%d of %d values miss their bar; sheets in %s"
          % (missed, 4 * sum(n in book.presets for n in names) * len(chosen)
             + sum(len(situations.KNOBS[n][1]) for n in names if n in situations.KNOBS), a.folder))
    for line in failed:
        print("FAILED  " + line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
