"""release.py OOZE SOURCE: the workflows build the Houdinis that the package serves, and fetch.py
takes the right build from a server that answers like SideFX's and refuses a damaged one.
SPDX-License-Identifier: Apache-2.0
"""
import base64
import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse

import report

source = os.path.abspath(sys.argv[2])
problems = []
CONTENT = b"a Houdini of 3 MB" * 180000


def expect(condition, text):
    if not condition:
        problems.append(text)


def read(path):
    with open(os.path.join(source, path)) as f:
        return f.read()


class Server(http.server.BaseHTTPRequestHandler):
    hash = hashlib.md5(CONTENT).hexdigest()
    asked = []

    def log_message(self, *_):
        pass

    def answer(self, data):
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(CONTENT)

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        fields = urllib.parse.parse_qs(self.rfile.read(length).decode())
        if self.path == "/oauth2/application_token":
            if self.headers["Authorization"] != "Basic " + base64.b64encode(b"me:secret").decode():
                return self.send_error(401)
            return self.answer(b'{"access_token": "word", "expires_in": 3600}')
        if self.headers["Authorization"] != "Bearer word":
            return self.send_error(401)
        name, _, arguments = json.loads(fields["json"][0])
        Server.asked.append((name, arguments))
        # text sorts 99 after 440, and the newest may be bad
        if name == "download.get_daily_builds_list":
            builds = [{"build": b, "version": "21.0", "platform": "linux_x86_64_gcc11.2",
                       "status": s} for b, s in
                      (("99", "good"), ("440", "good"), ("512", "bad"))]
            return self.answer(json.dumps(builds).encode())
        url = "http://127.0.0.1:%d/file" % self.server.server_port
        return self.answer(json.dumps({"download_url": url, "filename": "houdini.tar.gz",
                                       "hash": Server.hash, "size": len(CONTENT)}).encode())


def check_fetch(folder):
    server = http.server.HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = os.path.join(folder, "hou.tar.gz")

    def fetch(secret="secret", version="21.0"):
        return subprocess.run([sys.executable, "-B",
                               os.path.join(source, ".github/houdini/fetch.py"), version,
                               "linux_x86_64_gcc11.2", file],
                              env=dict(os.environ, SIDEFX_SITE="http://127.0.0.1:%d"
                                       % server.server_port, SIDEFX_CLIENT_ID="me",
                                       SIDEFX_CLIENT_SECRET=secret, no_proxy="*"),
                              capture_output=True, text=True)
    done = fetch()
    expect(done.returncode == 0 and done.stdout.strip() == "21.0.440", "fetch: %s %s"
           % (done.stdout, done.stderr))
    with open(file, "rb") as f:
        expect(f.read() == CONTENT, "fetch: another file came")
    expect(Server.asked[-1][1] == {"product": "houdini", "version": "21.0", "build": "440",
                                   "platform": "linux_x86_64_gcc11.2"}, "fetch asked %s"
                                   % Server.asked[-1:])
    expect(fetch(secret="wrong").returncode != 0, "a wrong key was taken")
    done = fetch(version="22.0")
    expect(done.returncode != 0 and "no production build of Houdini 22.0" in done.stderr, "fetch: "
           + done.stderr)
    Server.hash = "0" * 32
    done = fetch()
    expect(done.returncode != 0 and "came damaged" in done.stderr and not os.path.exists(file),
           "a damaged file was kept: " + done.stderr)
    server.shutdown()


def check_matrix():
    workflow = read(".github/workflows/houdini.yml")
    package = read("hdk_plugin/package/packages/ooze.json.in")
    served = sorted(re.findall(r"\$OOZE/(\w+-[\d.]+)", package))
    built = ["linux-" + v for v in re.findall(r'houdini: "([\d.]+)", platform', workflow)]
    for system in ("windows", "macos"):
        job = workflow[workflow.index("\n  %s:" % system):]
        built += ["%s-%s" % (system, v) for v in re.findall(r'"([\d.]+)"',
            re.search(r"houdini: \[(.*)\]", job).group(1))]
    expect(served == sorted(built), "the package serves %s, the workflow builds %s"
           % (served, sorted(built)))
    expect(".ci/run" in read(".github/workflows/ci.yml"), "ci.yml does not run .ci/run")
    commands = re.findall(r"^  ([a-z]+)\) ", read("dev"), re.M)
    for command in re.search(r"command: \[(.*)\]",
                             read(".github/workflows/ci.yml")).group(1).replace('"', "").split(","):
        expect(command.split()[0] in commands, "there is no ./dev %s" % command)


with tempfile.TemporaryDirectory() as place:
    check_fetch(place)
check_matrix()
report.end("release", problems,
           "the matrix fits the package; fetch.py takes the newest good build and checks it")
