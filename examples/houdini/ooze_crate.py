"""A crate falls into syrup, sinks in, turns and floats: a rigid body of Bullet, driven by the
forces and torques of the fluid. hython ooze_crate.py crate.hip. SPDX-License-Identifier: Apache-2.0

Both simulations are in one DOP network, so that each step sees where the other one is: the crate is
a collider of Gas Ooze (Collide with Affectors), and a SOP Solver before Bullet gives it `force` and
`torque` by its name, with Ooze Loads. No wrangle is written."""
import ooze_kit as kit


def tank(box):
    """A bowl that holds the fluid in: a box whose outside is solid."""
    walls = kit.add(box, "box", "walls", size=(0.3, 0.5, 0.3), t=(0, 0.25, 0))
    return kit.put(kit.add(box, "ooze::collider::1.0", "colliders", walls, invert=1, friction=0.2,
                           particlesep=0.006), name="tank")


def dynamics(box, source, walls, crate):
    net = kit.add(box, "dopnet", "dynamics")
    # the fluid: an object with the particles, the tank's walls, and the microsolver
    fluid = kit.add(net, "emptyobject", "fluid")
    particles = kit.add(net, "sopgeo", "particles", fluid, soppath=source.path(),
                        dataname="Geometry")
    held = kit.add(net, "sopgeo", "tank", particles, soppath=walls.path(),
                   dataname="ColliderGeometry")
    flow = kit.add(net, "multisolver", "flow", held)
    flow.setInput(1, kit.add(net, "gasooze", "ooze", particlesep=0.006, substeps=8,
                             veliterations=12, positerations=8, gravity=(0, -9.81, 0)))
    # the crate: loads, then Bullet
    rigid = kit.add(net, "rbdpackedobject", "crate", soppath=crate.path())
    loads = kit.add(net, "sopsolver", "loads")
    syrup = kit.add(loads, "dopimport", "syrup", doppath=net.path(), objpattern="fluid")
    driven = kit.add(loads, "ooze::loads::1.0", "driven", syrup, loads.node("dop_geometry"))
    driven.setDisplayFlag(True)
    driven.setRenderFlag(True)
    both = kit.add(net, "multisolver", "rigid", rigid)
    both.setInput(1, loads)
    both.setInput(2, kit.add(net, "bulletrbdsolver", "bullet"))
    weight = kit.add(net, "gravity", "weight", both)
    # all affect each other; the merge makes the relationships
    everything = kit.add(net, "merge", "everything", flow, weight)
    everything.setDisplayFlag(True)  # DOPs simulate up to it
    net.layoutChildren()
    return net


def build(parent):
    box = kit.network(parent, "crate")
    pool = kit.add(box, "box", "pool", size=(0.28, 0.14, 0.28), t=(0, 0.08, 0))
    source = kit.add(box, "ooze::source::1.0", "source", pool, emission="once", preset="syrup",
                     particlesep=0.006)
    wood = kit.add(box, "box", "wood", size=(0.09, 0.09, 0.09), t=(0.02, 0.32, 0))
    packed = kit.add(box, "pack", "packed", wood)
    crate = kit.put(kit.add(box, "ooze::collider::1.0", "named", packed, particlesep=0.006),
                    name="crate")
    walls = tank(box)
    net = dynamics(box, source, walls, crate)
    sim = kit.add(box, "dopimport", "sim", doppath=net.path(), objpattern="fluid")
    kit.add(box, "dopimport", "pieces", doppath=net.path(), objpattern="crate")
    out = kit.output(box, sim)
    kit.karma(out, "crate", "syrup", camera=((0.0, 0.32, 0.62), (-22.0, 0.0, 0.0)))
    return box


if __name__ == "__main__":
    kit.main(build)
