"""Groups of annotators with correlated errors, merged into one."""

import numpy as np
import pytest

from blindfuse import (
    DawidSkene,
    Responses,
    fuse,
)
from blindfuse.fusion.merged_groups import MERGED_GROUPS
from blindfuse.metrics import calibration_error, error_rate
from blindfuse.model.posteriors import vote_posteriors
from experiments.awkward_crowds import KINDS
from experiments.skilled_crowds import Family, skilled_crowd
from tests.support.crowds import copiers


def test_a_small_jury_does_not_follow_a_judge_and_its_copy() -> None:
    """Two judges that repeat each other look nearly perfect to EM; here they are merged."""
    errors = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = rng.random(600) < 0.6
        good = rng.random((600, 4)) < [0.9, 0.75, 0.75, 0.65]
        fair = np.where(good, truth[:, None], ~truth[:, None])
        lenient, strict = truth | (rng.random(600) < 0.8), truth & (rng.random(600) < 0.6)
        twin = np.where(rng.random(600) < 0.95, fair[:, 0], ~fair[:, 0])
        jury = np.column_stack([fair, lenient, strict])
        responses = Responses.from_matrix(np.column_stack([jury, twin]))
        fusion = fuse(responses)
        plain = DawidSkene().fit(responses)
        found = fusion.posteriors, plain.posteriors_, vote_posteriors(responses)
        errors.append([error_rate(posteriors, truth.astype(int)) for posteriors in found])
    fused, plain_error, vote = np.mean(errors, axis=0)
    assert fused < 0.75 * plain_error
    assert fused < 0.95 * vote


@pytest.mark.parametrize("seed", range(3))
def test_pairs_inside_merged_groups_do_not_count_as_misfit(seed: int) -> None:
    simulation = copiers(seed)
    fusion = fuse(simulation.responses)
    assert fusion.method == MERGED_GROUPS
    assert fusion.diagnostics.fit.misfit < 2.0  # copying is part of the model
    assert "confidences are lowered" not in fusion.why
    assert calibration_error(fusion.posteriors, simulation.truth) <= 0.03


@pytest.mark.parametrize("seed", range(6))
def test_diagnostics_name_the_groups_that_were_merged(seed: int) -> None:
    """Under the model of merged groups, other pairs may stand out than those that led to it."""
    responses = (
        next(kind for kind in KINDS if kind.family == "judge families").crowd(seed).responses
    )
    fusion = fuse(responses)
    assert fusion.groups
    assert fusion.diagnostics.dependence.groups == fusion.groups
    assert fusion.diagnostics.dependence.merged


@pytest.mark.parametrize("seed", range(3))
def test_copiers_are_merged(seed: int) -> None:
    simulation = copiers(seed)
    fusion = fuse(simulation.responses)
    plain = DawidSkene().fit(simulation.responses)
    assert fusion.method == MERGED_GROUPS
    assert fusion.model.weights is not None
    assert np.all(fusion.model.weights[:9] < 0.8)
    assert np.all(fusion.model.weights[9:] > 0.9)
    errors = [error_rate(p, simulation.truth) for p in (fusion.posteriors, plain.posteriors_)]
    assert errors[0] < errors[1]


@pytest.mark.parametrize(
    ("family", "n_classes", "n_responses", "seed"),
    [
        ("coin", 50, 500, 10),
        ("coin", 20, 2000, 14),
        ("coin", 20, 2000, 16),
        ("class", 50, 100, 17),
    ],
)
def test_independent_experts_are_not_merged(
    family: Family, n_classes: int, n_responses: int, seed: int
) -> None:
    """They agree more than the model near the vote says, which rates them too low."""
    simulation = skilled_crowd(family, n_classes, n_responses, seed)
    fusion = fuse(simulation.responses)
    assert not fusion.groups
    plain = DawidSkene().fit(simulation.responses)
    errors = [error_rate(p, simulation.truth) for p in (fusion.posteriors, plain.posteriors_)]
    assert errors[0] <= 1.02 * errors[1]
