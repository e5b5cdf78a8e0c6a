"""The one-factor model: bias, scale and noise per annotator, shrunk towards the crowd."""

from blindfuse.numbers.estimate import Estimate
from blindfuse.numbers.factor_em import error_variances_of, fit_factor, on_crowd_scale
from blindfuse.numbers.table import Numbers


def one_factor(table: Numbers) -> Estimate:
    """Estimate each item by the posterior mean of the one-factor model, fitted by EM."""
    fitted = fit_factor(table)
    return on_crowd_scale(table, fitted, error_variances_of(table, fitted))
