"""Scenes of the look-book: every preset in every situation, and every knob in five values.
SPDX-License-Identifier: Apache-2.0

A scene names the preset and nothing else of the material, and no setting of the solver but the
separation: what is seen is what a first scene of an artist shows. 1,500 to 5,000 particles each.
"""
SITUATIONS = ("thick", "thin", "spoon", "bust", "plates")
FPS = 24


def scene(material, separation, seconds, shown, bounds, elevation=14, azimuth=25, zoom=1.15,
          **parts):
    """`material` is a preset's name, or a dictionary of values."""
    values = {"preset": material} if isinstance(material, str) else dict(material)
    frames = 1 + round(seconds * FPS)
    return dict(
        solver={"particle_separation": separation},
        materials={"stuff": values},
        output={"frames": [1, frames], "fps": FPS, "points": "bgeo.sc"},
        picture={"bounds": bounds, "elevation": elevation, "azimuth": azimuth, "zoom": zoom,
                 "size": [320, 240], "samples": 4,
                 "frames": sorted({min(frames, 1 + round(t * FPS)) for t in shown})},
        **parts)


def stream(material, separation, name, width, height, **nozzle):
    """On a plate, from a nozzle so high; `width` is half of what is seen."""
    return scene(material, separation, 2.0, (0.5, 1.0, 2.0),
                 [-width, 0, -width, width, height, width],
                 emitters={name: dict(material="stuff", position=[0, height, 0], **nozzle)},
                 colliders={"plate": {"shape": "plane"}})


def thick(material):
    """A stream of four separations in radius, on a plate."""
    return stream(material, 0.004, "jug", 0.09, 0.13, radius=0.016, speed=0.3, max_particles=4500)


def thin(material):
    """A stream of two separations and a half in radius, from higher up."""
    return stream(material, 0.002, "spout", 0.05, 0.14, radius=0.005, speed=0.25,
                  max_particles=4000)


def spoon(material):
    """A heaped spoonful, tipped over in a second."""
    return scene(material, 0.0015, 2.5, (0.7, 1.4, 2.5), [-0.05, 0, -0.03, 0.045, 0.1, 0.03],
                 azimuth=10,
                 fluids={"spoonful": {"material": "stuff", "shape": "mesh", "file": "spoonful.obj",
                                      "position": [0, 0.075, 0]}},
                 colliders={"spoon": {"shape": "mesh", "file": "spoon.obj",
                                      "position": [0, 0.075, 0], "voxel": 0.001,
                                      "rotate": {"keys": [[0.2, [0, 0, 0]], [1.2, [0, 0, 70]]],
                                                 "interpolation": "smooth"}},
                            "plate": {"shape": "plane"}})


def bust(material):
    """Poured on a head for a second; it runs down for another and a half."""
    return scene(material, 0.004, 2.5, (0.7, 1.3, 2.5), [-0.1, 0, -0.08, 0.1, 0.24, 0.08],
                 emitters={"jug": {"material": "stuff", "radius": 0.014, "speed": 0.35,
                                   "position": [0, 0.25, 0.005],
                                   "max_particles": 3400}},
                 colliders={"bust": {"shape": "mesh", "file": "bust.obj"},
                            "plate": {"shape": "plane"}})


def plates(material):
    """A column between two plates that hold on to it, pressed a little, then drawn to three and a
    half times its height."""
    return scene(material, 0.002, 1.25, (0.3, 0.6, 1.25), [-0.045, 0, -0.045, 0.045, 0.09, 0.045],
                 elevation=8,
                 fluids={"column": {"material": "stuff", "shape": "cylinder", "radius": 0.016,
                                    "height": 0.024,
                                    "position": [0, 0.017, 0]}},
                 colliders={"lower": {"shape": "cylinder", "radius": 0.03, "height": 0.01,
                                      "stick": 1000},
                            "upper": {"shape": "cylinder", "radius": 0.03, "height": 0.01,
                                      "stick": 1000,
                                      "position": {"keys": [[0, [0, 0.034, 0]],
                                          [0.1, [0, 0.033, 0]], [0.7, [0, 0.093, 0]]]}}})


PLATES_HEIGHT = 0.024  # m, of the column at first
PLATES_RATE = 0.1 / PLATES_HEIGHT  # 1/s, at first


