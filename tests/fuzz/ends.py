#!/usr/bin/env python3
"""ends.py OOZE [--every N] [--only GROUP.NAME [--exact]] [--verbose]: each number of a scene at its
lowest and at its highest value, one at a time, in short scenes of a fluid, of bodies and of heat,
from the schema that the program prints.

Each runs to finite points of believable speed (code 0), tells of its speeds, or is refused (2),
called diverged (3) or too large for the memory (4) with a sentence; none crashes or takes more than
20 s. --every N takes each Nth parameter.
SPDX-License-Identifier: Apache-2.0"""
import argparse
import copy
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

from points import fastest, limit

words = argparse.ArgumentParser()
words.add_argument("ooze", type=os.path.abspath)
words.add_argument("--every", type=int, default=1)
words.add_argument("--only", default="")
words.add_argument("--exact", action="store_true")
words.add_argument("--verbose", action="store_true")
asked = words.parse_args()
FPS, FRAMES, D = 24, 3, 0.02
WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"  # a tetrahedron



def box(*sides):
    return {"shape": "box", "size": [n * D for n in sides], "material": "m"}


def scene_of(**parts):
    solver = {"particle_separation": D, "substeps": 4}
    output = {"frames": [1, FRAMES], "fps": FPS, "points": "ply"}
    return {"solver": solver, "output": output} | parts


# A block falls on a floor and a ball, and a stream pours beside it.
FLUID = scene_of(
    materials={"m": {"viscosity": 5, "relaxation_time": 0.2}},
    fluids={"f": box(5, 5, 5) | {"position": [0, 0.07, 0]}},
    emitters={"e": {"material": "m", "radius": 2 * D, "speed": 1, "position": [0.4, 0.2, 0]}},
    colliders={"floor": {"shape": "plane"},
               "c": {"shape": "sphere", "radius": 0.05, "position": [0.1, 0.03, 0]}})
# A rigid and a soft one fall into a fluid.
BODIES = scene_of(
    materials={"m": {"viscosity": 5}},
    fluids={"f": box(8, 3, 5) | {"position": [0, 0.03, 0]}},
    bodies={"b": box(3, 3, 3) | {"kind": "soft", "position": [0.05, 0.13, 0]},
            "r": {"kind": "rigid", "shape": "sphere", "radius": 2 * D, "material": "m",
                  "position": [-0.06, 0.13, 0]}},
    colliders={"c": {"shape": "plane"}})
# A hot block melts on a cold floor.
HEAT = scene_of(
    materials={"m": {"viscosity": 50, "conductivity": 0.5, "temperature": 350, "emissivity": 0.5,
                     "film_coefficient": 20, "latent_heat": 1000, "melting_point": 330}},
    fluids={"f": box(5, 5, 5) | {"position": [0, 0.06, 0]}},
    colliders={"c": {"shape": "plane", "temperature": 280}})
SCENES = {"fluid": FLUID, "bodies": BODIES, "heat": HEAT}
ALL = ("fluid", "bodies", "heat")
GROUPS = {"solver": ALL, "material": ALL, "fluid": ("fluid", "heat"), "collider": ("fluid", "heat"),
          "emitter": ("fluid",), "body": ("bodies",), "output": ("fluid",), "picture": ("fluid",)}
# Folder and name of the object of a group.
OBJECTS = {"material": ("materials", "m"), "fluid": ("fluids", "f"), "collider": ("colliders", "c"),
           "emitter": ("emitters", "e"), "body": ("bodies", "b")}

MESH = {"shape": "mesh", "file": "wedge.obj", "scale": 0.3, "size": None, "radius": None}
ROUND = {"shape": "sphere", "size": None}
UPRIGHT = {"shape": "cylinder", "radius": 0.04, "size": None}
FILLED = {"scale": MESH, "radius": ROUND, "height": UPRIGHT, "half": {"size": None},
          "step": {"count": [2, 1, 1]}}  # of fluids and bodies
