"""Honey pours from a spout onto a plate, folds and coils. hython ooze_honey.py honey.hip.
SPDX-License-Identifier: Apache-2.0"""
import ooze_kit as kit


def build(parent):
    box = kit.network(parent, "honey")
    spout = kit.nozzle(box, "source", "@P = set(0.0025 * sin(9 * @Time), 0.25, 0);",
                       preset="honey", particlesep=0.003, radius=0.01, speed=0.4, disturbance=0.005)
    plate = kit.add(box, "tube", "colliders", type="poly", cap=1, rad=(0.13, 0.11), height=0.012,
                    t=(0, -0.006, 0), cols=48)
    # a pouring stream: 20 and 10 iterations keep it whole
    out = kit.simulate(box, spout, plate, 0.003, substeps=8, veliterations=20, positerations=10,
                       friction=1)
    kit.karma(out, "honey", "honey")
    return box


if __name__ == "__main__":
    kit.main(build)
