"""hython cook.py HIP --cook NODE=FILE [--cook NODE=FILE ...] [--frames A-B] [--resume]

Cooks SOPs over a range of frames to files, for any farm. $F4 (or $F) in FILE is the frame. The
first --cook is the simulation: its files hold all state (do not delete attributes before it), and
--resume goes on from its newest whole one.

  hython cook.py honey.hip --cook /obj/honey/sim=/shared/honey/sim.\\$F4.bgeo.sc \\
                           --cook /obj/honey/surface=/shared/honey/surface.\\$F4.bgeo.sc \\
                           --frames 1-240 --resume

Prints a banner, `ALF_PROGRESS n%` (0 to 99, alone on a line) and, with --output-lines,
`OUTPUT_FILE:path;` for PDG. A file has its name only when it is whole. Exit codes: 0 done, 1 usage,
2 the scene or a file is bad, 3 a node failed, 75 stopped by SIGTERM between frames (run it again
with --resume). OOZE_DEVICE=cpu or cuda:1 overrules the node's device. SPDX-License-Identifier:
Apache-2.0
"""
import argparse
import os
import re
import signal
import socket
import sys
import time

import hou

USAGE, BAD, FAILED, STOPPED = 1, 2, 3, 75
SOLVER = "ooze::solver"  # any version of it
INITIAL_STATE = 2        # its input


class Stop(Exception):
    def __init__(self, code, text):
        Exception.__init__(self, text)
        self.code = code


def say(text):
    sys.stdout.write("[ooze] %s\n" % text)
    sys.stdout.flush()


def path_of(pattern, frame):
    return re.sub(r"\$F(\d?)", lambda m: str(frame).zfill(int(m.group(1) or 1)), pattern)


def frames_of(text):
    match = re.match(r"(-?\d+)-(-?\d+)$", text or "")
    if match and int(match.group(1)) <= int(match.group(2)):
        return int(match.group(1)), int(match.group(2))
    raise Stop(USAGE, "--frames: '%s' is no range; expected A-B, such as 1-240" % text)


def options():
    parser = argparse.ArgumentParser(description="Cooks SOPs over a range of frames to files.")
    parser.add_argument("hip")
    parser.add_argument("--cook", action="append", required=True, metavar="NODE=FILE")
    parser.add_argument("--frames", metavar="A-B", help="default: the scene's frame range")
    parser.add_argument("--resume", action="store_true",
                        help="go on from the newest whole file of the first --cook")
    parser.add_argument("--output-lines", action="store_true",
                        help="print OUTPUT_FILE:path; for PDG")
    try:
        return parser.parse_args()
    except SystemExit as end:  # argparse would leave with 2, which means a bad scene here
        sys.exit(USAGE if end.code else 0)


def load(hip):
    """A node type that is missing on this machine is an error here: Houdini would go on and cook
    nothing."""
    try:
        hou.hipFile.load(hip, suppress_save_prompt=True, ignore_load_warnings=False)
    except hou.LoadWarning as warning:
        text = str(warning)
        if "Bad node type" in text:
            raise Stop(BAD,
                       "%s: a node's plug-in is missing on %s: %s (is the Ooze package of Houdini "
                       "%s installed here?)" % (
                hip, socket.gethostname(), " ".join(text.split()), hou.applicationVersionString()))
        say("%s: %s" % (hip, " ".join(text.split())))
    except hou.OperationFailed as why:
        raise Stop(BAD, "%s: %s" % (hip, why))


def outputs(pairs):
    found = []
    for pair in pairs:
        name, _, pattern = pair.partition("=")
        node = hou.node(name)
        if not pattern or "$F" not in pattern:
            raise Stop(USAGE, "--cook %s: expected NODE=FILE with $F4 for the frame in FILE" % pair)
        if node is None:
            raise Stop(BAD, "--cook %s: the scene has no node %s" % (pair, name))
        found.append((node, pattern))
    return found


def solver_above(node):
    seen, todo = set(), [node]
    while todo:
        node = todo.pop()
        if node is None or node.path() in seen:
            continue
        seen.add(node.path())
        if node.type().name().startswith(SOLVER):
            return node
        todo.extend(node.inputs())
    return None


