"""A Dirichlet prior for the class probabilities, learned from the numbers of items per class.

π ~ Dirichlet(c/K, …, c/K). The strength c is learned by maximum marginal likelihood of expected
counts, as in :mod:`blindfuse.model.annotator_prior`. Where few items per class show no difference
between classes, π is then nearly uniform; where classes differ, it is what the items say.
"""

import numpy as np
from scipy.special import gammaln

from blindfuse.model.annotator_prior import best_strength
from blindfuse.typing import Floats


def learn_class_pseudo_count(totals: Floats) -> float:
    """Return c/K, the pseudo-count per class, from expected numbers of items ``totals[class]``."""
    K = len(totals)
    # Last digits depend on the order of items.
    counts = np.round(totals, 6)

    def log_likelihood(c: float) -> float:
        classes = gammaln(counts + c / K).sum() - K * gammaln(c / K)
        return float(classes + gammaln(c) - gammaln(counts.sum() + c))

    return best_strength(log_likelihood) / K
