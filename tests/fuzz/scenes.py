#!/usr/bin/env python3
"""scenes.py OOZE COUNT [SEED]: random scenes of five frames over all models and features, from the
schema that the program prints. Each either runs to finite points of believable speed (code 0), says
that it diverged (3), or is refused (2) with one sentence; none crashes or takes more than 20 s for
what was asked. SPDX-License-Identifier: Apache-2.0"""
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

from points import fastest, limit

ooze, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
first = int(sys.argv[3]) if len(sys.argv) > 3 else 1


def printed(*words):
    done = subprocess.run([ooze, *words, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


schema = printed("schema")
keys = {}
for entry in schema:
    if entry.get("scene", True):
        keys.setdefault(entry["group"], []).append(entry)
presets = [p["name"] for p in printed("schema", "presets")]
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
        least, most = max(low, top * 1e-4), max(top, 1e-9)
        v = max(low, 10 ** dice.uniform(math.log10(least), math.log10(most)))
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


MODELS = next(entry["menu"] for entry in schema
              if (entry["group"], entry["name"]) == ("solver", "model"))
WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"  # a tetrahedron


def shape(dice, d):
    made = dice.choice([
        {"shape": "box", "size": [d * dice.randint(2, 7) for _ in range(3)]},
        {"shape": "sphere", "radius": d * dice.uniform(1.2, 4)},
        {"shape": "capsule", "radius": 2 * d, "height": 8 * d},
        {"shape": "cylinder", "radius": 3 * d, "height": 5 * d},
        {"shape": "revolve", "profile": [[0, 0], [3 * d, 0], [2 * d, 5 * d], [0, 5 * d]]},
        {"shape": "capsules", "capsules": [[0, 0, 0, 4 * d, 4 * d, 0, 2 * d],
                                           [0, 0, 0, -4 * d, 4 * d, 0, 2 * d]]},
        {"shape": "mesh", "file": "wedge.obj", "scale": 8 * d},
    ])
    if dice.random() < 0.3:
        made["rotate"] = [dice.uniform(-180, 180) for _ in range(3)]
    return made


def solver_of(dice, d, model):
    """Parameters of other models are refused as having no effect: left out, but for one in
    fifty."""
    others = () if dice.random() < 0.02 else tuple(name + "_" for name in MODELS if name != model)
    left = {"particle_separation", "model", "substeps", "velocity_iterations",
            "position_iterations", "max_substeps"}
    if others:
        left |= {entry["name"] for entry in keys["solver"] if entry["name"].startswith(others)}
    made = some("solver", dice, 0.15, left)
    return made | {"particle_separation": d, "model": model, "substeps": dice.choice([1, 2, 4, 8])}


def scene(dice):
    d, model = dice.choice([0.01, 0.02, 0.03]), dice.choice(MODELS + ["conformation"] * len(MODELS))
    materials = {}
    for name in ("one", "two")[: dice.randint(1, 2)]:
        materials[name] = {"preset": dice.choice(presets)} if dice.random() < 0.5 else {}
        materials[name] |= some("material", dice, 0.12)
        if dice.random() < 0.1:
            materials[name]["viscosity"] = {"keys": [[0, dice.uniform(1, 100)],
                                                     [0.1, dice.uniform(1, 100)]]}
    material = lambda: dice.choice(list(materials) + presets[:3])
    at = lambda: [dice.uniform(-0.1, 0.1), dice.uniform(0.05, 0.4), dice.uniform(-0.1, 0.1)]
    output = {"frames": [1, FRAMES], "fps": FPS, "points": "ply"}
    made = {"solver": solver_of(dice, d, model), "materials": materials, "output": output,
            "fluids": {}, "emitters": {}, "colliders": {}, "bodies": {}}
    emits = dice.random() < 0.4
    for i in range(dice.randint(0 if emits else 1, 2)):
        made["fluids"][f"f{i}"] = shape(dice, d) | {
            "material": material(), "position": at(), "jitter": dice.choice([0, 0.05])}
        if dice.random() < 0.3:
            made["fluids"][f"f{i}"]["velocity"] = [dice.uniform(-2, 2) for _ in range(3)]
        if dice.random() < 0.1:
            made["fluids"][f"f{i}"] |= {"emit": "volume", "from": dice.choice([0, 0.05]),
                                        "until": 0.1}
        if dice.random() < 0.1:
            made["fluids"][f"f{i}"] |= {"count": [2, 1, 2], "step": [8 * d, 1, 8 * d]}
    if emits:
        left = {"rate", "max_particles", "active", "from", "until"}
        made["emitters"]["e"] = some("emitter", dice, 0.15, left) | {
            "material": material(), "radius": d * dice.uniform(1, 4), "speed": dice.uniform(0, 3),
            "position": at(), "from": dice.choice([0, 0, 0.03]), "until": dice.choice([0, 0, 0.07])}
    if dice.random() < 0.8:
        made["colliders"]["floor"] = {"shape": "plane", "friction": dice.random()}
    if dice.random() < 0.4:
        left = {"shape", "voxel", "shell", "radius", "height", "scale"}
        made["colliders"]["c"] = shape(dice, d) | some("collider", dice, 0.1, left) | {
            "position": at(), "friction": dice.random(), "stick": dice.choice([0, 0, 50]),
            "boundary": dice.choice(["sdf", "particles"])}
        if dice.random() < 0.4:
            made["colliders"]["c"]["position"] = {"keys": [[0, at()], [0.3, at()]]}
    if dice.random() < 0.25 and model not in ("blend", "cauchy"):
        left = {"kind", "shape", "radius", "height", "scale"}
        made["bodies"]["b"] = shape(dice, d) | {
            "kind": dice.choice(["rigid", "soft"]), "material": material(), "position": at()}
        made["bodies"]["b"] |= some("body", dice, 0.1, left)
        if "c" in made["colliders"]:  # one that begins inside a collider is thrown out by right
            made["bodies"]["b"]["position"][0] += 1.0
    if dice.random() < 0.2:
        left = {"fps", "points", "surface_voxel", "surface_gap", "checkpoint_keep"}
        output |= some("output", dice, 0.2, left)
        output |= {"surface": dice.choice(["none", "vdb"]),
                   "mesh": dice.choice(["none", "ply", "obj", "bgeo.sc"])}
    return {k: v for k, v in made.items() if v or k in ("solver", "output")}


def wall_speed(made):
    """Of the moving collider, in the fluid's own seconds."""
    where = made.get("colliders", {}).get("c", {}).get("position")
    if not isinstance(where, dict):
        return 0.0
    (begin, a), (end, b) = where["keys"]
    return math.dist(a, b) / (end - begin) / max(made["solver"].get("time_scale", 1.0), 1e-9)


def unread(made):
    """The files that a whole run must have left, but for the points, which are read number by
    number."""
    output, kinds = made["output"], []
    if output.get("surface", "none") != "none":
        kinds.append(("surface", "vdb"))
    if output.get("mesh", "none") != "none":
        kinds.append(("mesh", output["mesh"]))
    return [f"o/{folder}/scene.{frame:04d}.{end}" for folder, end in kinds for frame in (1, FRAMES)]


def readable(path):
    """A .vdb has no reader here: it begins and ends as one."""
    if path.endswith(".vdb"):
        if not os.path.exists(path) or os.path.getsize(path) <= 100:
            return False
        with open(path, "rb") as file:
            return file.read(4) == b" BDV"
    return subprocess.run([ooze, "info", path, "--json"], capture_output=True).returncode == 0


def main():
    tally, failures = {}, []
    for number in range(first, first + count):
        dice = random.Random(number)
        made = scene(dice)
        with open("scene.json", "w") as file:
            json.dump(made, file)
        with open("wedge.obj", "w") as file:
            file.write(WEDGE)
        shutil.rmtree("o", ignore_errors=True)
        command = [ooze, "run", "scene.json", "-o", "o", "--quiet", "-t", "1", "--max-memory", "2"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600,
                                  preexec_fn=limit)
            code, said = done.returncode, done.stderr.strip()
        except subprocess.TimeoutExpired:
            code, said = "hangs", ""
        tally[code] = tally.get(code, 0) + 1
        if code not in (0, 2, 3) or (code and not said):
            failures.append((number, f"ended with {code}: {said[-200:]}"))
        elif code == 0:
            lies = [name for name in unread(made) if not readable(name)]
            if lies:
                failures.append((number, f"is not whole: {lies}"))
            frames = sorted(os.listdir("o/points"))
            speeds = [fastest(os.path.join("o/points", name)) for name in frames]
            if len(frames) != FRAMES:
                failures.append((number, f"{len(frames)} of {FRAMES} frames are there"))
            asked = max([3.0, wall_speed(made)]
                        + [e["speed"] for e in made.get("emitters", {}).values()])
            gravity = made["solver"].get("gravity", 9.81)
            gravity = gravity if isinstance(gravity, float) else 9.81
            bound = 20 * (asked + gravity * FRAMES / FPS + 5)
            worst = max(speeds, default=0.0)
            if math.isnan(max(speeds, default=0.0)) or any(math.isnan(v) for v in speeds):
                failures.append((number, "points are not finite"))
            elif worst > bound and "speed" not in said:
                # the warning of shapes that begin in each other's place names them before the run
                if "fly apart" in said:
                    tally["fly apart as told"] = tally.get("fly apart as told", 0) + 1
                else:
                    failures.append((number, f"speeds up to {worst:.3g} m/s without a word"))
    print(f"{count} scenes: {tally}; {len(failures)} failures")
    for number, what in failures[:40]:
        print(f"  scenes.py OOZE 1 {number}: {what}")
    sys.exit(bool(failures))


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    main()
    os.chdir("/")
