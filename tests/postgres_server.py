# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of its own on a free loopback port, for tests and benchmarks. Everything lives in the folder it is given."""
import glob
import os
import pwd
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

PASSWORD = "open-sesame-47"


def programs():
    """The folder with initdb and postgres; None: there is none."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda p: float(p.split("/")[4]), reverse=True)
    found = shutil.which("initdb")
    for folder in folders + ([os.path.dirname(os.path.realpath(found))] if found else []):
        if all(os.access(os.path.join(folder, name), os.X_OK) for name in ("initdb", "postgres")):
            return folder
    return None


def drop_root():
    """Servers refuse to run as root: the user to run one as; None: as we are."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


def start(bin_folder, folder, user, *options):
    data = os.path.join(folder, "data")
    secret = os.path.join(folder, "secret")
    with open(secret, "w") as f:
        f.write(PASSWORD + "\n")
    if user:
        os.chown(folder, user.pw_uid, user.pw_gid)
        os.chown(secret, user.pw_uid, user.pw_gid)
    extra = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    environment = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC")
    subprocess.run([os.path.join(bin_folder, "initdb"), "-D", data, "-U", "kanon", "-A", "scram-sha-256", "--pwfile",
                    secret, "-E", "UTF8", "--no-sync"], check=True, stdout=subprocess.DEVNULL, cwd="/", env=environment,
                   **extra)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    log = open(os.path.join(folder, "log"), "wb")
    server = subprocess.Popen([os.path.join(bin_folder, "postgres"), "-D", data, "-p", str(port), "-k", folder,
                               "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off",
                               *options],
                              stdout=log, stderr=log, cwd="/", env=environment, **extra)
    for _ in range(10 * harness.PATIENCE):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            if subprocess.run(["psql", uri(port), "-qAtc", "SELECT 1"], capture_output=True).returncode == 0:
                return server, port
        except OSError:
            pass
        if server.poll() is not None:
            break
        time.sleep(0.1)  # until it answers
    log.flush()
    with open(os.path.join(folder, "log"), "rb") as f:
        sys.exit("the server did not start: " + f.read().decode("utf-8", "replace"))


def uri(port, password=PASSWORD, database="postgres"):
    return f"postgresql://kanon:{password}@127.0.0.1:{port}/{database}"