def whole(path):
    try:
        hou.Geometry().loadFromFile(path)
        return True
    except hou.OperationFailed:
        return False


def resume(cooks, first, last):
    """The frame to begin with, after the solver was told to start from the newest whole file. All
    outputs of that frame must be there."""
    node, pattern = cooks[0]
    for frame in range(last, first - 1, -1):
        paths = [path_of(p, frame) for _, p in cooks]
        if not all(os.path.exists(p) for p in paths):
            continue
        if not whole(paths[0]):
            say("%s cannot be read: going on from an earlier frame" % paths[0])
            continue
        solver = solver_above(node)
        if solver is None:
            raise Stop(BAD,
                       "--resume: there is no Ooze Solver above %s to start from a file (a Solver "
                       "SOP has its own Initial State)" % node.path())
        state = solver.parent().createNode("file", "ooze_resume")
        state.parm("file").set(paths[0])
        solver.setInput(INITIAL_STATE, state)
        start = solver.parm("startframe")
        start.deleteAllKeyframes()  # "$FSTART" and the like
        start.set(frame)
        say("resuming at frame %d from %s" % (frame, paths[0]))
        return frame + 1
    say("nothing to resume from: beginning with frame %d" % first)
    return first


def save(node, path):
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        os.makedirs(folder, exist_ok=True)
    stem, dot, ending = name.partition(".")
    # Houdini takes the format from the ending
    part = os.path.join(folder, ".%s.part%d%s%s" % (stem, os.getpid(), dot, ending))
    try:
        node.geometry().saveToFile(part)
        os.replace(part, path)
    except (hou.OperationFailed, OSError) as why:
        if os.path.exists(part):
            os.remove(part)
        raise Stop(BAD, "%s: could not be written: %s" % (path, why))


def cook(node, frame):
    try:
        node.cook(force=False)
    except hou.OperationFailed as why:
        raise Stop(FAILED, "frame %d: %s failed: %s"
                   % (frame, node.path(), "; ".join(node.errors()) or why))
    if node.errors():
        raise Stop(FAILED, "frame %d: %s: %s" % (frame, node.path(), "; ".join(node.errors())))
    for text in node.warnings():
        say("frame %d: %s: %s" % (frame, node.path(), text))


def run(args):
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    say("cook: Ooze %s, Houdini %s, Python %d.%d, %s, device %s, threads %s" % (
        os.environ.get("OOZE_VERSION", "of this package unknown"), hou.applicationVersionString(),
        sys.version_info[0],
        sys.version_info[1], socket.gethostname(),
        os.environ.get("OOZE_DEVICE", "as the node says"),
        os.environ.get("HOUDINI_MAXTHREADS", "all")))
    # the plug-in adds a line with its build and the device that it really runs on
    os.environ["OOZE_FARM"] = "1"
    load(args.hip)
    cooks = outputs(args.cook)
    if args.frames:
        first, last = frames_of(args.frames)
    else:
        first, last = (int(f) for f in hou.playbar.frameRange())
    begin = resume(cooks, first, last) if args.resume else first
    shown, began = -1, time.time()
    for frame in range(begin, last + 1):
        if stop:
            raise Stop(STOPPED, "stopped before frame %d; --resume goes on" % frame)
        hou.setFrame(frame)
        # the simulation's file comes last: where it is, the others are
        for node, pattern in reversed(cooks):
            cook(node, frame)
            save(node, path_of(pattern, frame))
            if args.output_lines:
                sys.stdout.write("OUTPUT_FILE:%s;\n" % path_of(pattern, frame))
        percent = int(99.0 * (frame - first + 1) / (last - first + 1))
        if percent != shown:
            sys.stdout.write("ALF_PROGRESS %d%%\n" % percent)
            shown = percent
        sys.stdout.flush()
    say("frames %d-%d are done (%d cooked in %.1f s)"
        % (first, last, max(0, last + 1 - begin), time.time() - began))


def main():
    try:
        run(options())
        return 0
    except Stop as why:
        # the word that farm managers look for, for fatal errors only
        say("%s%s" % ("" if why.code == STOPPED else "Error: ", why))
        return why.code


if __name__ == "__main__":
    sys.exit(main())
