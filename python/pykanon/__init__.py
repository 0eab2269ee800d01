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

from . import _api, _data, _document, _errors, _release, _spec, _studio, plot, testing
from ._api import *
from ._data import *
from ._document import *
from ._errors import *
from ._kanon import version as _version
from ._release import *
from ._spec import *
from ._studio import *

__version__ = _version()

__all__ = ["plot", "testing"]
__all__ += _api.__all__
__all__ += _data.__all__
__all__ += _document.__all__
__all__ += _errors.__all__
__all__ += _release.__all__
__all__ += _spec.__all__
__all__ += _studio.__all__
