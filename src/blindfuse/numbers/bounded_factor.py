"""The one-factor model in which no annotator counts more than the mean of ratings allows."""

from dataclasses import replace

import numpy as np

from blindfuse.numbers.estimate import Estimate
from blindfuse.numbers.factor_em import (
    error_variances_of,
    fit_factor,
    on_crowd_scale,
    posterior_with_noise,
)
from blindfuse.numbers.table import Numbers


def bounded_factor(table: Numbers) -> Estimate:
    """Estimate each item by the one-factor model with weights bounded towards equal ones.

    The noise of an annotator counts as at least the median noise of the crowd. The better half of
    the annotators therefore has equal noise, as in the mean of standardised ratings, and a model
    that finds too little noise in a few annotators cannot let them decide alone.
    """
    unbounded = fit_factor(table)
    noise = unbounded.annotators.noise
    rated = table.ratings_per_annotator > 0
    bounded = np.maximum(noise, np.median(noise[rated]) if rated.any() else 0.0)
    fitted = posterior_with_noise(table, unbounded, bounded)
    estimate = on_crowd_scale(table, fitted, error_variances_of(table, fitted))
    return replace(estimate, annotators=unbounded.annotators)
