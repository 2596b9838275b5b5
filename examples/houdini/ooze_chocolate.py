"""A bar of chocolate melts over a warm cake. hython ooze_chocolate.py chocolate.hip.
SPDX-License-Identifier: Apache-2.0

The cake warms what lies on it (the solver's Collider Temperature), heat spreads through the bar
(Conductivity), and the ramp of the material makes it run: 5000 Pa s below 27 C, 12 Pa s, that of
thick couverture, from 35 C; there is enough of it to run over the edge, where the cake holds on to
it (Stick). Chocolate conducts 0.2 W/(m K); here it is 100, a time lapse of minutes in four seconds.
Beside it stands the same by hand, to show Ooze Step: a Solver SOP whose wrangle warms particles."""
import ooze_kit as kit

MELT = """// Warm what touches the cake (its top is at y = 0.05), cool the rest; seconds to follow:
// 1.5 and 20.
float near = 1 - smooth(0.05, 0.062, @P.y);
f@temperature += (lerp(293.15, 318.15, near) - @temperature) * @TimeInc / lerp(20, 1.5, near);"""


def build(parent):
    box = kit.network(parent, "chocolate")
    squares = [kit.add(box, "box", "square%d" % i, size=(0.027, 0.02, 0.028),
                       t=(0.028 * (i % 3 - 1), 0.061, 0.029 * (i // 3) - 0.0145))
               for i in range(6)]
    bar = kit.add(box, "merge", "bar", *squares)
    source = kit.add(box, "ooze::source::1.0", "source", bar, emission="once", preset="custom",
                     density=1270, viscosity=5000,
                     relaxtime=0.5, temperature=293.15, conductivity=100.0, heatcapacity=1600.0,
                     ramp1=(293, 5000, 0.5), ramp2=(300, 5000, 0.5),
                     ramp3=(308, 12, 0.001), particlesep=0.002, rest=1)
    cake = kit.add(box, "tube", "colliders", type="poly", cap=1, rad=(0.05, 0.05), height=0.05,
                   t=(0, 0.025, 0), cols=48)
    out = kit.simulate(box, source, cake, 0.002, substeps=6, veliterations=15, positerations=8,
                       friction=1, stick=8, collidertemperature=335.0, useground=1)
    by_hand(box, source, cake)
    kit.karma(out, "chocolate", "chocolate", camera=((0.0, 0.16, 0.26), (-26.0, 0.0, 0.0)))
    return box


def by_hand(box, source, cake):
    """Ooze Step in a Solver SOP: all state is in the attributes, so anything may be changed between
    two frames."""
    loop = kit.add(box, "solver", "by_hand", source, cake)
    inside = loop.node("d/s")
    melt = kit.vex(inside, "melt", MELT, inside.node("Prev_Frame"))
    step = kit.add(inside, "ooze::step::1.0", "step", melt, inside.node("Input_2"),
                   particlesep=0.002, substeps=6, veliterations=15,
                   positerations=8, friction=1, stick=8, useground=1)
    step.setDisplayFlag(True)
    step.setRenderFlag(True)


if __name__ == "__main__":
    kit.main(build)
