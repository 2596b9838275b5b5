"""Ooze from Python: the C interface through ctypes, arrays as numpy views.

    import ooze
    scene = ooze.Scene("honey.json")
    solver = scene.solver()
    scene.step(solver)            # a frame, with the scene's keyframes and emitters
    mesh = solver.points().surface().mesh()
    mesh.P, mesh["Cd"]            # numpy views of the library's own memory

Units are metres, kilograms, seconds, kelvins; Y is up. A view keeps the object alive that owns its
memory. Failures raise ooze.Error with the library's sentence. SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import json
import os
import warnings

import numpy as np

from . import _abi

__all__ = ["Error", "Scene", "Solver", "Capture", "Points", "Surface", "Mesh", "preset", "presets",
           "run", "version"]


class Error(RuntimeError):
    """A refusal of the library; `result` is its number (ooze_result)."""

    def __init__(self, result, text):
        super().__init__(text or "result %d" % result)
        self.result = result


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("OOZE_LIBRARY"), os.path.join(here, "libooze_full.so")]
    for path in filter(None, places):
        if os.path.exists(path):
            lib = ctypes.CDLL(path)
            break
    else:
        raise ImportError("ooze: no libooze_full.so beside the module; set OOZE_LIBRARY to one")
    for name, result, arguments in _abi.FUNCTIONS:
        try:
            function = getattr(lib, name)
        except AttributeError:  # an optional part that this build lacks
            continue
        function.restype, function.argtypes = result, arguments
    return lib


_lib = _load()


def _default(name, **values):
    """A struct as its _default() fills it, then the values given."""
    struct = getattr(_abi, name)()
    if struct._fields_[0][0] == "size":
        struct.size = ctypes.sizeof(struct)
    for field, value in _abi.DEFAULTS.get(name, []):
        if isinstance(value, str):
            setattr(struct, field, _default(value))
        elif "[" in field:
            array, index = field[:-1].split("[")
            getattr(struct, array)[int(index)] = value
        elif value is not None:
            setattr(struct, field, value)
    if name == "ooze_pose":
        struct.rotation[3] = 1.0
    for field, value in values.items():
        _set(struct, name, field, value)
    return struct


def _set(struct, name, field, value):
    field = field.rstrip("_")  # from_: a field whose name is a word of Python (PEP 8)
    if not any(f[0] == field for f in struct._fields_):
        raise Error(-3, "%s has no field %s" % (name, field))
    kept = getattr(struct, field)
    array = isinstance(kept, ctypes.Array)
    try:
        if array:
            if len(value) != len(kept):
                raise ValueError
            kept[:] = [float(v) for v in value] if kept._type_ is ctypes.c_float else list(value)
        elif isinstance(kept, _abi.ooze_pose):
            setattr(struct, field, _pose(value))
        else:
            setattr(struct, field, value.encode() if isinstance(value, str) else value)
    except (TypeError, ValueError, IndexError) as e:
        fits = "%d numbers" % len(kept) if array else "a position, or one with a rotation" \
            if isinstance(kept, _abi.ooze_pose) else "a number" \
            if isinstance(kept, (int, float)) else "a text"
        raise Error(-3, "%s of %s is %r; expected %s" % (field, name, value, fits)) from e


def _pose(value, turned=None):
    """Of a position, or of a pair (position, quaternion x y z w); `turned` gives the rotation that
    the former has."""
    pose = _default("ooze_pose")
    position, rotation = (value, turned and turned.rotation) if np.ndim(value[0]) == 0 else value
    pose.position[:] = [float(v) for v in position]
    if rotation is not None:
        pose.rotation[:] = [float(v) for v in rotation]
    return pose


def _menu(group, name, word):
    """The number of a menu's word, as the schema lists it."""
    if not isinstance(word, str):
        return word
    entry = _default("ooze_schema_entry")
    for i in range(_lib.ooze_schema_count()):
        _lib.ooze_schema_get(i, ctypes.byref(entry))
        if entry.group == group.encode() and entry.name == name.encode():
            words = entry.menu.decode().split("|")
            if word in words:
                return words.index(word)
            raise Error(-3, "%s: there is no %s; expected one of %s"
                        % (name, word, ", ".join(words)))
    return word


