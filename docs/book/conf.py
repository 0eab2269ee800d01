# SPDX-License-Identifier: Apache-2.0
"""The book: the pages of the project as one site (scripts/docs). Pages stay where they are, and are read as they are on the web."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "book"))

project = "kanon"
author = "kanon developers"
copyright = "kanon developers"
release = version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text(encoding="utf-8"))[1]

root_doc = "docs/index"
extensions = ["myst_parser"]
include_patterns = ["docs/*.md", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md",
                    "examples/*/README.md", "bench/README.md", "bench/results.md", "bench/*/README.md"]
exclude_patterns = []
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]

html_theme = "furo"
html_title = "kanon"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False


def place_of(page, target):
    """Where a link leads that is no page of the book: (path from the root, anchor)."""
    path, _, anchor = target.partition("#")
    return (ROOT / page).with_suffix(".md").parent.joinpath(path).resolve() if path else (ROOT / page).with_suffix(".md"), anchor


def resolve(app, env, node, text):
    """Links as they work where the project is browsed: to a folder, which is its README here, or its name if it has none; and to
    an anchor that stands in the text (<a id="...">)."""
    from docutils import nodes  # pylint: disable=import-outside-toplevel

    path, anchor = place_of(node.get("refdoc", ""), node.get("reftarget", ""))
    if path.is_dir():
        if not (path / "README.md").exists():
            return text
        path = path / "README.md"
    if path.suffix != ".md" or not path.is_relative_to(ROOT) or not path.exists():
        return None
    if anchor and f'<a id="{anchor}">' not in path.read_text(encoding="utf-8"):
        return None
    page = str(path.relative_to(ROOT).with_suffix(""))
    uri = app.builder.get_relative_uri(node["refdoc"], page)
    return nodes.reference("", "", text, internal=True, refuri=uri + (f"#{anchor}" if anchor else ""))


def setup(app):
    import reference  # pylint: disable=import-outside-toplevel,import-error

    app.connect("source-read", reference.extend)
    app.connect("missing-reference", resolve)
