"""samples.py OOZE ROOT COUNT: dough between plates does not burst, in COUNT runs whose viscosities
differ by thousandths: one run alone may be calm by chance. SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

ooze, root, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.path.insert(0, os.path.join(root, "examples", "situations"))
import situations  # noqa: E402


def run(folder, k):
    viscosity = 5000 + (5 * k // 2 if k % 2 == 0 else -5 * (k + 1) // 2)
    scene = situations.of("plates", "dough")
    scene["materials"]["stuff"]["viscosity"] = viscosity
    scene["output"] = {**scene["output"], "points": "none"}
    scene.pop("picture", None)
    path = os.path.join(folder, "%d.json" % k)
    with open(path, "w") as file:
        json.dump(scene, file)
    done = subprocess.run([ooze, "run", path, "-o", os.path.join(folder, str(k)), "--threads", "1",
                           "--isa", ("auto", "scalar")[k % 3 == 2], "--quiet"], text=True,
                          capture_output=True)
    good = done.returncode == 0 and "reach speeds" not in done.stderr
    print("%s  %d Pa s%s" % ("ok  " if good else "FAIL", viscosity,
                             "" if good else ": " + (done.stdout + done.stderr).strip()))
    return good


with tempfile.TemporaryDirectory() as place:
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sys.exit(0 if all(list(pool.map(lambda k: run(place, k), range(count)))) else 1)
