import numpy as np
import pytest

from experiments.results import RunSummary
from experiments.theorems import slope


def test_the_slope_of_a_power_is_its_exponent() -> None:
    powers = {float(x): RunSummary(3 * x**-0.5, 0, 1) for x in (10, 100, 1000)}
    assert slope(powers, log_x=True) == pytest.approx(-0.5)
    exponentials = {float(x): RunSummary(np.exp(-0.2 * x), 0, 1) for x in (1, 2, 5)}
    assert slope(exponentials, log_x=False) == pytest.approx(-0.2)
