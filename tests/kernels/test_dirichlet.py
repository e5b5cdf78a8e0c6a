"""The Dirichlet–multinomial likelihood and its derivatives."""

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from blindfuse.kernels.dirichlet import dirichlet_likelihood


def test_likelihood_and_derivatives_agree_with_special_functions() -> None:
    rng = np.random.default_rng(0)
    counts = rng.gamma(0.5, 20, size=(40, 3, 4)) * (rng.random((40, 3, 4)) < 0.7)
    pseudo = 10 ** rng.uniform(-4, 4, size=(3, 4))
    found = np.empty(4), np.empty((3, 4)), np.empty((3, 4)), np.empty(4), np.empty(4)
    n_responses, total = counts.sum(axis=1), pseudo.sum(axis=0)
    cells = np.ascontiguousarray(counts.transpose(1, 2, 0)), np.ascontiguousarray(n_responses.T)
    dirichlet_likelihood(*cells, pseudo, *found)
    numerator = (gammaln(counts + pseudo) - gammaln(pseudo)).sum(axis=(0, 1))
    expected = (
        numerator - (gammaln(n_responses + total) - gammaln(total)).sum(axis=0),
        (digamma(counts + pseudo) - digamma(pseudo)).sum(axis=0),
        (polygamma(1, pseudo) - polygamma(1, counts + pseudo)).sum(axis=0),
        (digamma(n_responses + total) - digamma(total)).sum(axis=0),
        (polygamma(1, total) - polygamma(1, n_responses + total)).sum(axis=0),
    )
    for actual, desired in zip(found, expected, strict=True):
        np.testing.assert_allclose(actual, desired, rtol=1e-11)
