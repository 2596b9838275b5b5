"""A bar of chocolate melts over a warm cake. hython ooze_chocolate.py chocolate.hip. SPDX-License-Identifier: Apache-2.0

The melting is done by hand, to show Ooze Step: inside a Solver SOP a wrangle warms what lies near the cake and makes it thinner by
its temperature, and Ooze Step takes the particles one frame further. All state is in their attributes, so anything may be
changed between two frames."""
import ooze_kit as kit

MELT = """// Warm what touches the cake (its top is at y = 0.05), cool the rest; seconds to follow: 1.5 and 20.
float near = 1 - smooth(0.05, 0.062, @P.y);
f@temperature += (lerp(293.15, 318.15, near) - @temperature) * @TimeInc / lerp(20, 1.5, near);
// Solid below 27 C, melted above 34 C; between them the viscosity falls from 5000 Pa s to the 3 Pa s of melted chocolate.
float melted = smooth(300.15, 307.15, @temperature);
f@viscosity = 3 * pow(5000.0 / 3, 1 - melted);
f@relaxtime = lerp(0.5, 0, melted);"""


def build(parent):
    box = kit.network(parent, "chocolate")
    squares = [kit.add(box, "box", "square%d" % i, size=(0.026, 0.012, 0.026), t=(0.03 * (i % 3 - 1), 0.058, 0.03 * (i // 3) - 0.015))
               for i in range(6)]
    bar = kit.add(box, "merge", "bar", *squares)
    source = kit.add(box, "ooze::source::1.0", "source", bar, emission="once", preset="custom", density=1270, viscosity=5000,
                     relaxtime=0.5, temperature=293.15, particlesep=0.002, rest=1)
    cake = kit.add(box, "tube", "colliders", type="poly", cap=1, rad=(0.06, 0.065), height=0.05, t=(0, 0.025, 0), cols=48)
    loop = kit.add(box, "solver", "sim", source, cake)
    inside = loop.node("d/s")
    before = inside.node("Prev_Frame")
    melt = kit.vex(inside, "melt", MELT, before)
    step = kit.add(inside, "ooze::step::1.0", "step", melt, inside.node("Input_2"), particlesep=0.002, substeps=8, veliterations=20,
                   positerations=10, friction=1, useground=1)
    step.setDisplayFlag(True)
    step.setRenderFlag(True)
    files = "$HIP/geo/chocolate/sim.$F4.bgeo.sc"
    kit.add(box, "rop_geometry", "farm", loop, sopoutput=files, trange="normal", alfprogress=1)
    cache = kit.add(box, "filecache", "cache", loop, filemethod="explicit", file=files, cachesim=1)
    surface = kit.add(box, "ooze::surface::1.0", "surface", cache, output="polygons", method="anisotropic", smoothing=2, velocity=1)
    out = kit.add(box, "null", "OUT", surface)
    out.setDisplayFlag(True)
    out.setRenderFlag(True)
    box.layoutChildren()
    kit.karma(out, "chocolate", (0.16, 0.06, 0.025), roughness=0.25, camera=((0.0, 0.16, 0.26), (-26.0, 0.0, 0.0)))
    return box


if __name__ == "__main__":
    kit.main(build)
