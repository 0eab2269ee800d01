# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of its own on a free loopback port, for tests and benchmarks. Everything lives in the folder it is given."""
import glob
import os
import pwd
import shutil
import socket
import subprocess
import sys
import threading
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


class Proxy:
    """Passes everything on until the client says `word`; then it calls `act`, and the connections end."""

    def __init__(self, port, word, act):
        self.port, self.word, self.act, self.reached = port, word, act, threading.Event()
        self.sockets = []
        self.door = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.door.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.port))
            self.sockets += [client, server]
            for source, target, watched in (client, server, True), (server, client, False):
                threading.Thread(target=self.pass_on, args=(source, target, watched), daemon=True).start()

    def pass_on(self, source, target, watched):
        seen = b""
        while not self.reached.is_set():
            try:
                data = source.recv(65536)
                seen = (seen + data)[-100000:] if watched else b""
                if self.word in seen:
                    self.reached.set()
                    self.act()
                    self.close()
                    return
                if not data:
                    target.shutdown(socket.SHUT_WR)
                    return
                target.sendall(data)
            except OSError:
                return

    def close(self):
        for s in [self.door, *self.sockets]:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()
