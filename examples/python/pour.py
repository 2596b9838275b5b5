# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # A pour of honey, from numbers to a mesh
# `pip install .` in the tree installs the module. Each cell can be run by itself in a notebook that
# reads `# %%`.

# %% A solver, a material, a floor and a nozzle
import ooze

solver = ooze.Solver(separation=0.003, substeps=8, rest=1)
honey = solver.add_material("honey", viscosity=100.0)
solver.add_collider("plane")
solver.add_emitter(material=honey, radius=0.008, speed=0.4, start=(0.0, 0.12, 0.0),
                   disturbance=0.005)

# %% Thirty frames; arrays of all particles are numpy's
for frame in range(30):
    solver.step(1 / 30)
    speed = (solver["v"] ** 2).sum(1) ** 0.5
    print("frame %2d: %5d particles, fastest %.2f m/s" % (frame, len(solver), speed.max()))

# %% Views: nothing is copied, and every write is in the points
points = solver.points()
points["P"][:, 1] += 0.01
points.write("pour.bgeo.sc")

# %% A surface with channels for shading
mesh = points.surface(voxel=0.0015).mesh()
print(len(mesh.P), "vertices with", ", ".join(mesh.keys()))
mesh.write("pour.ply")
