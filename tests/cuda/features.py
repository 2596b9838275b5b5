"""What each feature of a scene costs: one pool of honey that sinks on a plate, with one thing added
at a time, timed by `ooze bench --scene`. Prints a Markdown table (cuda/README.md has it).

    python3 tests/cuda/features.py build-gpu/ooze
    python3 tests/cuda/features.py build/ooze --backend cpu --particles 5000 heat bodies

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile

SIDE = 0.12  # m: edge of the pool


def base(particles):
    """The scene that the others are compared with: counts are fixed, so that each does as much."""
    return {
        "solver": {
            "particle_separation": SIDE / particles ** (1 / 3),
            "substeps": 8,
            "velocity_iterations": 10,
            "position_iterations": 5,
        },
        "materials": {"honey": {"preset": "honey", "surface_tension": 0}},
        "fluids": {"pool": {"material": "honey", "shape": "box", "size": [SIDE] * 3,
                            "position": [0, SIDE / 2 + 0.005, 0]}},
        "colliders": {"plate": {"shape": "plane"}},
        "output": {"frames": [1, 16], "points": "none"},
    }


def cup(**more):
    """A turned cup, as signed distances, around the pool."""
    profile = [[0, 0], [0.1, 0], [0.1, 0.14], [0.09, 0.14], [0.09, 0.012], [0, 0.012]]
    return dict({"shape": "revolve", "profile": profile, "voxel": 0.003, "friction": 1,
                 "position": [0, -0.012, 0]}, **more)


def slides(y=0.0):
    """Keyframes of a position."""
    return {"keys": [[0, [0, y, 0]], [1, [0.1, y, 0]]]}


def ball(**more):
    """A body above the pool."""
    return dict({"material": "wood", "shape": "sphere", "radius": 0.025,
                 "position": [0, SIDE + 0.035, 0]}, **more)


SDF, MOVED = {"cup": cup()}, {"plate": {"shape": "plane", "position": slides()}}
WOOD = {"wood": {"density": 700}}
TWO = {"cream": {"preset": "honey", "viscosity": 5}}

# What a row is called in the table, and what it adds: a value of a path that ends in "material"
# goes to the honey.
FEATURES = {
    "surface tension": {"material": {"surface_tension": 0.06}},
    "relaxation time": {"material": {"relaxation_time": 0.1}},
    "yield stress": {"material": {"yield_stress": 20}},
    "thinning (Carreau)": {"material": {"thinning_time": 0.1, "flow_index": 0.5}},
    "extensibility": {"material": {"relaxation_time": 0.1, "extensibility": 5}},
    "second mode": {"material": {"relaxation_time": 0.1, "second_viscosity": 5,
                                 "second_relaxation_time": 0.02}},
    "solvent": {"material": {"relaxation_time": 0.1, "solvent_viscosity": 5}},
    "heat": {"material": {"conductivity": 0.5, "film_coefficient": 20}},
    "heat and a ramp": {"material": {"conductivity": 0.5, "film_coefficient": 20,
                                     "ramp_1": [280, 200, 0], "ramp_2": [300, 5, 0]}},
    "rest": {"solver": {"rest": True}},
    "two fluids": {"materials": TWO, "fluids": {"pool": {"size": [SIDE / 2, SIDE, SIDE],
                   "position": [-SIDE / 4, SIDE / 2 + 0.005, 0]}, "half": {
                       "material": "cream", "shape": "box", "size": [SIDE / 2, SIDE, SIDE],
                       "position": [SIDE / 4, SIDE / 2 + 0.005, 0]}}},
    "mixing": "two fluids",
    "nozzle": {"emitters": {"spout": {"material": "honey", "radius": 0.012, "speed": 0.4,
                                      "position": [0, SIDE + 0.06, 0]}}},
    "fluid from a volume": {"fluids": {"more": {
        "material": "honey", "shape": "sphere", "radius": 0.015, "emit": "volume",
        "position": [0, SIDE + 0.06, 0]}}},
    "kill volume": {"colliders": {"drain": {"shape": "box", "half": [0.2, 0.05, 0.02],
                                            "position": [0, 0.05, 0.09], "role": "kill"}}},
    "cylinder around": {"colliders": {"tank": {
        "shape": "cylinder", "radius": 0.09, "height": 0.4, "invert": True}}},
    "moving plate": {"colliders": MOVED},
    "cup of distances": {"colliders": SDF},
    "cup that moves": {"colliders": {"cup": cup(position=slides(-0.012))}},
    "boundary particles": {"colliders": {"plate": {"boundary": "particles",
                                                   "half": [0.15, 0, 0.15]}}},
    "boundary, moving": {"colliders": {"cup": cup(boundary="particles",
                                                  position=slides(-0.012))}},
    "rigid body": {"materials": WOOD, "bodies": {"ball": ball()}},
    "rigid body, keyed": {"materials": WOOD, "bodies": {"ball": ball(position={
        "keys": [[0, [0, 0.155, 0]], [0.7, [0, 0.06, 0]]]})}},
    "27 rigid bodies": {"materials": WOOD, "bodies": {"ball": ball(
        radius=0.008, position=[-0.03, SIDE + 0.02, -0.03], count=[3, 3, 3], step=[0.03] * 3)}},
    "soft body": {"materials": WOOD, "bodies": {"ball": ball(kind="soft")}},
    "automatic counts": {"solver": {"velocity_iterations": 0, "position_iterations": 0}},
    "tolerance": {"solver": {"velocity_tolerance": 1e-3}},
}


def merge(scene, more):
    """More values, key by key."""
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(scene.get(key), dict) and "keys" not in value:
            merge(scene[key], value)
        else:
            scene[key] = copy.deepcopy(value)


def scene_of(name, particles):
    """The base with one feature."""
    scene = base(particles)
    if not name:
        return scene
    more = FEATURES[name]
    if more == "two fluids":
        merge(scene, FEATURES[more])
        for material in scene["materials"].values():
            material["mixing"] = 1e-5
        return scene
    more = dict(more)
    merge(scene["materials"]["honey"], more.pop("material", {}))
    merge(scene, more)
    return scene


def timed(ooze, backend, scene):
    """ms a frame of the steps, particles at the end, and the message of a run that failed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(scene, f)
        run = subprocess.run(
            [ooze, "bench", "--scene", path, "--json", "--backend", backend, "-o",
             os.path.join(folder, "out")], capture_output=True, text=True, check=False)
    if run.returncode:
        return None, 0, run.stderr.strip()
    figures = json.loads(run.stdout)
    return 1e3 * figures["step_seconds_per_frame"], figures["particles"], ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("ooze")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--particles", type=int, default=100000)
    parser.add_argument("features", nargs="*", help="all, where none is named")
    options = parser.parse_args()
    wanted = [n for n in FEATURES
              if not options.features or any(w in n for w in options.features)]
    print("| added | particles | ms a frame | times |\n|---|---|---|---|", flush=True)
    plain, failed = 0.0, 0
    for name in ["", *wanted]:
        ms, particles, message = timed(options.ooze, options.backend,
                                       scene_of(name, options.particles))
        if ms is None:
            print(f"{name or 'nothing'}: {message}", file=sys.stderr)
            failed = 1
            continue
        plain = plain or ms
        print(f"| {name or 'nothing'} | {particles} | {ms:.2f} | {ms / plain:.2f} |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
