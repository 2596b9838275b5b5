"""Slime is drawn out between two plates: it necks to a thread while the upper one rises, then
breaks. hython ooze_slime.py slime.hip. The same as examples/scenes/slime_stretch.json, which says
what lets it stretch. SPDX-License-Identifier: Apache-2.0"""
import ooze_kit as kit

# The upper plate is pressed down a little, then rises; the names make the plates colliders of their
# own and name the forces: force_upper.
RISE = """float t = @Time;
if (@P.y > 0.06) @P.y += t < 0.1 ? -0.04 * t : -0.004 + 0.0783 * (t - 0.1);"""


def build(parent):
    box = kit.network(parent, "slime")
    lump = kit.add(box, "tube", "lump", type="poly", cap=1, rad=(0.02, 0.02), height=0.05,
                   t=(0, 0.045, 0), cols=48)
    source = kit.add(box, "ooze::source::1.0", "source", lump, emission="once", preset="custom",
                     density=1000, viscosity=300, relaxtime=0.1,
                     particlesep=0.005, jitter=0.1)
    lower = kit.add(box, "tube", "lower", type="poly", cap=1, rad=(0.04, 0.04), height=0.02,
                    t=(0, 0.01, 0), cols=48)
    upper = kit.add(box, "tube", "upper", type="poly", cap=1, rad=(0.04, 0.04), height=0.02,
                    t=(0, 0.08, 0), cols=48)
    plates = kit.add(box, "merge", "plates", kit.vex(box, "lower_name", 's@name = "lower";', lower,
                                                     "primitive"),
                     kit.vex(box, "upper_name", 's@name = "upper";', upper, "primitive"))
    moving = kit.vex(box, "colliders", RISE, plates)
    out = kit.simulate(box, source, moving, 0.005, substeps=16, veliterations=40, positerations=40,
                       friction=1, stick=100000.0,
                       gravity=(0, -2, 0))
    kit.karma(out, "slime", "slime", camera=((0.0, 0.14, 0.42), (-10.0, 0.0, 0.0)))
    return box


if __name__ == "__main__":
    kit.main(build)
