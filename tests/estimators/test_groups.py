"""Groups of annotators as one, compared with the joint responses written out."""

from itertools import product

import numpy as np
import pytest

from blindfuse import DawidSkene, Responses, simulate
from blindfuse.estimators.groups import fit_groups, join_groups
from blindfuse.metrics import error_rate

GROUPS = [(0, 1, 2), (4, 5)]


def test_the_responses_of_a_group_are_one_symbol() -> None:
    responses = simulate(200, 7, 3, np.random.default_rng(0), missing=0.4).responses
    joined = join_groups(responses, GROUPS)
    before, after = responses.matrix(), joined.responses.matrix()
    np.testing.assert_array_equal(joined.singles, [3, 6])
    np.testing.assert_array_equal(after[:, :2], before[:, [3, 6]])
    for g, members in enumerate(GROUPS):
        for n in range(200):
            reported = before[n, list(members)]
            if np.all(reported < 0):
                assert after[n, 2 + g] == -1
            else:
                np.testing.assert_array_equal(joined.patterns[g][after[n, 2 + g]], reported)


def test_a_large_group_keeps_the_members_with_most_responses() -> None:
    simulation = simulate(300, 9, 3, np.random.default_rng(1))
    matrix = np.array(simulation.responses.matrix())
    matrix[:100, :3] = -1
    joined = join_groups(Responses.from_matrix(matrix), [tuple(range(8))])
    np.testing.assert_array_equal(
        joined.groups[0], [3, 4, 5, 6]
    )  # 4⁴ joint symbols are below 1,000


@pytest.mark.parametrize("seed", range(3))
def test_exact_copies_count_as_one_annotator(seed: int) -> None:
    """Two copies as a group give the same result as one of them."""
    simulation = simulate(3000, 5, 2, np.random.default_rng(seed), skill=0.2)
    matrix = np.array(simulation.responses.matrix())
    copied = Responses.from_matrix(np.column_stack([matrix[:, 0], matrix]))
    weights = np.array([0.5, 0.5, 1, 1, 1, 1])
    one = DawidSkene(tolerance=1e-9).fit(matrix).posteriors_
    start = DawidSkene(weights=weights).fit(copied).posteriors_
    model, posteriors, history = fit_groups(copied, [(0, 1)], weights, start)
    assert np.all(np.diff(history) > -1e-6 * np.abs(history[:-1]))
    assert np.mean(posteriors.argmax(axis=1) != one.argmax(axis=1)) < 0.005
    assert error_rate(posteriors, simulation.truth) <= error_rate(one, simulation.truth) + 0.003
    np.testing.assert_array_equal(model.weights, weights)
    plain = DawidSkene().fit(copied).posteriors_
    assert error_rate(posteriors, simulation.truth) <= error_rate(plain, simulation.truth)


def test_a_group_has_the_probabilities_of_its_joint_responses() -> None:
    """With much data, these are the shares of each joint response in each class."""
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=60_000)
    leader = np.where(rng.random(60_000) < 0.8, truth, 1 - truth)
    copies = rng.random(60_000) < 0.6
    member = np.where(copies, leader, np.where(rng.random(60_000) < 0.7, truth, 1 - truth))
    others = np.where(rng.random((60_000, 6)) < 0.85, truth[:, None], 1 - truth[:, None])
    responses = Responses.from_matrix(np.column_stack([leader, member, others]))
    weights = np.array([0.6, 0.6, *np.ones(6)])
    start = DawidSkene(weights=weights).fit(responses).posteriors_
    _, posteriors, _ = fit_groups(responses, [(0, 1)], weights, start)
    others_right = np.where(others == 1, 0.85, 0.15).prod(axis=1)
    others_wrong = np.where(others == 1, 0.15, 0.85).prod(axis=1)
    for a, b in product(range(2), repeat=2):
        here = (leader == a) & (member == b)
        shares = [np.mean(here[truth == k]) for k in range(2)]
        odds = shares[1] * others_right[here] / (shares[0] * others_wrong[here])
        np.testing.assert_allclose(posteriors[here, 1], odds / (1 + odds), atol=0.05)
