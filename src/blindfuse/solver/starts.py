"""Random starts of Algorithm 1 (step 2)."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def random_start(
    n_annotators: int, n_classes: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw confusion matrices and prior uniformly from their simplices."""
    columns = rng.dirichlet(np.ones(n_classes), size=(n_annotators, n_classes))
    return columns.transpose(0, 2, 1).copy(), rng.dirichlet(np.ones(n_classes))
