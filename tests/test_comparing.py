"""Every method side by side."""

import numpy as np
import pytest

import blindfuse
from blindfuse import Responses, compare, fuse, simulate
from blindfuse.comparing import METHODS
from blindfuse.estimators.base import Estimator
from blindfuse.metrics import error_rate


def test_every_public_method_has_a_name() -> None:
    public = {getattr(blindfuse, name) for name in blindfuse.__all__}
    methods = {one for one in public if isinstance(one, type) and issubclass(one, Estimator)}
    named = {type(make()) for make in METHODS.values()}
    assert named == methods - {blindfuse.Oracle, blindfuse.SingleBest}


def test_errors_and_differences_are_those_of_each_method() -> None:
    simulation = simulate(800, 6, 2, np.random.default_rng(0), skill=0.4, missing=0.2)
    responses, known = simulation.responses, slice(100, 400)
    truth = dict(zip(range(100, 400), simulation.truth[known].tolist(), strict=True))
    told: list[str] = []
    rows = compare(responses, truth, report=told.append)
    assert [row.method for row in rows] == ["fuse", *METHODS] == told
    fused = fuse(responses)
    assert rows[0].error == error_rate(fused.posteriors[known], simulation.truth[known])
    assert rows[0].differs == 0
    by_name = {row.method: row for row in rows}
    for name in ("MajorityVote", "DawidSkene", "ItemKinds"):
        fitted = METHODS[name]().fit(responses)
        expected = error_rate(fitted.posteriors_[known], simulation.truth[known])
        assert by_name[name].error == expected
        codes = fitted.posteriors_.argmax(axis=1) != fused.posteriors.argmax(axis=1)
        assert by_name[name].differs == np.mean(codes)
    assert all(row.seconds > 0 for row in rows)


def test_without_a_truth_there_is_no_error_but_the_difference() -> None:
    rows = compare([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 1]], methods={})
    assert (rows[0].error, rows[0].differs) == (None, 0.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_method_that_cannot_says_why(classes: int) -> None:
    rng = np.random.default_rng(1)
    answers = Responses.from_matrix(rng.integers(classes, size=(50, 2)))
    failed = {row.method: row.failed for row in compare(answers) if row.failed}
    assert {"BlindEnsemble", "EigenRatio"} <= failed.keys()
    assert "fuse" not in failed
    assert all(reason.endswith(".") for reason in failed.values() if reason)
