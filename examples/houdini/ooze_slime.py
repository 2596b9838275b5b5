"""Slime is stretched between two plates until it hangs in threads, and springs back. hython ooze_slime.py slime.hip.
SPDX-License-Identifier: Apache-2.0"""
import ooze_kit as kit


def build(parent):
    box = kit.network(parent, "slime")
    block = kit.add(box, "box", "block", size=(0.06, 0.05, 0.06), t=(0, 0.03, 0))
    source = kit.add(box, "ooze::source::1.0", "source", block, emission="once", preset="slime", particlesep=0.003, jitter=0.1)
    low = kit.add(box, "box", "lower", size=(0.1, 0.01, 0.1), t=(0, 0, 0))
    high = kit.add(box, "box", "upper", size=(0.1, 0.01, 0.1), t=(0, 0.06, 0))
    # Up by 12 cm in 2 s, a second of rest, half-way back. The primitives' name makes each plate a collider of its own.
    moving = kit.vex(box, "upper_moves", "@P.y += 0.12 * smooth(0.3, 2.3, @Time) - 0.06 * smooth(3.3, 4.3, @Time);", high)
    upper = kit.vex(box, "upper_name", 's@name = "upper";', moving, "primitive")
    lower = kit.vex(box, "lower_name", 's@name = "lower";', low, "primitive")
    plates = kit.add(box, "merge", "colliders", lower, upper)
    out = kit.simulate(box, source, plates, 0.003, substeps=8, veliterations=20, positerations=20, friction=1, stick=100.0)
    kit.karma(out, "slime", (0.25, 0.75, 0.15), roughness=0.1, transmission=0.4, camera=((0.0, 0.12, 0.42), (-8.0, 0.0, 0.0)))
    return box


if __name__ == "__main__":
    kit.main(build)