def collapse(material):
    """A cylinder that sinks into itself."""
    return scene(material, 0.004, 1.5, (0.25, 1.5), [-0.08, 0, -0.08, 0.08, 0.08, 0.08],
                 fluids={"cylinder": {"material": "stuff", "shape": "cylinder", "radius": 0.03,
                                      "height": 0.08,
                                      "position": [0, 0.04, 0]}},
                 colliders={"plate": {"shape": "plane"}})


DISCS = (1, 2, 4, 8, 16)  # layers


def hang(material, stick):
    """Discs of one to sixteen layers under a sticky ceiling: one of n layers wants n times gravity.
    """
    d, apart, ceiling = 0.002, 0.024, 0.06
    discs = {"disc%d" % n: {"material": "stuff", "shape": "cylinder", "radius": 0.009,
                            "height": n * d,
                            "position": [apart * (k - 2), ceiling - 0.5 * n * d, 0]}
             for k, n in enumerate(DISCS)}
    return scene(material, d, 0.5, (0.25, 0.5), [-0.07, 0, -0.02, 0.07, 0.065, 0.02],
                 elevation=0, azimuth=0, fluids=discs,
                 colliders={"ceiling": {"shape": "box", "size": [0.14, 0.006, 0.03],
                                        "position": [0, ceiling + 0.003, 0], "stick": stick},
                            "plate": {"shape": "plane"}})


def dip(material, stick):
    """A ball that is drawn out of a bath in half a second."""
    side = 0.06
    return scene(material, 0.003, 1.0, (0.5, 1.0), [-0.04, 0, -0.04, 0.04, 0.115, 0.04],
                 elevation=8,
                 fluids={"bath": {"material": "stuff", "shape": "box", "size": [side, 0.03, side],
                                  "position": [0, 0.015, 0]}},
                 colliders={"tank": {"shape": "box", "invert": True, "size": [side, 0.5, side],
                                     "position": [0, 0.25, 0], "hidden": True},
                            "ball": {"shape": "sphere", "radius": 0.012, "stick": stick,
                                     "position": {"keys": [[0.15, [0, 0.022, 0]],
                                                           [0.65, [0, 0.1, 0]]]}}})


def droplet(material):
    """A cube of 12 mm that tension rounds."""
    return scene(material, 0.001, 0.75, (0.1, 0.75), [-0.015, 0, -0.015, 0.015, 0.013, 0.015],
                 fluids={"cube": {"material": "stuff", "shape": "box",
                                  "size": [0.012, 0.012, 0.012],
                                  "position": [0, 0.006, 0]}},
                 colliders={"plate": {"shape": "plane", "friction": 0}})


PLAIN = {"density": 1000, "colour": [0.85, 0.55, 0.2], "gloss": 0.6}

# The setting of each value: name, unit, values, scene of one value.
KNOBS = {
    "viscosity": ("Pa s", (1, 10, 100, 1000, 5000), lambda v: collapse(dict(PLAIN, viscosity=v))),
    "relaxation_time": ("s", (0, 0.05, 0.5, 2, 5),
                        lambda v: collapse(dict(PLAIN, viscosity=100, relaxation_time=v))),
    "yield_stress": ("Pa", (0, 20, 50, 100, 200),
                     lambda v: collapse(dict(PLAIN, viscosity=30, yield_stress=v))),
    "stick": ("m/s^2", (0, 5, 12, 50, 200), lambda v: hang("jelly", v)),
    "stick_coat": ("m/s^2", (0, 5, 12, 50, 200), lambda v: dip("syrup", v)),
    "surface_tension": ("N/m", (0, 0.02, 0.05, 0.2, 0.5),
                        lambda v: droplet(dict(PLAIN, viscosity=2, surface_tension=v))),
}


def of(situation, preset):
    return globals()[situation](preset)


def one_piece(situation, preset):
    """Whether one would see one piece at the end. `preset` is its row of `ooze schema presets
    --json`."""
    if preset["viscosity"] < 1 and not preset["compliance"]:
        return False  # water and blood splash
    if situation in ("thick", "thin"):
        return True
    # a column whose own weight draws it faster than the plates do may run off the upper one
    if situation == "plates":
        rate = preset["thinning_time"] * PLATES_RATE
        thinned = (1 + rate ** 2) ** (0.5 * (preset["flow_index"] - 1))
        stress = 3 * preset["viscosity"] * thinned * PLATES_RATE + preset["yield_stress"]
        return bool(preset["compliance"]) or stress > preset["density"] * 9.81 * PLATES_HEIGHT
    return False  # it may be in two: on the spoon or bust, and below
