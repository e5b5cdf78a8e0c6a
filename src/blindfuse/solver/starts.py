"""Random starts of Algorithm 1 (step 2)."""

import numpy as np

from blindfuse.typing import Floats


def random_start(shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw confusion matrices and prior uniformly from their simplices.

    ``shape`` holds the numbers of annotators, symbols and classes.
    """
    n_annotators, n_symbols, n_classes = shape
    columns = rng.dirichlet(np.ones(n_symbols), size=(n_annotators, n_classes))
    return columns.transpose(0, 2, 1).copy(), rng.dirichlet(np.ones(n_classes))
