"""Slime pours onto a plate that slides to and fro: the stream stretches, folds and springs. hython ooze_slime.py slime.hip.
SPDX-License-Identifier: Apache-2.0"""
import ooze_kit as kit


def build(parent):
    box = kit.network(parent, "slime")
    tap = kit.nozzle(box, "source", "@P = set(0, 0.13, 0);", preset="slime", particlesep=0.003, radius=0.012, speed=0.5, disturbance=0.003)
    plate = kit.add(box, "box", "plate", size=(0.2, 0.01, 0.14), t=(0, -0.005, 0))
    # A collider that moves. Its primitives' name makes it one of its own beside others, and names the forces on it: force_plate.
    moving = kit.vex(box, "plate_moves", "@P.x += 0.04 * sin(3 * @Time);", plate)
    named = kit.vex(box, "colliders", 's@name = "plate";', moving, "primitive")
    out = kit.simulate(box, tap, named, 0.003, substeps=8, veliterations=20, positerations=20, friction=1, stick=20.0)
    kit.karma(out, "slime", (0.25, 0.75, 0.15), roughness=0.1, transmission=0.4, camera=((0.0, 0.14, 0.42), (-14.0, 0.0, 0.0)))
    return box


if __name__ == "__main__":
    kit.main(build)
