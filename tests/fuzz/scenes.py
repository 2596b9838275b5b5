#!/usr/bin/env python3
"""scenes.py OOZE COUNT [SEED]: random scenes of five frames over all models and features, from the schema that the program
prints. Each either runs to finite points of believable speed (code 0), says that it diverged (3), or is refused (2) with
one sentence; none crashes or takes more than 20 s for what was asked. SPDX-License-Identifier: Apache-2.0"""
import json
import math
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

ooze, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
schema = json.loads(subprocess.run([ooze, "schema", "--json"], capture_output=True, text=True, check=True).stdout)
keys = {}
for entry in schema:
    if entry.get("scene", True):
        keys.setdefault(entry["group"], []).append(entry)
presets = [p["name"] for p in json.loads(subprocess.run([ooze, "schema", "presets", "--json"], capture_output=True, text=True).stdout)]
FPS, FRAMES = 30, 5


def value(entry, dice):
    """A value that the schema allows, mostly near the default and sometimes at a bound."""
    low, high, soft = entry["minimum"], entry["maximum"], entry["soft_maximum"]
    if entry["type"] == "bool":
        return dice.random() < 0.5
    if entry["type"] == "menu":
        return dice.choice(entry["menu"])
    if entry["type"] not in ("float", "int"):
        return None
    top = soft if soft and soft > low else min(high, max(abs(entry["default"]) * 4, 1))
    low = max(low, -top)
    roll = dice.random()
    if roll < 0.08:
        v = low
    elif roll < 0.16:
        v = top
    elif low >= 0 and roll < 0.6:
        v = max(low, 10 ** dice.uniform(math.log10(max(low, top * 1e-4)), math.log10(max(top, 1e-9))))
    else:
        v = dice.uniform(low, top)
    return int(v) if entry["type"] == "int" else v


def some(group, dice, share, without=()):
    out = {}
    for entry in keys.get(group, []):
        if entry["name"] in without or dice.random() > share:
            continue
        v = value(entry, dice)
        if v is not None:
            out[entry["name"]] = v
    return out


def scene(dice):
    d = dice.choice([0.01, 0.02, 0.03])
    solver = some("solver", dice, 0.15, {"particle_separation", "substeps", "velocity_iterations", "position_iterations", "max_substeps"})
    solver |= {"particle_separation": d, "substeps": dice.choice([1, 2, 4, 8])}
    materials = {}
    for name in ("one", "two")[: dice.randint(1, 2)]:
        materials[name] = {"preset": dice.choice(presets)} if dice.random() < 0.5 else {}
        materials[name] |= some("material", dice, 0.12)
    material = lambda: dice.choice(list(materials) + presets[:3])
    at = lambda: [dice.uniform(-0.1, 0.1), dice.uniform(0.05, 0.4), dice.uniform(-0.1, 0.1)]
    shape = lambda: dice.choice([
        {"shape": "box", "size": [d * dice.randint(2, 7) for _ in range(3)]},
        {"shape": "sphere", "radius": d * dice.uniform(1.2, 4)},
        {"shape": "capsule", "radius": 2 * d, "height": 8 * d},
        {"shape": "cylinder", "radius": 3 * d, "height": 5 * d}])
    made = {"solver": solver, "materials": materials, "output": {"frames": [1, FRAMES], "fps": FPS, "points": "ply"},
            "fluids": {}, "emitters": {}, "colliders": {}, "bodies": {}}
    for i in range(dice.randint(0, 2)):
        made["fluids"][f"f{i}"] = shape() | {"material": material(), "position": at(), "jitter": dice.choice([0, 0.05])}
    if dice.random() < 0.4:
        made["emitters"]["e"] = {"material": material(), "radius": d * dice.uniform(1, 4), "speed": dice.uniform(0, 3), "position": at()}
    if dice.random() < 0.8:
        made["colliders"]["floor"] = {"shape": "plane", "friction": dice.random()}
    if dice.random() < 0.4:
        made["colliders"]["c"] = shape() | {"position": at(), "friction": dice.random(), "stick": dice.choice([0, 0, 50]),
                                            "boundary": dice.choice(["density", "particles", "particles"])}
        if dice.random() < 0.4:
            made["colliders"]["c"]["position"] = {"keys": [[0, at()], [0.3, at()]]}
    if dice.random() < 0.25:
        made["bodies"]["b"] = shape() | {"kind": dice.choice(["rigid", "soft"]), "material": material(), "position": at()}
        if "c" in made["colliders"]:  # one that begins inside a collider is thrown out by right
            made["bodies"]["b"]["position"][0] += 1.0
    if dice.random() < 0.2:
        made["output"]["surface"] = "vdb"
    return {k: v for k, v in made.items() if v or k in ("solver", "output")}


