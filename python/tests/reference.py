# SPDX-License-Identifier: Apache-2.0
"""python/tests/reference.py: the reference of docs/python.md, from the docstrings. `--update FILE` replaces it there."""

import inspect
import re
import sys

import pykanon

HEADING = "## Reference\n"


def sections() -> str:
    """Functions and classes by name, each with its signature and docstring."""
    parts = []
    for name in sorted(pykanon.__all__, key=lambda one: (one[0].isupper(), one.lower())):
        thing = getattr(pykanon, name)
        if inspect.ismodule(thing) or (inspect.isclass(thing) and issubclass(thing, Exception)):
            continue
        parts.append(section(f"kn.{name}", thing))
        if inspect.isclass(thing):
            for method, one in vars(thing).items():
                if not method.startswith("_") and inspect.getdoc(one) and (callable(one) or isinstance(one, property)):
                    said = " ".join(inspect.getdoc(one).split(">>>")[0].split())
                    parts.append(f"`{method}`: {said.replace('``', '`')}\n")
    parts.append(section("kn.testing.assert_anonymous", pykanon.testing.assert_anonymous))
    parts += [section(f"kn.plot.{name}", getattr(pykanon.plot, name)) for name in pykanon.plot.__all__]
    return "\n".join(parts)


def section(name: str, thing: object) -> str:
    words = ""
    if inspect.isfunction(thing):
        words = "(" + ", ".join(str(one).split(":")[0].split("=")[0] for one in parameters(thing)) + ")"
    text = re.sub(r"``(.*?)``", r"`\1`", inspect.getdoc(thing) or "")
    if ">>>" in text:
        before, example = text.split(">>>", 1)
        text = f"{before.rstrip()}\n\n```python\n>>>{example}\n```"
    return f"### `{name}{words}`\n\n{text}\n"


def parameters(function: object) -> list[object]:
    found: list[object] = []
    starred = False
    for one in inspect.signature(function).parameters.values():
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            found.append("*")
            starred = True
        found.append(one)
    return found


def main() -> None:
    if sys.argv[1:2] == ["--update"]:
        with open(sys.argv[2], encoding="utf-8") as file:
            text = file.read()
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(text[: text.index(HEADING) + len(HEADING)] + "\n" + sections())
    else:
        print(sections())


if __name__ == "__main__":
    main()
