# SPDX-License-Identifier: Apache-2.0
"""pykanon: may I publish this table, and if not, what is the least that I must blur?

>>> import pykanon as kn
>>> people = {"age": [31, 33, 36, 38], "zip": ["47906", "47905", "47301", "47304"], "diagnosis": list("abab")}
>>> kn.diagnose(people, qi=["age", "zip"], k=2).holds
False
>>> rel = kn.anonymize(people, qi={"age": kn.ranges(5, 10), "zip": kn.mask("right")}, sensitive="diagnosis", k=2)
>>> rel.k
2
"""

from . import plot, testing
from ._api import (
    Diagnosis,
    Draft,
    advise,
    anonymize,
    apply,
    attack,
    build_hierarchy,
    demonstrate_attack,
    dependencies,
    diagnose,
    explain,
    frontier,
    generate,
    init,
    measure,
    methods,
    metrics,
    models,
    profile,
    risk,
    show_hierarchy,
    suggest_hierarchy,
    verify,
)
from ._data import ArrowStream, Records, options
from ._document import Document, schema
from ._errors import (
    Busy,
    InputError,
    InternalError,
    KanonError,
    NoRelease,
    OutOfMemory,
    SystemFailure,
    Undecided,
    UsageError,
)
from ._kanon import version as _version
from ._release import Page, Recipe, Release
from ._spec import Hierarchy, Spec, breaks, calendar, hierarchy, mask, prefix, ranges, suppress, taxonomy

__version__ = _version()

__all__ = [
    "ArrowStream",
    "Busy",
    "Diagnosis",
    "Document",
    "Draft",
    "Hierarchy",
    "InputError",
    "InternalError",
    "KanonError",
    "NoRelease",
    "OutOfMemory",
    "Page",
    "Recipe",
    "Records",
    "Release",
    "Spec",
    "SystemFailure",
    "Undecided",
    "UsageError",
    "advise",
    "anonymize",
    "apply",
    "attack",
    "breaks",
    "build_hierarchy",
    "calendar",
    "demonstrate_attack",
    "dependencies",
    "diagnose",
    "explain",
    "frontier",
    "generate",
    "hierarchy",
    "init",
    "mask",
    "measure",
    "methods",
    "metrics",
    "models",
    "options",
    "plot",
    "prefix",
    "profile",
    "ranges",
    "risk",
    "schema",
    "show_hierarchy",
    "suggest_hierarchy",
    "suppress",
    "taxonomy",
    "testing",
    "verify",
]