def _check(result, why=None):
    if result < 0:
        raise Error(result, why.text.decode() if why is not None else "")
    return result


def _view(address, kind, shape, owner):
    """A numpy array over memory of the library; `owner` lives as long as it does."""
    count = int(np.prod(shape))
    if not count or not address:
        return np.zeros(shape, kind)
    size = count * np.dtype(kind).itemsize
    buffer = (ctypes.c_char * size).from_address(address)
    buffer._owner = owner
    return np.frombuffer(buffer, kind).reshape(shape)


_KINDS = {_abi.OOZE_FLOAT32: np.float32, _abi.OOZE_FLOAT64: np.float64, _abi.OOZE_INT32: np.int32,
          _abi.OOZE_INT64: np.int64, _abi.OOZE_UINT64: np.uint64}


def version():
    return _lib.ooze_version_text().decode()


def preset(name):
    """The ooze_material of a preset, by name."""
    found = _default("ooze_preset")
    if _lib.ooze_preset_find(name.encode(), ctypes.byref(found)) < 0:
        raise Error(-3, "there is no preset %s; expected one of %s" % (name, ", ".join(presets())))
    return found.material


def presets():
    found, names = _default("ooze_preset"), []
    for i in range(_lib.ooze_preset_count()):
        _lib.ooze_preset_get(i, ctypes.byref(found))
        names.append(found.name.decode())
    return names


class _Owner:
    """An object of the library, given back when the last reference goes."""
    _destroy = None

    def __init__(self, handle):
        self._handle = handle

    def __del__(self):
        if getattr(self, "_handle", None) and self._destroy:
            getattr(_lib, self._destroy)(self._handle)
            self._handle = None


class Points(_Owner):
    """Points with named attributes: points["P"] is a view, points["mass"] = array adds one."""
    _destroy = "ooze_points_destroy"

    @classmethod
    def read(cls, path):
        out, why = ctypes.c_void_p(), _abi.ooze_message()
        _check(_lib.ooze_points_read(os.fsencode(path), None, ctypes.byref(out), ctypes.byref(why)),
               why)
        return cls(out.value)

    @classmethod
    def create(cls, count):
        out, why = ctypes.c_void_p(), _abi.ooze_message()
        _check(_lib.ooze_points_create(count, ctypes.byref(out), ctypes.byref(why)), why)
        return cls(out.value)

    def write(self, path):
        why = _abi.ooze_message()
        _check(_lib.ooze_points_write(os.fsencode(path), self._handle, None, ctypes.byref(why)),
               why)

    def __len__(self):
        return _lib.ooze_points_count(self._handle)

    def keys(self):
        a, names = _default("ooze_points_attribute"), []
        for i in range(_lib.ooze_points_attribute_count(self._handle)):
            _lib.ooze_points_attribute_get(self._handle, i, ctypes.byref(a))
            names.append(a.name.decode())
        return names

    def __contains__(self, name):
        return name in self.keys()

    def __getitem__(self, name):
        a = _default("ooze_points_attribute")
        if _lib.ooze_points_find(self._handle, name.encode(), ctypes.byref(a)) < 0:
            raise KeyError(name)
        shape = (len(self),) if a.components == 1 else (len(self), a.components)
        return _view(a.data, _KINDS[a.type], shape, self)

    def __setitem__(self, name, values):
        values = np.asarray(values)
        if name not in self:
            kind = next((k for k, d in _KINDS.items() if values.dtype == d), _abi.OOZE_FLOAT32)
            why = _abi.ooze_message()
            components = 1 if values.ndim == 1 else values.shape[1]
            _check(_lib.ooze_points_add(self._handle, name.encode(), kind, components, 0, None,
                                        ctypes.byref(why)), why)
        self[name][...] = values

    def detail(self, name):
        """One number for all points: time, frame, separation; None if there is none."""
        out = ctypes.c_double()
        return out.value if _lib.ooze_points_detail_get(self._handle, name.encode(),
                                                        ctypes.byref(out)) >= 0 else None

    def surface(self, method="anisotropic", shading=True, temperature=False, stress=False,
                strainrate=False,
                material_names=(), **desc):
        """A Surface. desc: fields of ooze_surface_desc, such as voxel, smoothing, threads."""
        methods = ["spheres", "anisotropic", "density"]
        desc.setdefault("separation", self.detail("separation") or 2.0 * float(self["pscale"][0]))
        d = _default("ooze_surface_desc", method=methods.index(method) if isinstance(method, str)
                     else method, **desc)
        bits = [(shading, _abi.OOZE_WITH_SHADING), (temperature, _abi.OOZE_WITH_TEMPERATURE),
                (stress, _abi.OOZE_WITH_STRESS), (strainrate, _abi.OOZE_WITH_STRAINRATE)]
        texts = (ctypes.c_char_p * (len(material_names) + 1))(*[n and n.encode()
            for n in material_names])
        out, why = ctypes.c_void_p(), _abi.ooze_message()
        _check(_lib.ooze_surface_of_points(ctypes.byref(d), self._handle,
                                           sum(b for on, b in bits if on), texts,
                                           len(material_names), ctypes.byref(out),
                                           ctypes.byref(why)), why)
        return Surface(out.value)


