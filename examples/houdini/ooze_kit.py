"""What the example networks have in common: source, collider, solver, cache, surface, stage.
SPDX-License-Identifier: Apache-2.0

Every network has the same shape, with these names, so that farm scripts find their way:

    ... -> source (Ooze Source)   -> sim (Ooze Solver) -> cache (File Cache) -> surface (Ooze
    Surface) -> OUT ... -> colliders              -'      `-> farm (ROP Geometry: the same files,
    for hbatch and PDG) /stage: OUT -> material -> camera -> light -> Karma -> render
"""
import sys

import hou


def put(node, **values):
    """Sets parameters by name; tuples by their base name. A name or a menu's word that the node
    does not have is an error that says so. A material preset comes first and is pressed, since it
    fills in numbers that the others may change."""
    for name, value in sorted(values.items(), key=lambda item: item[0] != "preset"):
        if isinstance(value, (tuple, list)):
            tuple_ = node.parmTuple(name)
            if tuple_ is None:
                raise ValueError("%s (%s) has no parameter '%s'"
                                 % (node.path(), node.type().name(), name))
            tuple_.set(value)
            continue
        parm = node.parm(name)
        if parm is None:
            raise ValueError("%s (%s) has no parameter '%s'"
                             % (node.path(), node.type().name(), name))
        # the word of a menu with numbers as values
        if isinstance(value, str) and not isinstance(parm.eval(), str):
            value = parm.menuItems().index(value)
        parm.set(value)
        if name == "preset":
            parm.pressButton()
    return node


def add(parent, kind, name, *inputs, **values):
    node = parent.createNode(kind, name)
    for i, source in enumerate(inputs):
        if source is not None:
            node.setInput(i, source)
    return put(node, **values)


def vex(parent, name, code, source=None, over="point"):
    node = add(parent, "attribwrangle", name, source, snippet=code)
    return put(node, **{"class": over})


def nozzle(parent, name, code="", **values):
    """A point that pours a round stream along its N; `code` is VEX that moves it (@P, @N; @Time is
    in seconds)."""
    point = add(parent, "add", name + "_point", points=1)
    aim = vex(parent, name + "_aim", "v@N = set(0, -1, 0);\n" + code, point)
    return add(parent, "ooze::source::1.0", name, aim, emission="nozzle", **values)


def network(parent, name):
    """A new geometry object, with whatever Houdini puts into one by itself removed."""
    box = parent.createNode("geo", name)
    for child in box.children():
        child.destroy()
    return box


def simulate(box, sources, colliders, separation, **solver):
    """Solver, cache and surface after the sources; returns the surface's last node."""
    sim = add(box, "ooze::solver::1.0", "sim", sources, colliders, particlesep=separation, **solver)
    floor = {name: solver[name] for name in ("useground", "groundheight") if name in solver}
    return output(box, put(sim, startframe=1), colliders, **floor)


def output(box, sim, colliders=None, **surface):
    """Cache and surface of what a simulation gives; colliders are taken out of the surface, so that
    both can be rendered."""
    files = "$HIP/geo/%s/sim.$F4.bgeo.sc" % box.name()
    add(box, "rop_geometry", "farm", sim, sopoutput=files, trange="normal", alfprogress=1)
    cache = add(box, "filecache", "cache", sim, filemethod="explicit", file=files, cachesim=1)
    # v goes along for motion blur; pscale stays with the particles
    skin = add(box, "ooze::surface::1.0", "surface", cache, colliders, output="polygons",
               method="anisotropic", smoothing=2, velocity=1, **surface)
    out = add(box, "null", "OUT", skin)
    out.setDisplayFlag(True)
    out.setRenderFlag(True)
    box.layoutChildren()
    return out


