"""Whipped cream is piped onto a waffle in a spiral. hython ooze_cream.py cream.hip.
SPDX-License-Identifier: Apache-2.0"""
import ooze_kit as kit


def waffle(box):
    parts = [kit.add(box, "box", "base", size=(0.15, 0.012, 0.15), t=(0, 0.006, 0))]
    for i in range(5):
        at = (i - 2) * 0.0355
        parts.append(kit.add(box, "box", "bar_x%d" % i, size=(0.15, 0.014, 0.007),
                             t=(0, 0.015, at)))
        parts.append(kit.add(box, "box", "bar_z%d" % i, size=(0.007, 0.014, 0.15),
                             t=(at, 0.015, 0)))
    return kit.add(box, "merge", "colliders", *parts)


def build(parent):
    box = kit.network(parent, "cream")
    # three turns inwards while the nozzle rises, then off
    bag = kit.nozzle(box, "source", """float t = clamp(@Time / 3, 0, 1), r = 0.045 * (1 - t);
@P = set(r * cos(18.85 * t), 0.05 + 0.03 * t, r * sin(18.85 * t));
i@active = @Time < 3;""", preset="whipped_cream", particlesep=0.003, radius=0.011, speed=0.14)
    out = kit.simulate(box, bag, waffle(box), 0.003, substeps=8, veliterations=20, positerations=20,
                       friction=1, useground=1)
    kit.karma(out, "cream", "whipped_cream", camera=((0.0, 0.2, 0.36), (-24.0, 0.0, 0.0)))
    return box


if __name__ == "__main__":
    kit.main(build)
