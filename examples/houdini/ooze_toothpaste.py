"""Toothpaste is squeezed along a brush and keeps its shape. hython ooze_toothpaste.py
toothpaste.hip. SPDX-License-Identifier: Apache-2.0"""
import ooze_kit as kit


def build(parent):
    box = kit.network(parent, "toothpaste")
    # The nozzle goes along the brush in 2.3 s, as fast as the paste comes out, then lifts off. At
    # this size the preset's short memory makes the rope crumble; viscosity alone holds it for
    # seconds.
    tube = kit.nozzle(box, "source", """float t = clamp(@Time / 2.3, 0, 1);
@P = set(lerp(-0.013, 0.013, t), 0.0132 + 0.04 * max(0, @Time - 2.3), 0);
i@active = @Time < 2.3;""", preset="custom", density=1300, viscosity=300, relaxtime=0,
                      particlesep=0.0009, radius=0.003, speed=0.0115)
    handle = kit.add(box, "box", "brush", size=(0.036, 0.006, 0.012), t=(0, -0.003, 0))
    bristles = kit.add(box, "box", "bristles", size=(0.03, 0.008, 0.01), t=(0, 0.004, 0))
    brush = kit.add(box, "merge", "colliders", handle, bristles)
    # stick holds the rope's end when the nozzle lifts off
    out = kit.simulate(box, tube, brush, 0.0009, substeps=8, veliterations=20, positerations=20,
                       friction=1, stick=5.0)
    kit.karma(out, "toothpaste", "toothpaste", camera=((0.0, 0.04, 0.1), (-16.0, 0.0, 0.0)))
    return box


if __name__ == "__main__":
    kit.main(build)
