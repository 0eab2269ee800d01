# SPDX-License-Identifier: Apache-2.0
"""Run by `meson dist`: puts the library's sources into the source distribution, where meson.build looks for them."""

import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.path.join(os.environ["MESON_DIST_ROOT"], "subprojects", "kanon")
PARTS = ["meson.build", "meson_options.txt", "LICENSE", "NOTICE", "include", "src"]

listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--", *PARTS], stdout=subprocess.PIPE, text=True, check=True)
for name in listed.stdout.split("\0"):
    if name and not name.startswith("src/cli/"):
        place = os.path.join(TARGET, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, name), place)