# How the material presets look in Karma: the differences from a plain mtlxstandard_surface.
# Distances of light inside (transmission_depth, subsurface_scale) are in metres, as the fluids are.
MATERIALS = {
    "honey": dict(base_color=(0.9, 0.5, 0.06), specular_roughness=0.05, specular_IOR=1.49,
                  transmission=0.9, transmission_color=(0.95, 0.55, 0.08),
                  transmission_depth=0.02),
    "syrup": dict(base_color=(0.6, 0.22, 0.04), specular_roughness=0.03, specular_IOR=1.48,
                  transmission=0.95, transmission_color=(0.7, 0.28, 0.05),
                  transmission_depth=0.015),
    "caramel": dict(base_color=(0.6, 0.3, 0.08), specular_roughness=0.12, specular_IOR=1.5,
                    transmission=0.3, transmission_color=(0.75, 0.4, 0.1),
                    transmission_depth=0.005, subsurface=0.5, subsurface_color=(0.7, 0.38, 0.12),
                    subsurface_radius=(1.0, 0.5, 0.2), subsurface_scale=0.004),
    "whipped_cream": dict(base_color=(0.95, 0.92, 0.85), specular_roughness=0.5, subsurface=0.8,
                          subsurface_color=(0.97, 0.94, 0.87),
                          subsurface_radius=(1.0, 0.9, 0.75), subsurface_scale=0.006),
    "runny_cream": dict(base_color=(0.95, 0.9, 0.8), specular_roughness=0.2, subsurface=0.8,
                        subsurface_color=(0.97, 0.92, 0.82),
                        subsurface_radius=(1.0, 0.85, 0.65), subsurface_scale=0.006),
    "toothpaste": dict(base_color=(0.6, 0.86, 0.85), specular_roughness=0.25, subsurface=0.5,
                       subsurface_color=(0.65, 0.9, 0.88),
                       subsurface_radius=(0.8, 1.0, 1.0), subsurface_scale=0.003),
    "chocolate": dict(base_color=(0.16, 0.06, 0.025), specular_roughness=0.25, specular_IOR=1.5,
                      subsurface=0.2, subsurface_color=(0.25, 0.1, 0.04),
                      subsurface_radius=(1.0, 0.4, 0.2), subsurface_scale=0.002),
    "slime": dict(base_color=(0.25, 0.75, 0.15), specular_roughness=0.08, specular_IOR=1.4,
                  transmission=0.6, transmission_color=(0.35, 0.85, 0.2),
                  transmission_depth=0.03),
    "dough": dict(base_color=(0.85, 0.72, 0.5), specular_roughness=0.7, subsurface=0.4,
                  subsurface_color=(0.9, 0.78, 0.58),
                  subsurface_radius=(1.0, 0.7, 0.45), subsurface_scale=0.004),
    "ketchup": dict(base_color=(0.5, 0.03, 0.015), specular_roughness=0.15, subsurface=0.35,
                    subsurface_color=(0.65, 0.05, 0.02),
                    subsurface_radius=(1.0, 0.15, 0.08), subsurface_scale=0.003),
    "paint": dict(base_color=(0.12, 0.3, 0.62), specular_roughness=0.3),
    "blood": dict(base_color=(0.28, 0.008, 0.008), specular_roughness=0.05, specular_IOR=1.36,
                  transmission=0.25, transmission_color=(0.5, 0.01, 0.01),
                  transmission_depth=0.002, subsurface=0.2, subsurface_color=(0.5, 0.02, 0.02),
                  subsurface_radius=(1.0, 0.1, 0.1), subsurface_scale=0.002),
    "shampoo": dict(base_color=(0.95, 0.85, 0.6), specular_roughness=0.04, specular_IOR=1.4,
                    transmission=0.85, transmission_color=(0.97, 0.85, 0.55),
                    transmission_depth=0.05),
    "lava": dict(base_color=(0.04, 0.03, 0.03), specular_roughness=0.8, emission=4.0,
                 emission_color=(1.0, 0.22, 0.02)),
    "jelly": dict(base_color=(0.75, 0.05, 0.1), specular_roughness=0.04, specular_IOR=1.36,
                  transmission=0.85, transmission_color=(0.85, 0.08, 0.14),
                  transmission_depth=0.03),
    "water": dict(base_color=(0.9, 0.97, 1.0), specular_roughness=0.0, specular_IOR=1.33,
                  transmission=1.0, transmission_color=(0.85, 0.95, 0.97),
                  transmission_depth=1.0),
}


def karma(out, name, material, camera=((0.0, 0.22, 0.62), (-14.0, 0.0, 0.0))):
    """A stage that Karma renders as it stands: surface with velocity blur, the material of a
    preset, a camera, light, a render node."""
    stage = hou.node("/stage")
    fluid = add(stage, "sopimport", name, soppath=out.path(), primpath="/" + name, pathprefix="/"
                + name)
    library = add(stage, "materiallibrary", name + "_material", fluid, matpathprefix="/materials/")
    shader = library.createNode("mtlxstandard_surface", name)
    put(shader, **MATERIALS[material])
    put(library, materials=1)
    # without assign the path is there and nothing is bound
    put(library, matnode1=name, matpath1=name, assign1=1, geopath1="/" + name)
    view = add(stage, "camera", name + "_camera", library, primpath="/cameras/camera1", t=camera[0],
               r=camera[1], focalLength=35)
    dome = add(stage, "domelight", name + "_sky", view)
    sun = add(stage, "distantlight", name + "_sun", dome, r=(-50.0, 30.0, 0.0))
    # velocity blur, by the primvar itself: names of encoded parameters differ from release to
    # release
    blur = add(stage, "attribwrangle", name + "_blur", sun, primpattern="/%s/**" % name,
               snippet='usd_setprimvar(0, s@primpath, "karma:object:vblur", 1);')
    # 22.0 calls the node karmarendersettings; the older name is deprecated there
    kind = "karmarendersettings" if hou.nodeType(hou.lopNodeTypeCategory(),
                                                 "karmarendersettings") else "karmarenderproperties"
    settings = add(stage, kind, name + "_settings", blur, camera="/cameras/camera1",
                   picture="$HIP/render/%s.$F4.exr" % name)
    if settings.parm("res_mode") is not None:
        put(settings, res_mode="manual")  # else the resolution is that of the camera
    put(settings, resolution=(1280, 720))
    render = add(stage, "usdrender_rop", name + "_render", settings, trange="normal")
    stage.layoutChildren()
    return render


def main(build):
    """hython ooze_honey.py [FILE.hip]: builds the network, and saves the scene where a name is
    given."""
    build(hou.node("/obj"))
    if len(sys.argv) > 1:
        hou.hipFile.save(sys.argv[1])
        print("[ooze] saved %s" % sys.argv[1])
