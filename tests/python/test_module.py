"""The Python module: structs and defaults as the library has them, views without copies, the way
from a scene to a mesh. OOZE_LIBRARY names the library. SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import gc
import json
import os
import sys
import tempfile
import warnings

ROOT = sys.argv[1]
sys.path.insert(0, os.path.join(ROOT, "python"))
folder = tempfile.mkdtemp()
package = os.path.join(folder, "ooze")
os.mkdir(package)
import generate  # noqa: E402

generate.Headers(os.path.join(ROOT, "solver_c/include")).write(os.path.join(package, "_abi.py"))
with open(os.path.join(ROOT, "python/ooze/__init__.py")) as source, open(os.path.join(package,
    "__init__.py"), "w") as to:
    to.write(source.read())
sys.path.insert(0, folder)
import numpy as np  # noqa: E402
import ooze  # noqa: E402
from ooze import _abi, _default, _lib  # noqa: E402


def defaults_are_those_of_the_schema():
    entry, compared = _default("ooze_schema_entry"), 0
    owners = {"solver": ["solver_desc", "params"], "material": ["material"],
              "collider": ["collider_desc"],
              "emitter": ["emitter_desc"], "body": ["body_desc"]}
    for i in range(_lib.ooze_schema_count()):
        _lib.ooze_schema_get(i, ctypes.byref(entry))
        for owner in owners[entry.group.decode()]:
            struct, value = _default("ooze_" + owner), (ctypes.c_double * 4)()
            if _lib.ooze_schema_load(owner.encode(), entry.name, ctypes.byref(struct), value) < 0:
                continue
            assert np.allclose(list(value)[:3], list(entry.default_value)[:3], rtol=1e-6), \
                (owner, entry.name, list(value), list(entry.default_value))
            compared += 1
    assert compared > 100, compared  # a field that is off by a word shows in those behind it
    assert len(_default("ooze_emitter_desc").corners) == 2 * _abi.OOZE_OUTLINE_CORNERS


def a_solver_falls_and_views_are_not_copies():
    s = ooze.Solver(separation=0.02, substeps=2, rest=1)
    honey = s.add_material("honey", viscosity=20.0)
    s.add_collider("plane")
    grid = np.stack(np.meshgrid(*[np.arange(5) * 0.02] * 3), -1).reshape(-1, 3) + [0, 0.5, 0]
    s.add_particles(grid, material=honey)
    before = s["P"][:, 1].mean()
    s.step(1 / 24)
    fallen = before - s["P"][:, 1].mean()
    # two steps of symplectic Euler
    assert abs(fallen - 0.75 * 9.81 / 24 ** 2) < 0.01 * fallen, fallen
    p = s.points()
    view = p["P"]
    view[0] = (7, 8, 9)
    assert tuple(p["P"][0]) == (7, 8, 9) and p["P"].ctypes.data == view.ctypes.data
    del p
    gc.collect()
    assert tuple(view[0]) == (7, 8, 9)  # the view keeps the points
    c = s.capture()
    assert c["P"].ctypes.data == c["P"].ctypes.data and np.array_equal(c["P"], s["P"])
    block = s.save()
    s.step(1 / 24)
    after = s["P"]
    s.load(block)
    s.step(1 / 24)
    assert np.array_equal(after, s["P"])
    s["v"] = 0.0
    assert not s["v"].any()
    for values, told in (({"viscosity": "thick"},
                          "viscosity of ooze_material is 'thick'; expected a number"),
                         ({"ramp_1": 1}, "expected 3 numbers"),
                         ({"ramp_1": (1, 0)},
                          "ramp_1 of ooze_material is (1, 0); expected 3 numbers")):
        try:
            s.add_material("honey", **values)
        except ooze.Error as e:
            assert told in str(e), e
        else:
            raise AssertionError("%s was taken" % values)
    try:
        s.add_particles([[np.nan, 0, 0]])
    except ooze.Error as e:
        assert "finite" in str(e), e
    else:
        raise AssertionError("a particle at nan was taken")


def a_nozzle_pours_from_and_until():
    s = ooze.Solver(separation=0.02, substeps=2)
    honey = s.add_material("honey")
    s.add_emitter(material=honey, radius=0.06, speed=1.0, from_=0.1, until=0.3)
    counts = []
    for _ in range(10):
        s.step(0.05)
        counts.append(len(s))
    assert counts[1] == 0 < counts[2] < counts[4] == counts[5] == counts[9], counts
    volume = np.pi * 0.06 ** 2 * 1.0 * 0.2
    assert abs(counts[9] * 0.02 ** 3 / volume - 1) < 0.1, counts  # a layer of ten
    try:
        s.add_emitter(from_=2, until=1)
    except ooze.Error as e:
        assert "until is 1 s; expected more than from, which is 2 s" in str(e), e
    else:
        raise AssertionError("a span that ends before it begins was taken")


def moving(t):  # m, at a time
    return 0.1 - 0.4 * t


def colliders_bodies_and_emitters_are_moved():
    s = ooze.Solver(separation=0.02, substeps=4)
    oil = s.add_material(viscosity=1.0)
    block = np.stack(np.meshgrid(*[np.arange(4) * 0.02] * 3), -1).reshape(-1, 3)
    s.add_collider("plane")
    wall = s.add_collider("box", start=(0.4, 0, 0), half=(0.1, 0.2, 0.2))
    s.add_particles(block + [0, 0.01, 0], material=oil)
    for k in range(4):
        s.move_collider(wall, (0.4 - 0.08 * (k + 1), 0, 0))
        s.step(1 / 24)
    assert s["P"][:, 0].max() < -0.01, s["P"][:, 0].max()  # the wall's side is at -0.02 m
    # a body that is led down, and one that is let go
    lead = s.add_material(density=5000.0, viscosity=1.0)
    body = s.add_body(block - 0.03, material=lead, pose=(0.0, 2.0, 0.0), friction=0.2)
    for k in range(3):
        s.drive(body, ((0.1 * (k + 1), 2.0, 0.0), (0, 0, np.sin(0.1 * (k + 1)),
                                                   np.cos(0.1 * (k + 1)))))
        s.step(1 / 24)
    there = s.body(body)
    assert np.allclose(there["position"], (0.3, 2, 0), atol=1e-3), there
    assert np.allclose(there["rotation"], (0, 0, np.sin(0.3), np.cos(0.3)), atol=1e-3), there
    assert abs(there["mass"] / (64 * 5000 * 0.02 ** 3) - 1) < 0.01, there
    s.drive(body, (0.3, 2.0, 0.0))  # a position alone keeps the rotation
    s.step(1 / 24)
    assert np.allclose(s.body(body)["rotation"], there["rotation"], atol=1e-3)
    s.drive(body, None)
    for _ in range(3):
        s.step(1 / 24)
    assert s.body(body)["position"][1] < 1.95, s.body(body)
    soft = s.add_body(block, kind="soft", material=oil, pose=(3.0, 1.0, 0.0))
    assert s.body(soft)["particles"] == 64
    # a nozzle that is moved, switched off, and does not know a word
    tap = s.add_emitter(material=oil, radius=0.05, speed=1.0, start=(5.0, 1.0, 0.0))
    s.step(0.1)
    s.set_emitter(tap, end=(7.0, 1.0, 0.0))
    s.step(0.1)
    s.set_emitter(tap, active=0)
    assert s["P"][:, 0].max() > 6.5, s["P"][:, 0].max()
    before = len(s)
    s.step(0.2)
    assert len(s) == before, (before, len(s))
    s.set_emitter(tap, start=(9.0, 1.0, 0.0), active=1)
    s.step(0.1)
    assert s["P"][:, 0].max() > 8.9 and len(s) > before
    for refused in (lambda: s.set_emitter(99, speed=1), lambda: s.move_collider(99, (0, 0, 0)),
                    lambda: s.set_emitter(tap, sped=1), lambda: s.add_body([[0, 0, 0]]),
                    lambda: s.drive(99, (0, 0, 0))):
        try:
            refused()
        except ooze.Error as e:
            assert str(e), e
        else:
            raise AssertionError("taken")


def a_scene_is_stepped_as_a_run_steps_it():
    scene = ooze.Scene(os.path.join(ROOT, "tests/run/small.json"), set={"output.frames": [1, 6]})
    report = ooze.run(scene, os.path.join(folder, "stepped"))
    solver = scene.solver()
    while solver.frame < 6:
        scene.step(solver)
    points = solver.points()
    for name in os.listdir(os.path.join(folder, "stepped/points")):
        if ".0006." in name:
            cached = ooze.Points.read(os.path.join(folder, "stepped/points", name))
    assert np.array_equal(points["P"], cached["P"]) and np.array_equal(points["v"], cached["v"])
    assert report["particles"] == len(points)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        solver = scene.solver()
        solver.step(1 / 30)
        solver.step(1 / 30)
    assert len(told) == 1 and "scene.step(solver)" in str(told[0].message), told


def a_scene_becomes_a_coloured_mesh():
    scene = ooze.Scene({"solver": {"particle_separation": 0.01},
                        "materials": {"honey": {"preset": "honey"},
                                      "milk": {"preset": "runny_cream"}},
                        "fluids": {"a": {"material": "honey", "shape": "sphere", "radius": 0.05},
                                   "b": {"material": "milk", "shape": "sphere", "radius": 0.05,
                                         "position": [0.1, 0, 0]}}}, set={"solver.substeps": 2})
    assert scene.info["substeps"] == 2 and scene.material_names == [None, "honey", "milk"]
    solver = scene.solver()
    points = scene.colour(solver.points())
    surface = points.surface(material_names=scene.material_names)
    assert abs(surface.info["volume"] / (len(solver) * 1e-6) - 1) < 0.1, surface.info
    assert surface.distance([[0, 0, 0], [9, 9, 9]])[0] < 0
    mesh = surface.mesh()
    assert mesh.triangles.max() < len(mesh.P) and "weight_milk" in mesh.keys()
    left = mesh.P[:, 0] < 0.0
    assert np.all(mesh["material"][left] == 1) and np.ptp(mesh["Cd"][left], axis=0).max() < 1e-4
    path = os.path.join(folder, "mesh.ply")
    mesh.write(path)
    assert len(ooze.Mesh.read(path).P) == len(mesh.P)


def a_run_tells_its_progress():
    told, files = [], []
    scene = ooze.Scene({"solver": {"particle_separation": 0.02, "substeps": 1},
                        "materials": {"honey": {"preset": "honey"}},
                        "fluids": {"a": {"material": "honey", "shape": "sphere", "radius": 0.05}},
                        "output": {"frames": [1, 3]}})
    report = ooze.run(scene, os.path.join(folder, "run"), progress=told.append, wrote=files.append)
    assert report["frame"] == 3 and sum(t["done"] for t in told) >= 2, (report, told)
    assert any(f.endswith(".0003.bgeo.sc") or f.endswith(".0003.bgeo")
               for f in files), json.dumps(files)


if _lib.ooze_surface_has_vdb():
    a_scene_becomes_a_coloured_mesh()
defaults_are_those_of_the_schema()
a_solver_falls_and_views_are_not_copies()
a_nozzle_pours_from_and_until()
colliders_bodies_and_emitters_are_moved()
a_scene_is_stepped_as_a_run_steps_it()
a_run_tells_its_progress()
print("python module: ok")
