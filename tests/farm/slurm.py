"""slurm.py OOZE SOURCE: the wedge of examples/farm on a real Slurm of one machine, with its own
keys, ports and folders.

Task 0 gets the signal that Slurm sends when time is up: it writes a checkpoint, requeues itself and
goes on. Task 1 loses its node: slurmd, the task and the program are killed with SIGKILL, and Slurm
requeues it; then its program gets a SIGTERM that Slurm knows nothing of (a late message about the
lost node is one), and it requeues itself. Each must end with the state hash and the point files of
an undisturbed `ooze run --wedge K`.

Exit 77 (skipped) where Slurm is not installed or does not come up, or the user is not root.
SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import filecmp
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIP = 77
# seconds for any one thing to happen on a loaded machine; an idle one needs 20 for all
PATIENCE = 100
# some 2 s of one core for a task; the test holds the programs while it disturbs them, so that no
# machine is too fast for it
OPTIONS = ["--set", "solver.particle_separation=0.006", "--set", "output.frames=[1,60]", "--set",
           "solver.substeps=6",
           "--set", "output.surface=none", "--checkpoint-every", "2"]
ROWS = 2


def skip(why):
    print("SKIPPED: " + why)
    sys.exit(SKIP)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Farm:
    """munged, slurmctld and slurmd, all of them ours: nothing of an installed cluster is read or
    changed."""

    def __init__(self, folder):
        self.folder, self.running = folder, {}
        self.node = socket.gethostname().split(".")[0]
        self.conf = os.path.join(folder, "slurm.conf")
        self.env = dict(os.environ, SLURM_CONF=self.conf)
        for name in list(self.env):
            if name.startswith(("SLURM_", "SBATCH_")) and name != "SLURM_CONF":
                del self.env[name]
        munge = os.path.join(folder, "munge")
        os.mkdir(munge, 0o755)
        key = os.path.join(munge, "key")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o400), "wb") as f:
            f.write(os.urandom(1024))
        self.munge = ["munged", "--foreground", "--force"] + [
            "--%s=%s" % (k, os.path.join(munge, v)) for k, v in
            (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"),
             ("seed-file", "seed"))]
        for name in ("state", "spool"):
            os.mkdir(os.path.join(folder, name))
        with open(self.conf, "w") as f:
            f.write("""ClusterName=ooze