class Surface(_Owner):
    """A narrow-band level set with channels."""
    _destroy = "ooze_surface_destroy"

    @property
    def info(self):
        info = _default("ooze_surface_info")
        _check(_lib.ooze_surface_info_get(self._handle, ctypes.byref(info)))
        return {n: getattr(info, n) for n in ("bricks", "voxel", "radius", "volume", "area",
                                              "voxels", "seconds")}

    def distance(self, points):
        """m, negative inside, at an array of points."""
        p = np.ascontiguousarray(points, np.float32).reshape(-1, 3)
        out = np.empty(len(p), np.float32)
        _check(_lib.ooze_surface_sample(self._handle, p.ctypes.data, len(p), out.ctypes.data))
        return out

    def values(self, name, points, components=1):
        p = np.ascontiguousarray(points, np.float32).reshape(-1, 3)
        out = np.empty((len(p), components), np.float32)
        if _lib.ooze_surface_values(self._handle, name.encode(), p.ctypes.data, len(p),
                                    out.ctypes.data) < 0:
            raise KeyError(name)
        return out[:, 0] if components == 1 else out

    def mesh(self, adaptivity=0.0):
        mesh, why = Mesh(), _abi.ooze_message()
        _check(_lib.ooze_surface_mesh(self._handle, adaptivity, ctypes.byref(mesh._mesh),
                                      ctypes.byref(why)), why)
        return mesh

    def write_vdb(self, path, frame=None, time=0.0, half=False):
        o = _default("ooze_vdb_options", half_precision=int(half))
        if frame is not None:
            o.has_time, o.frame, o.time = 1, frame, time
        why = _abi.ooze_message()
        _check(_lib.ooze_surface_write_vdb(self._handle, os.fsencode(path), ctypes.byref(o),
                                           ctypes.byref(why)), why)


class Mesh:
    """Triangles: P, triangles, N, v, and further channels by name: mesh["Cd"]."""

    def __init__(self):
        self._mesh = _default("ooze_mesh")

    def __del__(self):
        if _lib is not None:
            _lib.ooze_mesh_release(ctypes.byref(self._mesh))

    @classmethod
    def read(cls, path):
        mesh, why = cls(), _abi.ooze_message()
        _check(_lib.ooze_mesh_read(os.fsencode(path), None, ctypes.byref(mesh._mesh),
                                   ctypes.byref(why)), why)
        return mesh

    def write(self, path):
        why = _abi.ooze_message()
        _check(_lib.ooze_mesh_write(os.fsencode(path), ctypes.byref(self._mesh), None,
                                    ctypes.byref(why)), why)

    def _vectors(self, address):
        return _view(address, np.float32, (self._mesh.point_count, 3), self) if address else None

    @property
    def P(self):
        return self._vectors(self._mesh.positions)

    @property
    def N(self):
        return self._vectors(self._mesh.normals)

    @property
    def v(self):
        return self._vectors(self._mesh.velocities)

    @property
    def triangles(self):
        return _view(self._mesh.triangles, np.uint32, (self._mesh.triangle_count, 3), self)

    def _channels(self):
        channels = Points(self._mesh.channels)
        channels._destroy, channels._mesh = None, self  # the mesh owns them
        return channels

    def keys(self):
        return self._channels().keys() if self._mesh.channels else []

    def __getitem__(self, name):
        if not self._mesh.channels:
            raise KeyError(name)
        return self._channels()[name]


