"""A stand-in for Houdini's Python module, of just what our scripts call. SPDX-License-Identifier:
Apache-2.0

It knows the nodes of stock.json and those of `ooze schema nodes --json`, and refuses every type,
parameter, menu word and input that is in neither. Ooze nodes "simulate" by hashing: the state of a
frame is a function of the state before, of the parameters and of the frame, so that a resume that
is wrong in anything ends in another file. A scene file is a Python script. Environment: FAKE_OOZE
or OOZE the program; FAKE_FAIL_FRAME a frame whose cook fails; FAKE_SLOW seconds a cook;
FAKE_NO_OOZE a machine without the package.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import time


class Error(Exception):
    pass


class OperationFailed(Error):
    pass


class LoadWarning(Error):
    pass


def _load_types():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "stock.json")) as f:
        types = {k: v for k, v in json.load(f).items() if k != "about"}
    if os.environ.get("FAKE_NO_OOZE"):
        return types
    for node in json.loads(subprocess.run([os.environ.get("FAKE_OOZE") or os.environ["OOZE"],
                                           "schema", "nodes", "--json"], capture_output=True,
                                           check=True).stdout):
        parms = {}
        for p in node["parameters"]:
            words = [w.split("=")[0] for w in p["menu"].split("|")] if p["menu"] else []
            if p["type"] == "menu":
                parms[p["token"]] = {"menu": words, "default": int(p["default"][0])}
            elif p["type"] == "choice":
                parms[p["token"]] = {"menu": words, "default": p["default_text"]}
            elif p["type"] == "text":
                parms[p["token"]] = p["default_text"]
            elif p["type"] == "button":
                parms[p["token"]] = 0
            else:
                value = p["default"] if p["type"] == "vector" else p["default"][0]
                low, high = p["minimum"], p["maximum"]
                parms[p["token"]] = {"default": value, "low": low,
                                     "high": high} if p["type"] in ("float", "int") else value
        types["%s/%s" % (node["context"], node["type_name"])] = {"inputs": node["max_inputs"],
            "parms": parms}
    return types


_types = _load_types()
_frame = 1


class Geometry:
    def __init__(self, state=None):
        self.state = state

    def saveToFile(self, path):
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise OperationFailed("no such folder: " + path)
        with open(path, "w") as f:
            json.dump({"bgeo": self.state, "end": True}, f)

    def loadFromFile(self, path):
        try:
            with open(path) as f:
                self.state = json.load(f)["bgeo"]
        except (OSError, ValueError, KeyError):
            raise OperationFailed("Unable to read file " + path)


class Parm:
    def __init__(self, node, name, spec):
        self._node, self._name = node, name
        self._spec = spec if isinstance(spec, dict) else {"default": spec}
        self._value = self._spec.get("default", 0)

    def name(self):
        return self._name

    def node(self):
        return self._node

    def path(self):
        return self._node.path() + "/" + self._name

    def eval(self):
        return self._value

    def unexpandedString(self):
        return self._value

    def menuItems(self):
        if "menu" not in self._spec:
            raise OperationFailed(self.path() + " is no menu")
        return tuple(self._spec["menu"])

    def deleteAllKeyframes(self):
        pass

    def pressButton(self):
        self._node._pressed.append(self._name)

    def setExpression(self, text):
        self._node._expressions[self._name] = text

    def set(self, value):
        where = "%s (%s)" % (self.path(), self._node.type().name())
        if isinstance(self._value, (list, tuple)):
            raise TypeError(where + " is a tuple: set it by parmTuple")
        if isinstance(self._value, str) != isinstance(value, str):
            raise TypeError("%s: %r is of another type than %r" % (where, value, self._value))
        menu = self._spec.get("menu")
        if menu and (value not in menu if isinstance(value, str) else not 0 <= value < len(menu)):
            raise OperationFailed("%s: %r is not in %s" % (where, value, menu))
        if "low" in self._spec and not self._spec["low"] <= value <= self._spec["high"]:
            raise OperationFailed("%s: %r is out of range" % (where, value))
        self._value = value


class ParmTuple(Parm):
    def set(self, value):
        if not isinstance(self._value, (list, tuple)) or len(value) != len(self._value):
            raise TypeError("%s: %r has another length than %r" % (self.path(), value, self._value))
        self._value = list(value)


class NodeType:
    def __init__(self, name, definition=None):
        self._name, self._definition = name, definition

    def name(self):
        return self._name

    def definition(self):
        return self._definition


class Node:
    def __init__(self, parent, kind, name, context):
        self._parent, self._kind, self._name, self._context = parent, kind, name, context
        self._children, self._inputs, self._errors = [], [], []
        self._flags, self._expressions = set(), {}
        self._parms, self._cache, self._definition, self._pressed = {}, {}, None, []
        spec = _types.get("%s/%s" % (context, kind), {"inputs": 0, "parms": {}})
        self._spec = spec
        for path, names in spec.get("inside", {}).items():
            at = self
            for word in path.split("/") if path else ():
                at._children.append(Node(at, "inside", word, "sop"))
                at = at._children[-1]
            at._children.extend(Node(at, "inside", n, "sop") for n in names)

    def name(self):
        return self._name

    def path(self):
        return (self._parent.path() if self._parent and self._parent._parent
                else "") + "/" + self._name if self._parent else "/"

    def parent(self):
        return self._parent

    def type(self):
        return NodeType(self._kind, self._definition)

    def children(self):
        return tuple(self._children)

    def inputs(self):
        return tuple(self._inputs)

    def node(self, path):
        at = self
        for word in path.strip("/").split("/"):
            at = next((c for c in at._children if c._name == word), None) if at else None
        return at

    def createNode(self, kind, name=None):
        context = self._spec.get("children") or {"obj": "obj", "stage": "lop",
                                                 "tasks": "tasks"}.get(self._name, "sop"
                                                     if self._kind == "inside" else None)
        if "%s/%s" % (context, kind) not in _types:
            raise OperationFailed("Invalid node type name: %s in %s (%s)"
                                  % (kind, self.path(), context))
        name = name or kind.split("::")[1 if "::" in kind else 0] + "1"
        taken = {c._name for c in self._children}
        base, i = name, 1
        while name in taken:
            name, i = "%s%d" % (base, i), i + 1
        node = Node(self, kind, name, context)
        self._children.append(node)
        return node

    def destroy(self):
        self._parent._children.remove(self)

    def _parm(self, name):
        if name not in self._parms:
            for spec, default in self._spec["parms"].items():
                if re.match("^" + spec.replace("#", r"\d+") + "$", name):
                    break
            else:
                extra = self._definition.parms if self._definition else {}
                if name not in extra:
                    return None
                default = extra[name]
            self._parms[name] = (ParmTuple if isinstance(default, list) else Parm)(self, name,
                default)
        return self._parms[name]

    def parm(self, name):
        found = self._parm(name)
        return None if isinstance(found, ParmTuple) else found

    def parmTuple(self, name):  # a single value is a tuple of one there
        return self._parm(name)

    def evalParm(self, name):
        return self._parm(name).eval()

    def setInput(self, index, node, output=0):
        if index >= self._spec["inputs"]:
            raise OperationFailed("%s (%s) has no input %d" % (self.path(), self._kind, index))
        if node is not None and node._parent is not self._parent:
            raise OperationFailed("%s and %s are in different networks"
                                  % (self.path(), node.path()))
        while len(self._inputs) <= index:
            self._inputs.append(None)
        self._inputs[index] = node

    def setDisplayFlag(self, on):
        self._flags.add("display")

    def setRenderFlag(self, on):
        self._flags.add("render")

    def layoutChildren(self):
        pass

    # ---- assets
    def createDigitalAsset(self, name, hda_file_name, description, min_num_inputs=0,
                           max_num_inputs=0, ignore_external_references=False):
        self._definition = HDADefinition(self, name, hda_file_name, description)
        self._kind = name
        return self

    def allowEditingOfContents(self):
        pass

    # ---- cooking
    def _state(self, frame):
        """A word that stands for the geometry of this node at a frame."""
        if frame in self._cache:
            return self._cache[frame]
        values = sorted((n, p.eval()) for n, p in self._parms.items()
                        if n not in ("startframe", "resimulate", "file"))
        get = [(lambda f, n=n: n._state(f)) if n else (lambda f: None) for n in self._inputs]
        if self._kind.startswith("ooze::solver"):
            start = self.parm("startframe").eval()
            given = self._inputs[2] if len(self._inputs) > 2 else None
            if frame <= start:
                state = given._state(frame) if given else _hash("start", values, get[0](start))
            else:
                if os.environ.get("FAKE_FAIL_FRAME") == str(frame):
                    self._errors = ["diverged: 3 of 100 particles are not finite"]
                    raise OperationFailed("The attempted operation failed.\nError: diverged")
                time.sleep(float(os.environ.get("FAKE_SLOW", "0")))
                state = _hash("step", values, self._state(frame - 1), frame,
                              [g(frame) for g in get[:2]])
        elif self._kind == "file":
            geometry = Geometry()
            geometry.loadFromFile(self.parm("file").eval())
            state = geometry.state
        elif self._kind in ("null", "filecache", "rop_geometry") and get:
            state = get[0](frame)
        else:
            state = _hash(self._kind, values, [g(frame) for g in get])
        self._cache[frame] = state
        return state

    def cook(self, force=False):
        try:
            self._state(_frame)
        except OperationFailed:
            self._errors = self._errors or ["Error in input"]
            raise

    def geometry(self):
        return Geometry(self._state(_frame))

    def errors(self):
        return tuple(self._errors)

    def warnings(self):
        return ()


class HDADefinition:
    def __init__(self, node, name, file, description):
        self.name, self.file, self.description = name, file, description
        self.parms, self.icon, self.sections = {}, "", {}
        self._node = node

    def parmTemplateGroup(self):
        return ParmTemplateGroup()

    def setParmTemplateGroup(self, group):
        for template in group.templates:
            self.parms[template.name] = template.default

    def setIcon(self, name):
        self.icon = name

    def addSection(self, name, text):
        self.sections[name] = text

    def updateFromNode(self, node):
        pass

    def save(self, path):
        with open(path, "w") as f:
            json.dump({"name": self.name, "parms": self.parms,
                       "expressions": [n._expressions for n in _walk(self._node)
                                       if n._expressions]}, f)


class ParmTemplateGroup:
    def __init__(self):
        self.templates = []

    def append(self, template):
        self.templates.append(template)


class FloatParmTemplate:
    def __init__(self, name, label, num_components, default_value=(0,), min=0, max=1,
                 min_is_strict=False, help=""):
        if len(default_value) != num_components or not help:
            raise TypeError("%s: defaults or help are wrong" % name)
        self.name = name
        self.default = default_value[0] if num_components == 1 else list(default_value)


IntParmTemplate = FloatParmTemplate


class data:
    """Recipes, as hou.data of 20.5 keeps them: here one JSON object a line."""
    @staticmethod
    def saveNodePresetRecipe(name, label, location, node, nodetype_patterns="", submenu="",
                             visible=True, parms=True):
        if not name or not label or not parms or not all(isinstance(p, Parm) for p in parms):
            raise TypeError("a recipe wants a name, a label and parameters")
        with open(location, "a") as f:
            f.write(json.dumps({"name": name, "label": label, "nodes": nodetype_patterns,
                                "menu": submenu,
                                "parms": {p.name(): p.eval() for p in parms}}) + "\n")


def _hash(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _walk(node):
    yield node
    for child in node._children:
        for n in _walk(child):
            yield n


def _new_scene():
    global _root
    _root = Node(None, "root", "", "root")
    for name in ("obj", "stage", "tasks", "out"):
        _root._children.append(Node(_root, "manager", name, "manager"))


_new_scene()


def lopNodeTypeCategory():
    return "lop"


def nodeType(category, name):
    """A type that stock.json has, or None."""
    return _load_types().get("%s/%s" % (category, name))


def node(path):
    return _root if path == "/" else _root.node(path)


def parm(path):
    owner = node(path.rpartition("/")[0])
    return owner.parm(path.rpartition("/")[2]) if owner else None


def setFrame(frame):
    global _frame
    _frame = frame


def applicationVersionString():
    return "21.0.999"


class playbar:
    @staticmethod
    def frameRange():
        return (1.0, 24.0)


class hipFile:
    @staticmethod
    def load(path, suppress_save_prompt=False, ignore_load_warnings=False):
        _new_scene()
        try:
            with open(path) as f:
                exec(compile(f.read(), path, "exec"), {"hou": sys.modules[__name__]})
        except OSError as why:
            raise OperationFailed(str(why))
        except OperationFailed as why:
            if not ignore_load_warnings:
                raise LoadWarning("Bad node type found: %s" % why)

    @staticmethod
    def save(path):
        with open(path, "w") as f:
            f.write("\n".join("%s %s" % (n.path(), n._kind) for n in _walk(_root)))