SlurmctldHost={node}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={p1}
SlurmdPort={p2}
# a requeued task waits until its old credential has expired: 120 s unless told, 5 at least
AuthInfo=socket={f}/munge/socket,cred_expire=5
StateSaveLocation={f}/state
SlurmdSpoolDir={f}/spool
SlurmctldPidFile={f}/slurmctld.pid
SlurmdPidFile={f}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=10
SchedulerParameters=batch_sched_delay=1,sched_interval=2,sched_min_interval=100000
SlurmdParameters=config_overrides
NodeName={node} NodeAddr=127.0.0.1 CPUs={rows} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""".format(node=self.node, p1=free_port(), p2=free_port(), f=folder, rows=ROWS))

    def start(self, name, command):
        def end_with_us():  # a test that is killed leaves no daemon behind
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG

        with open(os.path.join(self.folder, name + ".log"), "ab") as log:
            self.running[name] = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL,
                                                  stdout=log, stderr=log,
                                                  preexec_fn=end_with_us)

    def start_node(self):
        self.start("slurmd", ["slurmd", "-D", "-f", self.conf])

    def ask(self, *command):
        done = subprocess.run(command, env=self.env, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def ours(self):
        """Processes that slurmd started for us, by the configuration in their environment."""
        mark = b"SLURM_CONF=" + self.conf.encode() + b"\0"
        known = {p.pid for p in self.running.values()} | {os.getpid()}
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) not in known:
                try:
                    with open("/proc/%s/environ" % name, "rb") as f:
                        if mark in f.read():
                            found.append(int(name))
                except OSError:
                    pass  # it has ended
        return found

    def hold(self, task):
        """Stops the program of a task for the moment (SIGSTOP); its process."""
        for pid in self.ours():
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as f:
                    words = f.read().split(b"\0")
                if words[1:2] == [b"run"] and b"/wedge%d" % task in b" ".join(words):
                    os.kill(pid, signal.SIGSTOP)
                    return pid
            except OSError:
                pass  # it has ended

    def power_cut(self):
        """What a lost node looks like: nothing of it says good-bye."""
        node = self.running.pop("slurmd")
        node.send_signal(signal.SIGKILL)
        for pid in self.ours():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        node.wait()
        # Slurm finds out by itself after SlurmdTimeout; an operator (or the power controller) tells
        # it at once
        self.ask("scontrol", "update", "NodeName=" + self.node, "State=DOWN", "Reason=power cut")

    def stop(self):
        for pid in self.ours():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self.running.values():
            process.kill()
            process.wait()


class NoSlurm(Exception):
    pass


def until(what, condition, every=0.2, patience=PATIENCE, otherwise=AssertionError):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(every)
    raise otherwise("after %d s still waiting for: %s" % (patience, what))


def told(pid, number):
    """Whether a signal waits for a process that is held."""
    with open("/proc/%d/status" % pid) as f:
        waiting = [int(line.split()[1], 16) for line in f if line.startswith(("SigPnd", "ShdPnd"))]
    return any(bits >> (number - 1) & 1 for bits in waiting)


def checkpoints(folder, k):
    try:
        return [n for n in os.listdir(os.path.join(folder, "wedge%d" % k, "checkpoints"))
                if n.endswith(".ozc")]
    except OSError:
        return []


def say(began, text):
    print("%5.1f s  %s" % (time.monotonic() - began, text), flush=True)


def check(farm, ooze, source, folder):
    began = time.monotonic()
    scene = os.path.join(source, "examples/farm/honey_wedge.json")
    farm.start("munged", farm.munge)
    until("munged", lambda: os.path.exists(os.path.join(farm.folder, "munge/socket")), patience=50,
          otherwise=NoSlurm)
    farm.start("slurmctld", ["slurmctld", "-D", "-c", "-f", farm.conf])
    farm.start_node()
    until("a node that is idle", lambda: farm.ask("sinfo", "-h", "-o", "%t") == "idle", patience=50,
          otherwise=NoSlurm)
    say(began, "Slurm is up: " + (farm.ask("sinfo", "-V") or "?"))

    out = os.path.join(folder, "farm")
    farm.env.update(OOZE=ooze, OOZE_SBATCH="--cpus-per-task=1 --time=10 --array=0-%d" % (ROWS - 1))
    job = farm.ask("sh", os.path.join(source, "examples/farm/slurm/submit.sh"), scene, out,
                   *OPTIONS)
    assert job, "submit.sh failed"

    held = {}

    def hold_both():
        for k in range(ROWS):
            if k not in held and checkpoints(out, k):
                held[k] = farm.hold(k)
        return len(held) == ROWS

    until("a checkpoint of each task", hold_both, every=0.05)
    assert all(held.values()), "a task ended before it could be disturbed: the scene is too short"
    assert farm.ask("scancel", "--signal=USR1", "--batch", "%s_0"
                    % job) is not None, "scancel failed"
    say(began, "task 0 is told that its time is up")
    until("the signal to reach the program", lambda: told(held[0], signal.SIGTERM))
    os.kill(held[0], signal.SIGCONT)
    until("task 0 to requeue itself", lambda: "back into the queue" in open(os.path.join(out,
        "wedge0.log")).read())
    farm.power_cut()
    say(began, "the node is lost")
    whole = {}  # meanwhile, the undisturbed runs
    for k in range(ROWS):
        done = subprocess.run([ooze, "run", scene, "--wedge", str(k), "-o",
                               os.path.join(folder, "whole%d" % k), "--quiet",
                               "--json", "--threads", "1"] + OPTIONS, capture_output=True,
                               text=True)
        assert done.returncode == 0, done.stderr
        whole[k] = json.loads(done.stdout)
    say(began, "the undisturbed runs are done")
    farm.start_node()
    farm.ask("scontrol", "update", "NodeName=" + farm.node, "State=RESUME")
    stray = until("task 1 to start again", lambda: farm.hold(1), every=0.02)
    os.kill(stray, signal.SIGTERM)
    os.kill(stray, signal.SIGCONT)
    say(began, "task 1 is stopped from outside")
    until("task 1 to requeue itself",
          lambda: "outside: back into the queue" in open(os.path.join(out, "wedge1.log")).read())
    for k in range(ROWS):
        until("task %d to end" % k, lambda: os.path.exists(os.path.join(out, "wedge%d.json" % k)))
        with open(os.path.join(out, "wedge%d.json" % k)) as f:
            found = json.load(f)
        with open(os.path.join(out, "wedge%d.log" % k)) as f:
            starts = f.read().count("[ooze] task")
        say(began, "task %d: %d starts, %s, state %s" % (
            k, starts, "resumed" if found["resumed"] else "not resumed", found["state_hash"]))
        assert found["state_hash"] == whole[k]["state_hash"], (
            "task %d: state %s on the farm, %s undisturbed"
            % (k, found["state_hash"], whole[k]["state_hash"]))
        assert found["resumed"] and starts > 1 + k, "task %d was not interrupted" % k
        ours, theirs = (os.path.join(folder, n, "points")
                        for n in ("farm/wedge%d" % k, "whole%d" % k))
        names = sorted(os.listdir(theirs))
        assert names and names == sorted(os.listdir(ours)), "task %d: other files" % k
        _, differ, errors = filecmp.cmpfiles(ours, theirs, names, shallow=False)
        assert not differ and not errors, "task %d: %s differ" % (k, differ + errors)
    assert len({w["state_hash"] for w in whole.values()}) == ROWS, "the rows are all the same"
    say(began, "%d tasks, one told to stop, one node lost: same bits, same files" % ROWS)


def main():
    ooze, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    missing = [p for p in ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")
               if not shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing:
        skip("not installed: %s (./dev farm installs munge and slurm-wlm)" % ", ".join(missing))
    if os.geteuid() != 0:
        skip("slurmd must run as root here")
    os.environ["PATH"] += ":/usr/sbin"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by SIGTERM"))
    folder = tempfile.mkdtemp(prefix="ooze-farm-")
    os.chmod(folder, 0o755)
    farm = Farm(folder)
    try:
        check(farm, ooze, source, folder)
    except BaseException:
        for name in ("munged.log", "slurmctld.log", "slurmd.log", "farm/wedge0.log",
                     "farm/wedge1.log"):
            try:
                with open(os.path.join(folder, name)) as f:
                    print("---- %s\n%s" % (name, f.read()[-1500:]))
            except OSError:
                pass
        raise
    finally:
        farm.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    try:
        main()
    except NoSlurm as why:  # a container may not let it; the logs are above
        skip("Slurm is installed but does not come up here: %s" % why)
    except AssertionError as why:
        print("FAILED: %s" % why)
        sys.exit(1)
