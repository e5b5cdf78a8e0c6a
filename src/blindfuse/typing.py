"""Types of arrays; docstrings give their axes, as in ``posteriors[item, class]``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Names, labels or numbers of any type."""
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
"""Whether something holds."""
Codes = NDArray[np.intp]
"""Positions, such as those of items, annotators or classes."""
Integers = NDArray[np.integer[Any]]
"""Integers of any size: counts, and codes in the smallest type that holds them."""
