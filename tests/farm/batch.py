"""batch.py OOZE SOURCE: cook.py and cook_hbatch.sh of examples/farm, run with the stand-ins of hou
and hbatch: killed, stopped, failing and resumed. What a broken run leaves must be, byte for byte,
what an unbroken one leaves. SPDX-License-Identifier: Apache-2.0
"""
import filecmp
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import report

ooze, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
here = os.path.join(source, "tests/farm")
cook = os.path.join(source, "examples/farm/houdini/cook.py")
FRAMES = 12
failed = []

SCENE = '''import sys
sys.path.insert(0, %r)
import ooze_honey
ooze_honey.build(hou.node("/obj"))
hou.node("/obj/honey/farm").parm("sopoutput").set(%r)
'''


def expect(condition, text):
    if not condition:
        failed.append(text)


def start(folder, *more, **env):
    command = [sys.executable, "-B", cook, "scene.hip", "--cook",
               "/obj/honey/sim=%s/sim.$F4.bgeo.sc" % folder,
               "--cook", "/obj/honey/surface=%s/surface.$F4.bgeo.sc" % folder, "--frames", "1-%d"
               % FRAMES] + list(more)
    return subprocess.Popen(command, env=dict(os.environ, PYTHONPATH=os.path.join(here, "fake"),
                                              OOZE=ooze, OOZE_VERSION="0.0.test", **env),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(code, words, folder, *more, **env):
    process = start(folder, *more, **env)
    text = process.communicate()[0]
    expect(process.returncode == code and words in text,
           "%s %s %s: ended with %d, expected %d and '%s'; it said:\n%s" % (
        folder, more, env, process.returncode, code, words, text))
    return text


def same(folder):
    names = sorted(os.listdir("whole"))
    expect(names == sorted(os.listdir(folder)), "%s holds %s"
           % (folder, sorted(os.listdir(folder))))
    _, differ, errors = filecmp.cmpfiles("whole", folder, names, shallow=False)
    expect(not differ and not errors, "%s: %s differ" % (folder, differ + errors))


def when(path):
    """Waits until a file is there (the program is slowed down)."""
    end = time.monotonic() + 60
    while not os.path.exists(path):
        if time.monotonic() > end:
            raise AssertionError("no " + path)
        time.sleep(0.01)


def check():
    with open("scene.hip", "w") as f:
        f.write(SCENE % (os.path.join(source, "examples/houdini"), os.path.abspath("batch")
                         + "/sim.$F4.bgeo.sc"))
    text = run(0, "frames 1-12 are done", "whole", "--output-lines")
    expect(re.search(r"^\[ooze\] cook: Ooze 0.0.test, Houdini 21.0.999, Python \d+\.\d+, \S+, "
                     r"device as the node says", text, re.M), "no banner:\n" + text)
    percents = [int(n) for n in re.findall(r"^ALF_PROGRESS (\d+)%$", text, re.M)]
    expect(percents == sorted(percents) and len(percents) == FRAMES and percents[-1] == 99,
           "progress: %s" % percents)
    expect("OUTPUT_FILE:whole/sim.0012.bgeo.sc;" in text, "no OUTPUT_FILE line")
    expect(not re.search(r"error", text, re.I), "a farm manager would take this for a failure:\n"
           + text)
    expect(len(os.listdir("whole")) == 2 * FRAMES, "files: %s" % os.listdir("whole"))

    # nothing to resume from; all done; a file that is half written; one of two outputs missing
    run(0, "nothing to resume from", "killed", "--resume")
    same("killed")
    run(0, "(0 cooked", "killed", "--resume")
    with open("killed/sim.0012.bgeo.sc", "w") as f:
        f.write('{"bgeo": "12')
    os.remove("killed/surface.0011.bgeo.sc")
    text = run(0, "resuming at frame 10", "killed", "--resume")
    expect("sim.0012.bgeo.sc cannot be read" in text, "the damaged file was not named:\n" + text)
    same("killed")

    # killed in the middle, and stopped by a signal
    for how, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 75)):
        folder = "by%d" % how
        process = start(folder, FAKE_SLOW="0.05")
        when(folder + "/sim.0004.bgeo.sc")
        process.send_signal(how)
        text = process.communicate()[0]
        expect(process.returncode == code, "signal %d: ended with %d:\n%s"
               % (how, process.returncode, text))
        expect(not os.path.exists(folder + "/sim.0012.bgeo.sc"), "signal %d came too late" % how)
        run(0, "resuming at frame", folder, "--resume")
        for name in os.listdir(folder):  # the rest of a file that SIGKILL kept from its name
            if ".part" in name and how == signal.SIGKILL:
                os.remove(os.path.join(folder, name))
        same(folder)

    # a node that fails, then a repaired one; a machine without the package; words that do not fit
    text = run(3, "Error: frame 7: /obj/honey/surface failed:", "failing", FAKE_FAIL_FRAME="7")
    expect(sorted(os.listdir("failing"))[-1] == "surface.0006.bgeo.sc", "after a failure: %s"
           % sorted(os.listdir("failing")))
    run(0, "resuming at frame 6", "failing", "--resume")
    same("failing")
    run(2, "Error: scene.hip: a node's plug-in is missing", "none", FAKE_NO_OOZE="1")
    run(2, "the scene has no node /obj/honey/sym", "none", "--cook", "/obj/honey/sym=x.$F.bgeo")
    run(1, "expected NODE=FILE", "none", "--cook", "/obj/honey/sim=x.bgeo")
    run(1, "expected A-B", "none", "--frames", "9-1")
    run(1, "unrecognized", "none", "--fremes", "1-9")
    expect(not os.path.exists("none"), "something was written before the words were checked")

    # hbatch
    def hbatch(code, words, **env):
        os.makedirs("batch", exist_ok=True)
        done = subprocess.run(["sh", os.path.join(source, "examples/farm/houdini/cook_hbatch.sh"),
                               "scene.hip", "/obj/honey/farm", "/obj/honey/sim",
                               os.path.abspath("batch") + "/sim.$F4.bgeo.sc", "1", str(FRAMES)],
                               capture_output=True, text=True,
                              env=dict(os.environ, FAKE_OOZE=ooze, OOZE="no-such-program",
                                       HBATCH=os.path.join(here, "fake/hbatch"), **env))
        text = done.stdout + done.stderr
        expect(done.returncode == code and words in text,
               "hbatch %s: ended with %d, expected %d and '%s'; it said:\n%s"
               % (env, done.returncode, code, words, text))

    hbatch(3, "frame 8 is missing", FAKE_FAIL_FRAME="8")
    with open("batch/sim.0007.bgeo.sc", "w") as f:
        f.write("half a fi")
    hbatch(0, "frames 1-12 are done")
    hbatch(0, "frames 1-12 are done")  # nothing is left to do
    for frame in range(1, FRAMES + 1):
        name = "sim.%04d.bgeo.sc" % frame
        expect(filecmp.cmp("whole/" + name, "batch/" + name, shallow=False), "hbatch: %s differs"
               % name)

    # submitting to Slurm: a scene without rows, or one that the program refuses, goes no further
    # than this machine
    for scene, words in (("tests/run/small.json", "has no wedge table"),
                         ("no/such.json", "such.json")):
        done = subprocess.run(["sh", os.path.join(source, "examples/farm/slurm/submit.sh"),
                               os.path.join(source, scene), "out"],
                              capture_output=True, text=True, env=dict(os.environ, OOZE=ooze))
        expect(done.returncode == 2 and words in done.stderr and not os.path.exists("out"),
               "submit.sh %s: %d %s" % (scene, done.returncode, done.stderr))


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    check()
    os.chdir("/")
report.end("batch", failed,
           "whole, killed, stopped, damaged and failing runs end in the same files")