def wall_speed(made):
    """Of the moving collider, in the fluid's own seconds."""
    where = made.get("colliders", {}).get("c", {}).get("position")
    if not isinstance(where, dict):
        return 0.0
    (begin, a), (end, b) = where["keys"]
    return math.dist(a, b) / (end - begin) / max(made["solver"].get("time_scale", 1.0), 1e-9)


def fastest(path):
    """The greatest speed in a .ply, or nan where a number is not finite."""
    with open(path, "rb") as file:
        data = file.read()
    head, _, body = data.partition(b"end_header\n")
    sizes = {"float": ("f", 4), "float32": ("f", 4), "double": ("d", 8), "int": ("i", 4), "int32": ("i", 4), "uint": ("I", 4),
             "uint32": ("I", 4), "uchar": ("B", 1), "uint8": ("B", 1), "short": ("h", 2), "ushort": ("H", 2), "char": ("b", 1)}
    rows, form, names = 0, "<", []
    for line in head.decode().splitlines():
        word = line.split()
        if word[:2] == ["element", "vertex"]:
            rows = int(word[2])
        elif word[:1] == ["property"]:
            form += sizes[word[1]][0]
            names.append(word[2])
    at = [names.index(n) for n in names if n in ("vx", "vy", "vz")] if "vx" in names else []
    most = 0.0
    for row in struct.iter_unpack(form, body[: rows * struct.calcsize(form)]):
        if not all(math.isfinite(v) for v in row):
            return math.nan
        if at:
            most = max(most, math.sqrt(sum(row[i] ** 2 for i in at)))
    return most


def limit():  # of its own time: a busy machine is no hang
    resource.setrlimit(resource.RLIMIT_CPU, (20, 25))


def main():
    tally, failures = {}, []
    for number in range(first, first + count):
        dice = random.Random(number)
        made = scene(dice)
        with open("scene.json", "w") as file:
            json.dump(made, file)
        shutil.rmtree("o", ignore_errors=True)
        command = [ooze, "run", "scene.json", "-o", "o", "--quiet", "-t", "1", "--max-memory", "2"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, preexec_fn=limit)
            code, said = done.returncode, done.stderr.strip()
        except subprocess.TimeoutExpired:
            code, said = "hangs", ""
        tally[code] = tally.get(code, 0) + 1
        if code not in (0, 2, 3) or (code and not said):
            failures.append((number, f"ended with {code}: {said[-200:]}"))
        elif code == 0:
            speeds = [fastest(os.path.join("o/points", name)) for name in sorted(os.listdir("o/points"))]
            asked = max([3.0, wall_speed(made)] + [e["speed"] for e in made.get("emitters", {}).values()])
            gravity = made["solver"].get("gravity", 9.81)
            bound = 20 * (asked + (gravity if isinstance(gravity, float) else 9.81) * FRAMES / FPS + 5)
            worst = max(speeds, default=0.0)
            if math.isnan(max(speeds, default=0.0)) or any(math.isnan(v) for v in speeds):
                failures.append((number, "points are not finite"))
            elif worst > bound and "speed" not in said:
                failures.append((number, f"speeds up to {worst:.3g} m/s without a word"))
    print(f"{count} scenes: {tally}; {len(failures)} failures")
    for number, what in failures[:40]:
        print(f"  scenes.py OOZE 1 {number}: {what}")
    sys.exit(bool(failures))


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    main()
    os.chdir("/")