class Capture(_Owner):
    """The state of one moment; capture["P"] is a view of its own memory, in the order of ids."""
    _destroy = "ooze_capture_destroy"

    def __init__(self, solver):
        out = ctypes.c_void_p()
        solver._check(_lib.ooze_capture_create(solver._handle, ctypes.byref(out)))
        super().__init__(out.value)
        self._solver = solver
        self.take()

    def take(self):
        bits = sum(1 << a for a, info in self._solver._attributes.values() if info.is_state)
        self._solver._check(_lib.ooze_capture_take(self._handle, bits))

    def __len__(self):
        return _lib.ooze_capture_count(self._handle)

    def __getitem__(self, name):
        a, info = self._solver._attributes[name]
        address, why = ctypes.c_void_p(), "capture: %s" % name
        if _lib.ooze_capture_array(self._handle, a, ctypes.byref(address)) < 0:
            raise Error(-1, _lib.ooze_capture_message(self._handle).decode() or why)
        shape = (len(self),) if info.components == 1 else (len(self), info.components)
        kind = Solver._kind(info)
        if address.value:
            return _view(address.value, kind, shape, self)
        out = np.empty(shape, kind)  # the materials' values, or 0
        if _lib.ooze_capture_read(self._handle, a, 0, len(self), 0, out.ctypes.data) < 0:
            raise Error(-1, _lib.ooze_capture_message(self._handle).decode() or why)
        return out


