"""The one-factor model with t-distributed noise, for ratings with outliers."""

from blindfuse.numbers.estimate import Estimate
from blindfuse.numbers.factor_em import fit_factor, on_crowd_scale
from blindfuse.numbers.table import Numbers

DEGREES_OF_FREEDOM = 4.0
"""The conventional choice where too few outliers are seen to estimate it (Lange et al.)."""


def robust_factor(table: Numbers) -> Estimate:
    """Estimate each item by the one-factor model with t-distributed noise.

    A rating far from the estimate counts less: its weight is (ν + 1)/(ν + r²/s²) for a residual r
    and ν degrees of freedom.

    Lange, Little and Taylor (1989), "Robust Statistical Modeling Using the t Distribution".
    """
    fitted = fit_factor(table, DEGREES_OF_FREEDOM)
    return on_crowd_scale(table, fitted, fitted.v, DEGREES_OF_FREEDOM)
