"""fetch.py VERSION PLATFORM FILE: downloads the newest production build of a Houdini version with a
SideFX API key.

SIDEFX_CLIENT_ID and SIDEFX_CLIENT_SECRET hold the key (sidefx.com, Services, Manage API access).
Prints the full version, such as 21.0.440. What was downloaded must have the size and the checksum
that SideFX states. SPDX-License-Identifier: Apache-2.0
"""
import base64
import hashlib
import json
import os
import sys
import urllib.parse
import urllib.request

SITE = os.environ.get("SIDEFX_SITE", "https://www.sidefx.com")  # another one for the test


def post(path, headers, fields=None):
    data = urllib.parse.urlencode(fields or {}).encode()
    with urllib.request.urlopen(urllib.request.Request(SITE + path, data=data, headers=headers),
                                timeout=60) as answer:
        return json.load(answer)


def call(token, name, **arguments):
    return post("/api/", {"Authorization": "Bearer " + token},
                {"json": json.dumps([name, [], arguments])})


def main():
    if len(sys.argv) != 4:
        sys.exit("fetch.py VERSION PLATFORM FILE, such as 21.0 linux_x86_64_gcc11.2 hou.tar.gz")
    version, platform, file = sys.argv[1:]
    key = "%s:%s" % (os.environ["SIDEFX_CLIENT_ID"], os.environ["SIDEFX_CLIENT_SECRET"])
    token = post("/oauth2/application_token",
                 {"Authorization": "Basic "
                  + base64.b64encode(key.encode()).decode()})["access_token"]
    builds = call(token, "download.get_daily_builds_list", product="houdini", version=version,
                  platform=platform, only_production=True)
    good = [b for b in builds if b["status"] == "good" and b["version"] == version]
    if not good:
        sys.exit("fetch.py: SideFX has no production build of Houdini %s for %s"
                 % (version, platform))
    newest = max(good, key=lambda b: int(b["build"]))
    found = call(token, "download.get_daily_build_download", product="houdini", version=version,
                 build=newest["build"], platform=newest["platform"])
    md5, size = hashlib.md5(), 0
    with urllib.request.urlopen(found["download_url"], timeout=600) as source, open(file,
        "wb") as target:
        for part in iter(lambda: source.read(1 << 20), b""):
            md5.update(part)
            size += len(part)
            target.write(part)
    if md5.hexdigest() != found["hash"] or size != int(found["size"]):
        os.remove(file)
        sys.exit("fetch.py: %s came damaged: %d bytes of %s"
                 % (found["filename"], size, found["size"]))
    print("%s.%s" % (version, newest["build"]))


if __name__ == "__main__":
    main()