class Solver(_Owner):
    """A simulation. solver["P"] reads an attribute of all particles, solver["v"] = array writes
    it."""
    _destroy = "ooze_solver_destroy"

    def __init__(self, separation=0.01, backend="auto", threads=0, _handle=None, **params):
        if _handle is None:
            desc = _default("ooze_solver_desc", particle_separation=separation, threads=threads,
                            backend=["auto", "cpu", "cuda"].index(backend))
            out, why = ctypes.c_void_p(), _abi.ooze_message()
            _check(_lib.ooze_solver_create(ctypes.byref(desc), ctypes.byref(out),
                                           ctypes.byref(why)), why)
            _handle = out.value
        super().__init__(_handle)
        self.frame = None  # of a scene's solver: the one that it is at
        self._animated = False
        self._attributes = {}
        for a in range(_abi.OOZE_ATTRIBUTE_COUNT):
            info = _default("ooze_attribute_info")
            _lib.ooze_attribute_describe(a, ctypes.byref(info))
            self._attributes[info.name.decode()] = (a, info)
        if params:
            self.set(**params)

    def _check(self, result):
        if result < 0:
            raise Error(result, _lib.ooze_solver_message(self._handle).decode())
        return result

    @staticmethod
    def _kind(info):
        if info.is_integer:
            return np.uint64 if info.element_bytes == 8 else np.uint32
        return np.float64 if info.element_bytes == 8 else np.float32

    def set(self, **params):
        """Parameters by their names in the schema: substeps=12, gravity=(0, -9.81, 0),
        model="links"."""
        p = _default("ooze_params")
        self._check(_lib.ooze_params_get(self._handle, ctypes.byref(p)))
        for name, value in params.items():
            _set(p, "ooze_params", name, _menu("solver", name, value))
        self._check(_lib.ooze_params_set(self._handle, ctypes.byref(p)))

    def add_material(self, preset_name=None, **values):
        """Its number. A preset, with other values in place of some."""
        m = preset(preset_name) if preset_name else _default("ooze_material")
        m.size = ctypes.sizeof(m)
        for name, value in values.items():
            _set(m, "ooze_material", name, value)
        out = ctypes.c_uint32()
        self._check(_lib.ooze_material_add(self._handle, ctypes.byref(m), ctypes.byref(out)))
        return out.value

    def add_particles(self, P, v=None, material=0):
        """The first id; the others follow."""
        P = np.ascontiguousarray(P, np.float32).reshape(-1, 3)
        p = _default("ooze_particles", count=len(P), material=material, positions=P.ctypes.data)
        if v is not None:
            v = np.ascontiguousarray(np.broadcast_to(np.asarray(v, np.float32), P.shape))
            p.velocities = v.ctypes.data
        out = ctypes.c_uint64()
        self._check(_lib.ooze_particles_add(self._handle, ctypes.byref(p), ctypes.byref(out)))
        return out.value

    def add_collider(self, shape="plane", **values):
        """Fields of ooze_collider_desc; start and end are positions, or (position, quaternion)."""
        values.setdefault("end", values.get("start", (0.0, 0.0, 0.0)))
        c = _default("ooze_collider_desc")
        for name, value in dict(values, shape=shape).items():
            _set(c, "ooze_collider_desc", name, _menu("collider", name, value))
        out = ctypes.c_uint32()
        self._check(_lib.ooze_collider_add(self._handle, ctypes.byref(c), ctypes.byref(out)))
        return out.value

    def add_emitter(self, **values):
        """Fields of ooze_emitter_desc, as add_collider; `from` is spelled from_."""
        values.setdefault("end", values.get("start", (0.0, 0.0, 0.0)))
        e = _default("ooze_emitter_desc")
        for name, value in values.items():
            _set(e, "ooze_emitter_desc", name, _menu("emitter", name, value))
        out = ctypes.c_uint32()
        self._check(_lib.ooze_emitter_add(self._handle, ctypes.byref(e), ctypes.byref(out)))
        return out.value

    def move_collider(self, collider, end, start=None):
        """Evenly to the pose `end` during the next step, from `start`, or from where it is. Poses
        as in add_collider."""
        c = _default("ooze_collider_desc")
        self._check(_lib.ooze_collider_get(self._handle, collider, ctypes.byref(c)))
        start, end = c.end if start is None else _pose(start), _pose(end, c.end)
        self._check(_lib.ooze_collider_move(self._handle, collider, ctypes.byref(start),
                                            ctypes.byref(end)))

    def set_emitter(self, emitter, **values):
        """Other values of an emitter: speed=0.2, active=0, end=(0, 0.3, 0), ... It moves to `end`
        during the next step; `start` alone puts it somewhere else."""
        e = _default("ooze_emitter_desc")
        self._check(_lib.ooze_emitter_get(self._handle, emitter, ctypes.byref(e)))
        if "start" in values:
            values.setdefault("end", values["start"])
        for name, value in values.items():
            _set(e, "ooze_emitter_desc", name, _menu("emitter", name, value))
        self._check(_lib.ooze_emitter_set(self._handle, emitter, ctypes.byref(e)))

    def add_body(self, P, kind="rigid", material=0, **values):
        """Points of a body in its own frame, one separation apart throughout its inside. values:
        fields of ooze_body_desc, such as pose (as in add_collider), velocity, friction, stick."""
        P = np.ascontiguousarray(P, np.float32).reshape(-1, 3)
        b = _default("ooze_body_desc", count=len(P), material=material, positions=P.ctypes.data)
        for name, value in dict(values, kind=kind).items():
            _set(b, "ooze_body_desc", name, _menu("body", name, value))
        out = ctypes.c_uint32()
        self._check(_lib.ooze_body_add(self._handle, ctypes.byref(b), ctypes.byref(out)))
        return out.value

    def body(self, body):
        """Where it is: position, rotation, velocity, spin, centre, mass, ..."""
        b = _default("ooze_body_state")
        self._check(_lib.ooze_body_state_get(self._handle, body, ctypes.byref(b)))
        state = {n: (tuple(v) if isinstance(v, ctypes.Array) else v)
                 for n, v in ((f[0], getattr(b, f[0])) for f in b._fields_)
                 if n not in ("size", "pose")}
        return dict(state, position=tuple(b.pose.position), rotation=tuple(b.pose.rotation))

    def drive(self, body, end, start=None):
        """The body goes evenly to the pose `end` during the next step, from `start`, or from where
        it is, and stays there. None lets it go."""
        if end is None:
            self._check(_lib.ooze_body_drive(self._handle, body, None, None))
            return
        b = _default("ooze_body_state")
        self._check(_lib.ooze_body_state_get(self._handle, body, ctypes.byref(b)))
        start, end = b.pose if start is None else _pose(start), _pose(end, b.pose)
        self._check(_lib.ooze_body_drive(self._handle, body, ctypes.byref(start),
                                         ctypes.byref(end)))

    def step(self, dt):
        """Of a scene's solver this leaves out what the scene brings with time: Scene.step has
        it."""
        if self._animated:
            warnings.warn("this scene has keyframes, fluids with emit or meshes for each frame, "
                          "which Solver.step leaves out; scene.step(solver) has them",
                          stacklevel=2)
            self._animated = False
        return self._check(_lib.ooze_step(self._handle, dt))

    @property
    def time(self):
        return _lib.ooze_time(self._handle)

    def __len__(self):
        return _lib.ooze_particle_count(self._handle)

    def keys(self):
        return list(self._attributes)

    def __getitem__(self, name):
        a, info = self._attributes[name]
        out = np.empty((len(self),) if info.components == 1 else (len(self), info.components),
                       self._kind(info))
        if len(self):
            self._check(_lib.ooze_attribute_read(self._handle, a, 0, len(self), 0, out.ctypes.data))
        return out

    def __setitem__(self, name, values):
        a, info = self._attributes[name]
        shape = (len(self),) if info.components == 1 else (len(self), info.components)
        values = np.ascontiguousarray(np.broadcast_to(np.asarray(values, self._kind(info)), shape))
        self._check(_lib.ooze_attribute_write(self._handle, a, 0, len(self), 0, values.ctypes.data))

    def stats(self):
        s = _default("ooze_stats")
        self._check(_lib.ooze_stats_get(self._handle, ctypes.byref(s)))
        return {n: (list(v) if isinstance(v, ctypes.Array) else v)
                for n, v in ((f[0], getattr(s, f[0])) for f in s._fields_) if n != "size"}

    def points(self):
        """All state as Points, for files and surfaces."""
        out, why = ctypes.c_void_p(), _abi.ooze_message()
        _check(_lib.ooze_points_from_solver(self._handle, ctypes.byref(out), ctypes.byref(why)),
               why)
        return Points(out.value)

    def capture(self):
        return Capture(self)

    def save(self):
        """A checkpoint as bytes."""
        size = ctypes.c_size_t()
        self._check(_lib.ooze_checkpoint_size(self._handle, ctypes.byref(size)))
        memory = ctypes.create_string_buffer(size.value)
        self._check(_lib.ooze_checkpoint_save(self._handle, memory, size.value, ctypes.byref(size)))
        return memory.raw[:size.value]

    def load(self, block):
        self._check(_lib.ooze_checkpoint_load(self._handle, block, len(block)))


