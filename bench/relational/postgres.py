"""A PostgreSQL server of one's own in a temporary folder, reached through a socket in it; gone at the end."""
import glob
import os
import pwd
import shutil
import subprocess
import tempfile
import time


def programs():
    """The folder with initdb and postgres; None: there is none."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda p: float(p.split("/")[4]), reverse=True)
    found = shutil.which("initdb")
    for folder in folders + ([os.path.dirname(os.path.realpath(found))] if found else []):
        if all(os.access(os.path.join(folder, name), os.X_OK) for name in ("initdb", "postgres")):
            return folder
    return None


def owner():
    """Servers refuse to run as root: the user to run one as; None: as we are."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


class Server:
    """`uri` is where it is; a RuntimeError says why there is none."""

    def __enter__(self):
        where, user = programs(), owner()
        if not where or not shutil.which("psql"):
            raise RuntimeError("there is no PostgreSQL server program")
        self.folder = tempfile.mkdtemp(prefix="kanon-bench-")
        data = os.path.join(self.folder, "data")
        extra = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        if user:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        environment = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC")
        self.uri = f"postgresql:///postgres?host={self.folder}&user=kanon"
        self.server = None
        try:
            subprocess.run([os.path.join(where, "initdb"), "-D", data, "-U", "kanon", "-A", "trust", "-E", "UTF8",
                            "--no-sync"], check=True, capture_output=True, cwd="/", env=environment, **extra)
            with open(os.path.join(self.folder, "log"), "wb") as log:
                self.server = subprocess.Popen(
                    [os.path.join(where, "postgres"), "-D", data, "-k", self.folder, "-c", "listen_addresses=", "-c",
                     "fsync=off", "-c", "full_page_writes=off", "-c", "max_wal_size=4GB"], stdout=log, stderr=log, cwd="/",
                    env=environment, **extra)
            for _ in range(200):
                ready = subprocess.run(["psql", self.uri, "-qAtXc", "SELECT 1"], capture_output=True, check=False)
                if ready.returncode == 0:
                    return self
                time.sleep(0.1)
        except (OSError, subprocess.CalledProcessError):
            pass
        self.__exit__()
        raise RuntimeError("the PostgreSQL server does not start")

    def __exit__(self, *_):
        if self.server:
            self.server.terminate()
            self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
