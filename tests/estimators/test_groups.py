"""Groups of annotators as one, compared with the joint responses written out."""

from itertools import product

import numpy as np
import pytest

from blindfuse import DawidSkene, Responses, simulate
from blindfuse.estimators.groups import JointModel, fit_groups, join_groups
from blindfuse.metrics import error_rate
from blindfuse.model.shrinkage import make_shrinkage

GROUPS = [(0, 1, 2), (4, 5)]
WEIGHTS = np.array([0.5, 0.5, 0.5, 1, 0.7, 0.7, 1])


def test_the_responses_of_a_group_are_one_symbol() -> None:
    responses = simulate(200, 7, 3, np.random.default_rng(0), missing=0.4).responses
    joined = join_groups(responses, [np.array(group) for group in GROUPS])
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
    start = np.eye(3)[simulation.truth]
    joint, *_ = fit_groups(Responses.from_matrix(matrix), [tuple(range(8))], np.ones(9), start)
    np.testing.assert_array_equal(joint.groups[0], [3, 4, 5, 6])  # 4⁴ joint symbols are below 1,000


@pytest.mark.parametrize("seed", range(3))
def test_exact_copies_count_as_one_annotator(seed: int) -> None:
    """Two copies as a group give the same result as one of them."""
    simulation = simulate(3000, 5, 2, np.random.default_rng(seed), skill=0.2)
    matrix = np.array(simulation.responses.matrix())
    copied = Responses.from_matrix(np.column_stack([matrix[:, 0], matrix]))
    weights = np.array([0.5, 0.5, 1, 1, 1, 1])
    one = DawidSkene(tolerance=1e-9).fit(matrix).posteriors_
    start = DawidSkene(weights=weights).fit(copied).posteriors_
    joint, posteriors, history = fit_groups(copied, [(0, 1)], weights, start)
    assert np.all(np.diff(history) > -1e-6 * np.abs(history[:-1]))
    assert np.mean(posteriors.argmax(axis=1) != one.argmax(axis=1)) < 0.005
    assert error_rate(posteriors, simulation.truth) <= error_rate(one, simulation.truth) + 0.003
    np.testing.assert_array_equal(joint.annotators.weights, weights)
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


def fitted(seed: int, K: int = 3, missing: float = 0.4) -> tuple[JointModel, np.ndarray, Responses]:
    drawn = simulate(
        400, 7, K, np.random.default_rng(seed), missing=missing, dependent_groups=GROUPS
    )
    start = DawidSkene(weights=WEIGHTS).fit(drawn.responses).posteriors_
    joint, posteriors, _ = fit_groups(drawn.responses, GROUPS, WEIGHTS, start)
    return joint, posteriors, drawn.responses


def joint_probability(joint: JointModel, g: int, reported: tuple[int, ...]) -> np.ndarray:
    """The probability of a joint response in each class, as the docstring says it."""
    known = {
        tuple(one): row
        for one, row in zip(joint.patterns[g].tolist(), joint.probabilities[g], strict=True)
    }
    if reported in known:
        return np.asarray(known[reported])
    equal = [
        row
        for one, row in known.items()
        if all(own in (-1, other) for own, other in zip(reported, one, strict=True))
    ]
    if equal:
        return np.asarray(np.sum(equal, axis=0))
    model, own = joint.annotators, np.ones(len(joint.annotators.prior))
    assert model.weights is not None
    for m, symbol in zip(joint.groups[g], reported, strict=True):
        if symbol >= 0:
            own *= model.confusions[m, symbol] ** model.weights[m]
    return own


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_posteriors_multiply_joint_responses_of_groups(seed: int, K: int, missing: float) -> None:
    """Items of the fit, and new ones with joint responses that the fit had, had in part or not."""
    joint, posteriors, responses = fitted(seed, K, missing)
    np.testing.assert_array_equal(joint.posteriors(responses), posteriors)
    new = simulate(300, 7, K, np.random.default_rng(100 + seed), missing=0.5).responses
    both = np.concatenate([responses.matrix(), new.matrix()])
    expected = np.tile(joint.annotators.prior, (len(both), 1))
    for n, reported in enumerate(both):
        for single, m in enumerate([3, 6]):
            if reported[m] >= 0:
                expected[n] *= joint.singles[single, reported[m]]
        for g, members in enumerate(GROUPS):
            given = tuple(reported[list(members)].tolist())
            if max(given) >= 0:
                expected[n] *= joint_probability(joint, g, given)
    expected /= expected.sum(axis=1, keepdims=True)
    found = joint.posteriors(Responses.from_matrix(both, classes=range(K)))
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_model_of_annotators_counts_each_response_once(seed: int) -> None:
    """Its confusion matrices are those of a model that the posteriors of the fit imply."""
    joint, posteriors, responses = fitted(seed)
    model, matrix = joint.annotators, responses.matrix()
    counts = np.array(
        [[posteriors[matrix[:, m] == k].sum(axis=0) for k in range(3)] for m in range(7)]
    )
    np.testing.assert_allclose(
        model.confusions, make_shrinkage("learned", counts).shrink(counts), atol=1e-6
    )


@pytest.mark.parametrize("copying", [0.5, 0.9])
@pytest.mark.parametrize("K", [2, 4])
def test_missing_members_cost_less_than_weights_per_member_would(K: int, copying: float) -> None:
    """New items lack members that all items of the fit have."""
    weights, errors = np.array([1 / (1 + 2 * copying)] * 3 + [1.0] * 6), []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        options = {"skill": 0.2, "dependent_groups": [(0, 1, 2)], "copy_probability": copying}
        drawn = simulate(5000, 9, K, rng, **options)  # type: ignore[arg-type]
        old, new = np.split(np.array(drawn.responses.matrix()), [3000])
        fit = Responses.from_matrix(old, classes=range(K))
        start = DawidSkene(weights=weights).fit(fit).posteriors_
        joint, *_ = fit_groups(fit, [(0, 1, 2)], weights, start)
        new[:, :3][rng.random((2000, 3)) < 0.5] = -1
        items = Responses.from_matrix(new, classes=range(K))
        found = joint.posteriors(items), joint.annotators.posteriors(items)
        errors.append([error_rate(one, drawn.truth[3000:]) for one in found])
    together, apart = np.mean(errors, axis=0)
    assert together < apart