class Scene(_Owner):
    """A scene file, or a dict of what one holds."""
    _destroy = "ooze_scene_destroy"

    def __init__(self, scene, set=None, wedge=None):
        sets = ["%s=%s" % (k, json.dumps(v)) for k, v in (set or {}).items()]
        texts = (ctypes.c_char_p * (len(sets) + 1))(*[s.encode() for s in sets])
        o = _default("ooze_scene_options", set_count=len(sets))
        o.sets = ctypes.cast(texts, ctypes.c_void_p)
        if wedge is not None:
            o.wedge = str(wedge).encode()
        out, why = ctypes.c_void_p(), _abi.ooze_message()
        if isinstance(scene, dict):
            text = json.dumps(scene).encode()
            result = _lib.ooze_scene_load_memory(b"scene", text, len(text), ctypes.byref(o),
                                                 ctypes.byref(out),
                                                 ctypes.byref(why))
        else:
            result = _lib.ooze_scene_load(os.fsencode(scene), ctypes.byref(o), ctypes.byref(out),
                                          ctypes.byref(why))
        _check(result, why)
        super().__init__(out.value)

    @property
    def info(self):
        i = _default("ooze_scene_info")
        _check(_lib.ooze_scene_info_get(self._handle, ctypes.byref(i)))
        return {n: (v.decode() if isinstance(v, bytes) else v)
                for n, v in ((f[0], getattr(i, f[0])) for f in i._fields_)
                if n not in ("size", "reserved")}

    @property
    def material_names(self):
        """By material number: the first is the solver's own and has no name."""
        names = [None]
        while True:
            name = _lib.ooze_scene_material_name(self._handle, len(names) - 1)
            if name is None:
                return names
            names.append(name.decode())

    def solver(self, backend="auto", threads=0):
        """A Solver with what the scene has at its first frame."""
        desc = _default("ooze_solver_desc", threads=threads,
                        backend=["auto", "cpu", "cuda"].index(backend))
        out, why = ctypes.c_void_p(), _abi.ooze_message()
        _check(_lib.ooze_scene_build(self._handle, ctypes.byref(desc), ctypes.byref(out),
                                     ctypes.byref(why)), why)
        solver = Solver(_handle=out.value)
        solver.frame, solver._animated = self.info["first_frame"], bool(self.info["animated"])
        return solver

    def step(self, solver, frame=None):
        """One frame of a solver that this scene made, with its keyframes, bodies and meshes that
        move and fluids that go on coming. frame: the one to step to; None: the next."""
        frame = solver.frame + 1 if frame is None else frame
        why = _abi.ooze_message()
        result = _check(_lib.ooze_scene_step(self._handle, solver._handle, frame,
                                             ctypes.byref(why)), why)
        solver.frame = frame
        return result

    def colour(self, points):
        """Gives points the colours of their materials, as Cd."""
        why = _abi.ooze_message()
        _check(_lib.ooze_scene_colour_points(self._handle, points._handle, ctypes.byref(why)), why)
        return points

    def picture(self, points, frame=0, **options):
        """An array of height x width x 3 bytes. options: fields of ooze_picture_options."""
        o = _default("ooze_picture_options", **options)
        image, why = _default("ooze_image"), _abi.ooze_message()
        _check(_lib.ooze_scene_picture(self._handle, float(frame), points._handle, None,
                                       ctypes.byref(o),
                                       ctypes.byref(image), ctypes.byref(why)), why)
        made = _view(image.rgb, np.uint8, (image.height, image.width, 3), None).copy()
        _lib.ooze_image_free(ctypes.byref(image))
        return made


_PROGRESS = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_abi.ooze_run_progress))
_PATH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


def run(scene, folder, frames=None, resume=False, progress=None, wrote=None):
    """`ooze run`: all frames into a folder. progress(dict) and wrote(path) are told what is done. A
    report."""
    o = _default("ooze_run_options", resume=int(resume))
    o.folder = os.fsencode(folder)
    o.first_frame, o.last_frame = frames if frames else (1, 0)

    def tell(_, p):
        progress({f[0]: getattr(p.contents, f[0]) for f in p.contents._fields_ if f[0] != "size"})

    hooks = _PROGRESS(tell), _PATH(lambda _, path: wrote(os.fsdecode(path)))
    if progress:
        o.progress = ctypes.cast(hooks[0], ctypes.c_void_p)
    if wrote:
        o.wrote = ctypes.cast(hooks[1], ctypes.c_void_p)
    report, why = _default("ooze_run_report"), _abi.ooze_message()
    _check(_lib.ooze_run(scene._handle, ctypes.byref(o), ctypes.byref(report), ctypes.byref(why)),
           why)
    return {f[0]: getattr(report, f[0]) for f in report._fields_
            if f[0] not in ("size", "reserved", "checkpoint")}