SURFACE = {"surface": "vdb", "mesh": "ply"}
THINS = {"viscosity": 50, "thinning_time": 0.1, "flow_index": 0.5, "relaxation_time": 0}
MELTS = {"melting_point": 330, "latent_heat": 1000, "conductivity": 0.5}
VIEW = {"eye": [1, 1, 1], "target": [0, 0, 0]}
RAMP = {f"ramp_{k}": [280 + 10 * k, 100 / k, 0] for k in range(1, 9)} | {"conductivity": 0.5}
# Other values of the same object, without which the number has no effect.
BESIDE = {
    "solver.min_substeps": {"cfl": 1, "max_substeps": 1000},
    "solver.max_substeps": {"cfl": 0.05},
    "solver.rest_period": {"rest": True},
    "solver.cauchy_frequency": {"cauchy_stress": "complex"},
    "material.compliance": {"viscosity": None},
    "material.extensibility": {"relaxation_time": 0.5},
    "material.thinning_sharpness": THINS,
    "material.thinned_viscosity": THINS,
    "material.thinning_time": THINS,
    "material.flow_index": {"consistency": 20, "relaxation_time": 0},
    "material.consistency": {"flow_index": 0.5, "relaxation_time": 0},
    "material.second_viscosity": {"second_relaxation_time": 1},
    "material.second_relaxation_time": {"second_viscosity": 50},
    "material.adhesion": {"surface_tension": 0.07},
    "material.latent_heat": MELTS,
    "material.melting_point": MELTS,
    "material.film_coefficient": {"conductivity": 0.5},
    "material.emissivity": {"conductivity": 0.5},
    "material.heat_capacity": {"conductivity": 0.5},
    "emitter.outline_inner": {"outline": "star"},
    "emitter.outline_points": {"outline": "star"},
    "emitter.seed": {"disturbance": 0.1},
    "collider.voxel": MESH,
    "collider.scale": MESH,
    "collider.size": {"shape": "box", "radius": None},
    "collider.half": {"shape": "box", "radius": None},
    "collider.radius": {"shape": "sphere"},
    "collider.height": {"shape": "cylinder", "radius": 0.05},
    "fluid.turn": {"count": [2, 1, 1], "step": [0.2, 1, 1]},
    "fluid.speed": {"emit": "volume", "until": 1},
    "fluid.until": {"emit": "volume"},
    "fluid.from": {"emit": "volume"},
    "fluid.seed": {"jitter": 0.1},
    "body.turn": {"count": [2, 1, 1], "step": [0.4, 1, 1]},
    "body.held": {"position": {"keys": [[0, [0.05, 0.13, 0]], [1, [0.05, 0.3, 0]]]}},
    "picture.eye": VIEW,
    "picture.target": VIEW,
    "picture.field_of_view": VIEW,
} | {f"{part}.{key}": values for part in ("fluid", "body") for key, values in FILLED.items()
} | {f"material.ramp_{k}": RAMP for k in range(1, 9)} | {
    f"output.surface_{k}": SURFACE for k in ("threshold", "voxel", "smoothing", "gap")}
MODELS = ("blend", "cauchy", "links", "springs")


def wanted(entry):
    name = f"{entry['group']}.{entry['name']}"
    return name == asked.only if asked.exact else asked.only in name


def ends(entry):
    """The lowest and the highest value, and for a vector both in all its components."""
    low, high = entry["minimum"], entry["maximum"]
    if entry["type"] == "int":
        low, high = int(low), int(min(high, 4294967295 if high < 1e10 else high))
    if entry["type"] in ("int", "float"):
        return [low, high]
    return [[v] * 3 for v in (low, high)] if entry["type"] == "vector" else []


