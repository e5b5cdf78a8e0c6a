"""Simulated ratings of the one-factor model, with the truth and the best possible estimates."""

from dataclasses import dataclass

import numpy as np

from blindfuse.numbers.factor_model import AnnotatorFit, CrowdPrior, posteriors
from blindfuse.numbers.table import Numbers
from blindfuse.typing import Floats


@dataclass(frozen=True, eq=False)
class NumberSimulation:
    """Ratings x = bias + scale · truth + noise, and what they were drawn from.

    The truth has mean 0 and variance 1. ``bias``, ``scale`` and ``noise`` (a standard deviation)
    are ``[annotator]``.
    """

    numbers: Numbers
    truth: Floats
    bias: Floats
    scale: Floats
    noise: Floats

    def oracle(self) -> tuple[Floats, Floats]:
        """Return the posterior mean and variance ``[item]`` of the truth, given all parameters."""
        certain = np.zeros((len(self.bias), 3))
        fit = AnnotatorFit(self.bias, self.scale, self.noise**2, certain, CrowdPrior())
        return posteriors(self.numbers, fit)


def simulate_numbers(
    n_items: int,
    n_annotators: int,
    *,
    missing: float = 0.5,
    useless: float = 0.2,
    reversed_share: float = 0.1,
    seed: int = 0,
) -> NumberSimulation:
    """Draw ratings of the one-factor model.

    Biases are normal with standard deviation ½, scales uniform between ½ and 3/2, noise log-uniform
    between ½ and 3/2. A share ``useless`` of the annotators has scale 0, and a share
    ``reversed_share``, rounded up unless it is zero, the negative scale. A rating is missing with
    probability ``missing``.
    """
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n_items)
    truth = (truth - truth.mean()) / truth.std()
    bias = rng.normal(0, 0.5, n_annotators)
    scale = rng.uniform(0.5, 1.5, n_annotators)
    noise = np.exp(rng.uniform(np.log(0.5), np.log(1.5), n_annotators))
    n_useless = round(useless * n_annotators)
    n_reversed = int(np.ceil(reversed_share * n_annotators))
    order = rng.permutation(n_annotators)
    scale[order[:n_useless]] = 0.0
    scale[order[n_useless : n_useless + n_reversed]] *= -1
    ratings = bias + scale * truth[:, None] + noise * rng.normal(size=(n_items, n_annotators))
    present = rng.random(ratings.shape) >= missing
    numbers = Numbers.from_matrix(np.where(present, ratings, np.nan))
    return NumberSimulation(numbers, truth, bias, scale, noise)
