#!/usr/bin/env python3
"""faults.py OOZE PRELOAD KIND[:ERRNO] MOST [STRIDE [THREADS]] [--of WORK]: the program with each of
the first MOST calls of a kind failing, one a run.

KIND is that of fault.c: malloc, malloc+, write, sync, close, rename, open, thread. WORK: run
(points and .vdb), mesh (.ply besides), read (a run with fluid and collider from .bgeo.sc files),
resume (the second half of a run), surface (`ooze surface` of cached points, to .obj) and vdb (the
same to .vdb). Every run must end by itself with the right code: 0, 4 (out of memory) for
allocations and 2 for the disk. Each file under its own name must be whole, that is the same bytes
as that of a run without faults; after a run that ended well all of them must be there, and a run
that did not must come to the same files when it is asked again. --cpus N is a machine of N
processors, with as many workers of TBB. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

words = argparse.ArgumentParser()
words.add_argument("ooze", type=os.path.abspath)
words.add_argument("preload", type=os.path.abspath)
words.add_argument("kind")
words.add_argument("most", type=int)
words.add_argument("stride", type=int, nargs="?", default=1)
# with more threads, files are written beside the simulation
words.add_argument("threads", nargs="?", default="1")
words.add_argument("--of", default="run",
                   choices=["run", "mesh", "read", "resume", "surface", "vdb"])
words.add_argument("--first", type=int, default=1)
words.add_argument("--cpus", default="0")
asked = words.parse_args()
SCENE = {
    "solver": {"particle_separation": 0.02, "substeps": 2, "velocity_iterations": 2,
               "position_iterations": 2},
    "materials": {"m": {"viscosity": 5, "relaxation_time": 0.1}},
    "fluids": {"a": {"material": "m", "shape": "box", "size": [0.06, 0.06, 0.06],
                     "position": [0, 0.1, 0]}},
    "emitters": {"e": {"material": "m", "radius": 0.03, "position": [0, 0.3, 0], "speed": 1}},
    "colliders": {"p": {"shape": "plane"},
                  "q": {"shape": "sphere", "radius": 0.05, "position": [0.2, 0.1, 0]}},
    "output": {"frames": [1, 3], "fps": 30, "points": "bgeo.sc", "surface": "vdb",
               "checkpoint_every": 1},
}
if asked.of == "mesh":
    SCENE["output"]["mesh"] = "ply"
kind, _, number = asked.kind.partition(":")
codes = {0, 4} if kind.startswith(("malloc", "thread")) else {0, 2}
failures = []


def program(fault, *arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OOZE_FAULT")}
    if fault:
        environment |= {"LD_PRELOAD": asked.preload, "OOZE_FAULT": fault,
                        "OOZE_FAULT_COUNT": "count.txt", "OOZE_FAULT_CPUS": asked.cpus}
        # threads that start are seen to be waited for
        if kind.startswith("thread") and fault.endswith(":0"):
            environment["OOZE_FAULT_SLOW"] = "5"
        if number:
            environment["OOZE_FAULT_ERRNO"] = number
    command = [asked.ooze, *arguments, "--quiet", "-t", asked.threads]
    try:
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -9, "", "ooze: hangs")


def run(folder, fault=None, *more):
    """The work that was asked for, into a folder."""
    if asked.of in ("surface", "vdb"):
        ending = "obj" if asked.of == "surface" else "vdb"
        return program(fault, "surface", "made/points", "-o", f"{folder}/s.{ending}")
    resume = ["--resume"] if asked.of == "resume" else []
    return program(fault, "run", "scene.json", "-o", folder, "--json", *more, *resume)


def begin(folder):
    """What the work finds there."""
    shutil.rmtree(folder, ignore_errors=True)
    if asked.of == "resume":
        shutil.copytree("half", folder)
    elif asked.of in ("surface", "vdb"):
        os.mkdir(folder)


def prepare():
    scene = pathlib.Path("scene.json")
    scene.write_text(json.dumps(SCENE))
    if asked.of in ("run", "mesh"):
        return
    wanted = {"output": SCENE["output"] | {"surface": "none", "mesh": "bgeo.sc"}}
    scene.write_text(json.dumps(SCENE | wanted))
    if program(None, "run", "scene.json", "-o", "made").returncode:
        sys.exit("no points to begin with")
    if asked.of == "resume":
        scene.write_text(json.dumps(SCENE))
        if program(None, "run", "scene.json", "-o", "half", "--frames", "1-2").returncode:
            sys.exit("no half of a run to begin with")
    if asked.of == "read":
        points, mesh = "made/points/scene.0003.bgeo.sc", "made/mesh/scene.0003.bgeo.sc"
        cached = {"material": "m", "shape": "points", "file": points}
        SCENE["fluids"] = {"a": cached | {"keep_state": True},
                           "b": cached | {"position": [1, 0, 0]}}
        SCENE["colliders"]["q"] = {"shape": "mesh", "file": mesh, "position": [0.5, 0, 0],
                                   "boundary": "particles"}
        scene.write_text(json.dumps(SCENE))


def files(folder):
    root = pathlib.Path(folder)
    if not root.exists():
        return {}
    return {str(p.relative_to(root)): p.read_bytes()
            for p in sorted(root.rglob("*")) if p.is_file()}


def outputs(folder):
    """All but checkpoints, the lock and the log, which tells the time."""
    return {k: v for k, v in files(folder).items()
            if not k.startswith(("checkpoints/", ".")) and k != "ooze.log"}


def judge(at, expected):
    def bad(what):
        failures.append(f"{asked.of}: {kind}:{at}: {what}")

    begin("o")
    done = run("o", f"{kind}:{at}")
    said = done.stderr.strip().splitlines()[-1:] or [""]
    if done.returncode not in codes:
        bad(f"ended with {done.returncode}, expected one of {sorted(codes)}: {said[0]}")
    if done.returncode and done.returncode in codes and not said[0].startswith("ooze: "):
        bad("ended without a word")
    found = outputs("o")
    for name, data in found.items():
        if name.split("/")[-1].startswith("."):
            if done.returncode >= 0:
                bad(f"{name} is left")
        elif expected.get(name) != data:
            bad(f"{name} is not whole ({len(data)} bytes of {len(expected.get(name, b''))})")
    if done.returncode == 0:
        if found != expected:
            bad(f"ended well without {sorted(expected.keys() - found.keys())}")
        try:
            json.loads(done.stdout or "{}")
        except ValueError:
            bad(f"what --json printed is none: {done.stdout[:60]!r}")
        return 0
    again = run("o", None, *([] if asked.of == "resume" else ["--resume"]))
    if again.returncode or outputs("o") != expected:
        bad(f"--resume ended with {again.returncode} and other files: "
            f"{again.stderr.strip()[-200:]}")
    return 1


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        begin("whole")
        whole = run("whole", f"{kind.rstrip('+')}:0")
        if whole.returncode:
            sys.exit(f"without a fault: {whole.returncode}: {whole.stderr}")
        counts = dict(line.split() for line in pathlib.Path("count.txt").read_text().splitlines())
        expected, faults = outputs("whole"), 0
        if kind.startswith("thread") and asked.of == "surface":
            # half of them only count the system's grants, and come in haste, as do those of
            # libraries
            threads, hasty = int(counts["thread"]), int(counts["hasty"])
            if threads < 4 or hasty > threads // 2 + 4:
                failures.append(f"{hasty} of {threads} threads are started while another begins: "
                                "TBB's workers start each other")
        last = min(asked.most, int(counts[kind.rstrip("+")]))
        tried = range(asked.first, last + 1, asked.stride)
        if not tried:
            sys.exit(f"{kind}: no call was counted: {asked.preload} is not in the program")
        for at in tried:
            faults += judge(at, expected)
            if len(failures) > 20:
                break
        print(f"{kind} of {asked.of}: {len(tried)} faults, {faults} ended the run, "
              f"{len(failures)} failures")
        print("\n".join(failures))
        sys.exit(bool(failures))


main()
