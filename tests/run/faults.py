#!/usr/bin/env python3
"""faults.py OOZE PRELOAD KIND[:ERRNO] MOST [STRIDE [THREADS]]: `ooze run` with each of the first MOST calls of a kind failing, one a run.

KIND is that of fault.c: malloc, malloc+, write, sync, close, rename, open. Every run must end by itself with the right
code: 0, 4 (out of memory) for allocations and 2 for the disk. Each file under its own name must be whole, that is the same
bytes as that of a run without faults; after a run that ended well all of them must be there, and a run that did not must
come to the same files with --resume. SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCENE = {
    "solver": {"particle_separation": 0.02, "substeps": 2, "velocity_iterations": 2, "position_iterations": 2},
    "materials": {"m": {"viscosity": 5, "relaxation_time": 0.1}},
    "fluids": {"a": {"material": "m", "shape": "box", "size": [0.06, 0.06, 0.06], "position": [0, 0.1, 0]}},
    "emitters": {"e": {"material": "m", "radius": 0.03, "position": [0, 0.3, 0], "speed": 1}},
    "colliders": {"p": {"shape": "plane"}, "q": {"shape": "sphere", "radius": 0.05, "position": [0.2, 0.1, 0]}},
    "output": {"frames": [1, 3], "fps": 30, "points": "bgeo.sc", "surface": "vdb", "checkpoint_every": 1},
}
if "--mesh" in sys.argv:
    sys.argv.remove("--mesh")
    SCENE["output"]["mesh"] = "ply"
ooze, preload = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
kind, most = sys.argv[3], int(sys.argv[4])
stride = int(sys.argv[5]) if len(sys.argv) > 5 else 1
threads = sys.argv[6] if len(sys.argv) > 6 else "1"  # with more, files are written beside the simulation
kind, _, number = kind.partition(":")
codes = {0, 4} if kind.startswith("malloc") else {0, 2}
failures = []


def run(folder, fault=None, *arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OOZE_FAULT")}
    if fault:
        environment |= {"LD_PRELOAD": preload, "OOZE_FAULT": fault, "OOZE_FAULT_COUNT": "count.txt"}
        if number:
            environment["OOZE_FAULT_ERRNO"] = number
    command = [ooze, "run", "scene.json", "-o", folder, "--json", "--quiet", "-t", threads, *arguments]
    try:
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -9, "", "ooze: hangs")


def files(folder):
    root = pathlib.Path(folder)
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()} if root.exists() else {}


def outputs(folder):
    """All but checkpoints, the lock and the log, which tells the time."""
    return {k: v for k, v in files(folder).items() if not k.startswith(("checkpoints/", ".")) and k != "ooze.log"}


def judge(at, expected):
    def bad(what):
        failures.append(f"{kind}:{at}: {what}")

    shutil.rmtree("o", ignore_errors=True)
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
            json.loads(done.stdout)
        except ValueError:
            bad(f"what --json printed is none: {done.stdout[:60]!r}")
        return 0
    again = run("o", None, "--resume")
    if again.returncode or outputs("o") != expected:
        bad(f"--resume ended with {again.returncode} and other files: {again.stderr.strip()[-200:]}")
    return 1


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("scene.json").write_text(json.dumps(SCENE))
        whole = run("whole", f"{kind.rstrip('+')}:0")
        if whole.returncode:
            sys.exit(f"without a fault: {whole.returncode}: {whole.stderr}")
        counts = dict(line.split() for line in pathlib.Path("count.txt").read_text().splitlines())
        expected, faults = outputs("whole"), 0
        last = min(most, int(counts[kind.rstrip("+")]))
        tried = range(1, last + 1, stride)
        if not tried:
            sys.exit(f"{kind}: no call was counted: {preload} is not in the program")
        for at in tried:
            faults += judge(at, expected)
            if len(failures) > 20:
                break
        print(f"{kind}: {len(tried)} faults, {faults} ended the run, {len(failures)} failures")
        print("\n".join(failures))
        sys.exit(bool(failures))


main()
