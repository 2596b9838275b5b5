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


def collapse(material, separation=0.004, seconds=1.5):
    """A cylinder that sinks into itself."""
    return scene(material, separation, seconds, (0.25, seconds),
                 [-0.08, 0, -0.08, 0.08, 0.08, 0.08],
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


def hot(material):
    """A cube of 12 mm that keeps its form, on a plate of 373 K."""
    values = dict(SOLID, conductivity=5, heat_capacity=2000)
    values.update(material)
    return warmed(values, {"temperature": 373.15, "contact": 2e4})


def cooled(material):
    """A cube of 12 mm at 1400 K that keeps its form, in the air."""
    values = dict(SOLID, density=2700, temperature=1400, conductivity=20, heat_capacity=1100)
    values.update(material)
    return warmed(values, {"contact": 0})


def warmed(values, plate):
    warm = scene(values, 0.001, 0.5, (0.25, 0.5), [-0.012, 0, -0.012, 0.012, 0.016, 0.012],
                 fluids={"cube": {"material": "stuff", "shape": "box",
                                  "size": [0.012, 0.012, 0.012], "position": [0, 0.006, 0]}},
                 colliders={"plate": dict(plate, shape="plane")})
    warm["picture"]["colour_by"] = "temperature"
    warm["picture"]["range"] = [293.15, max(values.get("temperature", 0), 373.15)]
    return warm


def layers(mixing):
    """A light fluid on a heavy one, both thick, that diffuse into each other."""
    fluids = {name: {"viscosity": 20, "density": density, "mixing": mixing, "colour": colour}
              for name, density, colour in (("heavy", 1400, [0.5, 0.2, 0.05]),
                                            ("light", 1000, [0.9, 0.8, 0.5]))}
    mixed = scene(fluids["heavy"], 0.002, 1.5, (0.25, 1.5),
                  [-0.014, 0, -0.014, 0.014, 0.026, 0.014],
                  fluids={name: {"material": name, "shape": "box", "size": [0.024, 0.012, 0.024],
                                 "position": [0, y, 0]}
                          for name, y in (("heavy", 0.006), ("light", 0.018))},
                  colliders={"tank": {"shape": "box", "invert": True, "hidden": True,
                                      "size": [0.024, 0.2, 0.024], "position": [0, 0.1, 0]}})
    mixed["materials"] = fluids
    return mixed


def slope(friction):
    """A block of jelly on a plane that falls by 20 degrees."""
    tilt = [0, 0, -20]
    return scene("jelly", 0.004, 0.4, (0.2, 0.4), [-0.06, -0.11, -0.05, 0.3, 0.05, 0.05],
                 elevation=8, azimuth=0,
                 fluids={"block": {"material": "stuff", "shape": "box", "size": [0.08, 0.04, 0.06],
                                   "position": [0.007, 0.019, 0], "rotate": tilt}},
                 colliders={"slope": {"shape": "plane", "rotate": tilt, "friction": friction}})


def with_solver(made, **values):
    made["solver"].update(values)
    return made


PLAIN = {"density": 1000, "colour": [0.85, 0.55, 0.2], "gloss": 0.6}
SOLID = dict(PLAIN, viscosity=0, compliance=1e-3, relaxation_time=1e6)
MELTS = dict(melting_point=310, latent_heat=2e4)


def flows(**values):
    return collapse(dict(PLAIN, **values))


def slump(**values):
    return collapse(dict(PLAIN, **values), 0.005, 1.0)


def thins(**values):
    return slump(**dict(dict(viscosity=300, thinning_time=10, flow_index=0.2), **values))


# The setting of each value: unit, values, scene of one value, the measure that tells it, and 1
# where that grows with the value or -1 where it falls.
KNOBS = {
    "density": ("kg/m^3", (250, 500, 1000, 2000, 4000),
                lambda v: slump(viscosity=100, density=v), "top", -1),
    "viscosity": ("Pa s", (1, 10, 100, 1000, 5000), lambda v: flows(viscosity=v), "top", 1),
    "relaxation_time": ("s", (0, 0.05, 0.5, 2, 5),
                        lambda v: flows(viscosity=100, relaxation_time=v), "top", -1),
    "compliance": ("1/Pa", (1e-5, 1e-4, 3e-4, 1e-3, 3e-3),
                   lambda v: slump(compliance=v, relaxation_time=1e6, solvent_viscosity=10),
                   "top", -1),
    "temperature": ("K", (293, 303, 308, 313, 333),
                    lambda v: collapse({"preset": "chocolate", "temperature": v}, 0.005, 1.0),
                    "top", -1),
    "yield_stress": ("Pa", (0, 20, 50, 100, 200),
                     lambda v: flows(viscosity=30, yield_stress=v), "top", 1),
    "consistency": ("Pa s^n", (3, 10, 30, 100, 300),
                    lambda v: slump(viscosity=5000, consistency=v, flow_index=0.5), "top", 1),
    "flow_index": ("", (0.2, 0.4, 0.6, 0.8, 1), lambda v: thins(flow_index=v), "top", 1),
    "thinning_time": ("s", (0, 0.1, 1, 10, 100),
                      lambda v: thins(thinning_time=v, flow_index=0.5), "top", -1),
    "thinning_sharpness": ("", (0.5, 1, 2, 4, 8),
                           lambda v: thins(thinning_time=0.5, thinning_sharpness=v), "top", 1),
    "thinned_viscosity": ("Pa s", (0, 10, 30, 100, 200),
                          lambda v: thins(thinned_viscosity=v), "top", 1),
    "solvent_viscosity": ("Pa s", (0, 10, 30, 100, 300),
                          lambda v: slump(viscosity=10, relaxation_time=0.5, solvent_viscosity=v),
                          "top", 1),
    "extensibility": ("", (2, 2.5, 3, 4, 6),
                      lambda v: slump(compliance=0.03, relaxation_time=1e6, solvent_viscosity=20,
                                      extensibility=v), "top", -1),
    "second_viscosity": ("Pa s", (0, 10, 30, 100, 300),
                         lambda v: slump(viscosity=10, relaxation_time=0.5, second_viscosity=v,
                                         second_relaxation_time=0.05), "top", 1),
    "second_relaxation_time": ("s", (0.01, 0.1, 0.5, 2, 5),
                               lambda v: slump(viscosity=10, relaxation_time=0.01,
                                               second_viscosity=300, second_relaxation_time=v),
                               "top", -1),
    "mixing": ("m^2/s", (0, 1e-6, 5e-6, 2e-5, 1e-4), layers, "parted", -1),
    "surface_tension": ("N/m", (0, 0.02, 0.05, 0.2, 0.5),
                        lambda v: droplet(dict(PLAIN, viscosity=2, surface_tension=v)), "top", 1),
    "cohesion": ("Pa", (0, 70, 200, 700, 1800),
                 lambda v: droplet(dict(PLAIN, viscosity=2, cohesion=v)), "top", 1),
    "adhesion": ("", (0, 0.5, 1, 1.5, 2),
                 lambda v: droplet(dict(PLAIN, viscosity=0.5, surface_tension=0.2, adhesion=v)),
                 "r95", 1),
    "conductivity": ("W/(m K)", (0, 0.5, 2, 10, 50), lambda v: hot({"conductivity": v}),
                     "warmed", 1),
    "heat_capacity": ("J/(kg K)", (500, 1000, 2000, 4000, 8000),
                      lambda v: hot({"heat_capacity": v}), "warmed", -1),
    "latent_heat": ("J/kg", (0, 2e4, 5e4, 1e5, 3e5),
                    lambda v: hot(dict(MELTS, latent_heat=v)), "molten", -1),
    "melting_point": ("K", (300, 305, 310, 320, 340),
                      lambda v: hot(dict(MELTS, melting_point=v)), "molten", -1),
    "film_coefficient": ("W/(m^2 K)", (0, 30, 100, 300, 1000),
                         lambda v: cooled({"film_coefficient": v}), "warmed", -1),
    "emissivity": ("", (0, 0.2, 0.4, 0.7, 1), lambda v: cooled({"emissivity": v}), "warmed", -1),
    "ramp": ("Pa s", (3, 30, 300, 3000, 30000),
             lambda v: slump(temperature=300, ramp_1=[280, v, 0], ramp_2=[320, 3, 0]), "top", 1),
    "friction": ("", (0, 0.1, 0.2, 0.3, 1), slope, "forward", -1),
    "stick": ("m/s^2", (0, 5, 12, 50, 200), lambda v: hang("jelly", v), "hanging", 1),
    "stick_coat": ("m/s^2", (0, 5, 12, 50, 200), lambda v: dip("syrup", v), "coat", 1),
    "links_beta": ("", (1.0005, 1.001, 1.002, 1.005, 1.02),
                   lambda v: with_solver(slump(links_beta=v), model="links"), "top", -1),
    "particle_separation": ("m", (0.0053, 0.005, 0.0045, 0.004, 0.0037),
                            lambda v: with_solver(slump(viscosity=100), particle_separation=v),
                            "top", 0),
    "substeps": ("", (2, 4, 8, 16, 32),
                 lambda v: with_solver(slump(viscosity=100), substeps=v), "top", 0),
}


def of(situation, preset):
    return globals()[situation](preset)


def pieces_seen(situation, preset):
    """In how many pieces one would see it early and at the end; 0: in any number. `preset` is its
    row of `ooze schema presets --json`."""
    if preset["viscosity"] < 1 and not preset["compliance"]:
        return 0, 0  # water and blood splash
    if situation == "spoon":
        return 1, 2  # at the end one may be in the spoon and one on the plate
    # a column whose own weight draws it faster than the plates do may run off the upper one
    if situation == "plates":
        rate = preset["thinning_time"] * PLATES_RATE
        thinned = (1 + rate ** 2) ** (0.5 * (preset["flow_index"] - 1))
        stress = 3 * preset["viscosity"] * thinned * PLATES_RATE + preset["yield_stress"]
        held = preset["compliance"] or stress > preset["density"] * 9.81 * PLATES_HEIGHT
        return (1, 1) if held else (0, 0)
    if situation == "bust" and preset["compliance"]:
        return 1, 0  # a solid rod breaks over a head
    return 1, 1  # a pour; a coat on the bust, and the puddle that it feeds
