# SPDX-License-Identifier: Apache-2.0
"""The page of the book that is made from the sources: the C API from the public headers.

docs/reference-c.md says what it is about; in the book (conf.py) what is found here follows. Whatever is public must be found: a function
of a header that is not on the page is an error. (The reference of the Python package is part of docs/python.md.)
"""
import pathlib
import re

FRAME = re.compile(r'^(#ifndef KANON_\w+|#define KANON_\w+_H|#include .*|#ifdef __cplusplus|extern "C" \{|\}|#endif)\n', re.M)
SECTION = re.compile(r"/\* ---- (.+?) ---- \*/")
NAME = re.compile(r"\b(kn_\w+)\s*\(|\}\s*(kn_\w+);|typedef struct (kn_\w+) \w+;|\(\*(kn_\w+)\)|#define (KN_\w+)")


def plain(comment):
    """The text of a comment, its lines as they are."""
    text = re.sub(r"^/\*\s?|\s*\*/\s*$", "", comment.strip())
    lines = [re.sub(r"^ ?\* ?", "", line) for line in text.split("\n")]
    return "\n".join(line for line in lines if not line.startswith("SPDX-License")).strip()


def prose(text):
    """Paragraphs, and indented lines as they are. What Markdown would take for markup stays a character."""
    out = []
    for part in re.split(r"\n\s*\n", text):
        if re.match(r"\s{2,}", part):
            out.append("```text\n" + part + "\n```")
        else:
            out.append(re.sub(r"(?<!\\)([<>*_\[\]])", r"\\\1", part))
    return "\n\n".join(out)


def blocks(code):
    """What stands between empty lines: (comment above or "", declaration). An empty line within braces or a comment divides nothing."""
    found, lines, depth, comment = [], [], 0, False
    for line in code.split("\n") + [""]:
        if line.strip() or depth > 0 or comment:
            lines.append(line)
            depth += line.count("{") - line.count("}")
            comment = line.rfind("/*") > line.rfind("*/") or (comment and "*/" not in line)
        elif lines:
            found.append("\n".join(lines))
            lines = []
    return [re.match(r"(/\*(?:[^*]|\*(?!/))*\*/)?\n?(.*)", block, re.S).groups("") for block in found]


def names(code):
    return list(dict.fromkeys(name for match in NAME.finditer(re.sub(r"/\*.*?\*/", "", code, flags=re.S)) for name in match.groups() if name))


def header(path):
    source = path.read_text(encoding="utf-8")
    opening = re.match(r"/\*.*?\*/(?:\n/\*.*?\*/)?", source, re.S)[0]
    title, _, text = plain(opening.split("*/\n/*")[0]).partition("\n")
    about, known = title.partition(": ")[2], set()
    out = [f"## kanon/{path.name}", "", prose((about[:1].upper() + about[1:] + "\n\n" + text.strip("\n")).strip()), ""]
    for comment, code in blocks(FRAME.sub("", source[len(opening):])):
        section = SECTION.fullmatch(comment)
        if section:
            out += [f"**{section[1]}**", ""]
        elif comment:
            out += [prose(plain(comment)), ""]
        if code.strip():
            found = names(code)
            known.update(found)
            out += ["".join(f'<a id="{name}"></a>' for name in found), "", "```c", code.strip("\n"), "```", ""]
    wanted = set(re.findall(r"KN_API[^;(]*?\b(kn_\w+)\(", source))
    if wanted - known:
        raise ValueError(f"{path.name}: not on its page: {', '.join(sorted(wanted - known))}")
    return "\n".join(out)


def c_page(root):
    every = sorted(path for path in (root / "include" / "kanon").glob("*.h") if path.name != "kanon.h")
    return "\n".join(header(path) for path in every)


def extend(app, page, source):
    """The page as it is, and what the headers say."""
    if page == "docs/reference-c":
        source[0] += "\n" + c_page(pathlib.Path(app.srcdir))