def scene(place, entry, value):
    """A scene with the value, and the object that has it; None where it has no such object."""
    made = copy.deepcopy(SCENES[place])
    group, name = entry["group"], entry["name"]
    model = next((m for m in MODELS if name.startswith(m + "_")), None)
    if group in ("solver", "output"):
        to = made[group]
    elif group == "picture":
        to = made.setdefault("picture", {"size": [96, 64]})
    else:
        folder, number = OBJECTS[group]
        to = made[folder][number]
    if model:
        if place != "fluid":
            return None, None
        made["solver"]["model"] = model
        made["materials"]["m"] = {"viscosity": 5} if model in ("blend", "cauchy") else {}
    for key, other in BESIDE.get(f"{group}.{name}", {}).items():
        if other is None:
            to.pop(key, None)
        else:
            to[key] = other
    if name in ("particle_separation",) and value >= 1:
        made["fluids"]["f"]["size"] = [5 * value] * 3
    to[name] = value
    return made, to


def bound(made, entry, value):
    """m/s: twenty times what falls, pours, or is thrown as the scene asks for."""
    size = max(abs(v) for v in value) if isinstance(value, list) else abs(value)
    time = FRAMES / made["output"].get("fps", FPS) * made["solver"].get("time_scale", 1)
    gravity, speed = 9.81, 8.0
    if entry["name"] == "gravity":
        gravity = 2 * size
    if entry["unit"] == "m/s":
        speed += 2 * size
    if entry["name"] == "spin":
        speed += size
    if entry["name"] == "rate":
        speed += size / (math.pi * (2 * D) ** 2)
    return 20 * (speed + gravity * time)


def program(*arguments):
    command = [asked.ooze, *arguments, "--quiet", "-t", "1"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600,
                              preexec_fn=limit)
        return done.returncode, done.stderr.strip()
    except subprocess.TimeoutExpired:
        return "hangs", ""


def judge(place, entry, value, tally):
    made, _ = scene(place, entry, value)
    if not made:
        return None
    with open("scene.json", "w") as file:
        json.dump(made, file)
    shutil.rmtree("o", ignore_errors=True)
    code, said = program("run", "scene.json", "-o", "o", "--max-memory", "2")
    if code == 0 and entry["group"] == "picture":
        code, said = program("render", "o/points/scene.0003.ply", "-o", "p.png")
    tally[code] = tally.get(code, 0) + 1
    if asked.verbose:
        print(f"{place} {entry['group']}.{entry['name']} {value}: {code} {said[:300]}", flush=True)
    if code not in (0, 2, 3, 4) or (code and not said.startswith("ooze: ")):
        return f"ended with {code}: {said[-200:]}"
    if code:
        return None
    if not os.path.isdir("o/points"):
        return None if made["output"]["points"] == "none" else "no points"
    speeds = [fastest(os.path.join("o/points", name)) for name in sorted(os.listdir("o/points"))]
    if any(math.isnan(v) for v in speeds):
        return "points are not finite"
    worst = max(speeds, default=0.0)
    if worst > bound(made, entry, value) and "speed" not in said:
        return f"speeds up to {worst:.3g} m/s without a word"
    return None


def main():
    schema = subprocess.run([asked.ooze, "schema", "--json"], capture_output=True, check=True)
    numbers = [e for e in json.loads(schema.stdout)
               if e.get("scene", True) and e["group"] in GROUPS and ends(e) and wanted(e)]
    numbers = numbers[:: asked.every]
    with open("wedge.obj", "w") as file:
        file.write(WEDGE)
    tally, failures = {}, []
    for entry in numbers:
        for value in ends(entry):
            for place in GROUPS[entry["group"]]:
                what = judge(place, entry, value, tally)
                if what:
                    failures.append(f"{place}: {entry['group']}.{entry['name']} of {value}: {what}")
    print(f"{len(numbers)} numbers, {sum(tally.values())} scenes: {tally}; "
          f"{len(failures)} failures")
    print("\n".join(failures))
    sys.exit(bool(failures) or not tally)


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    main()
    os.chdir("/")
