"""Algorithm 1: blocks, sweeps, acceleration, groups."""

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, minimize

from blindfuse import MomentCounts, Moments, NotConverged, NotIdentifiable, Responses, simulate
from blindfuse.kernels.sweeps import admm, invert, quadratic
from blindfuse.model.ordering import CanonicalOrder
from blindfuse.model.posteriors import count_votes
from blindfuse.model.shrinkage import vote_confusions
from blindfuse.responses.patterns import panels, response_patterns
from blindfuse.solver.acceleration import Anderson, Plain
from blindfuse.solver.alternate import alternate
from blindfuse.solver.factors import Factors
from blindfuse.solver.problem import LabelProblem, MomentProblem, Settings
from blindfuse.solver.solve import Options, Solution, solve
from blindfuse.solver.starts import random_start

Floats = NDArray[np.float64]


def crowd(seed: int, n: int = 400, m: int = 6, k: int = 3, missing: float = 0.3) -> Responses:
    return simulate(n, m, k, np.random.default_rng(seed), missing=missing).responses


def factors_at_random(responses: Responses, seed: int) -> Factors:
    rng = np.random.default_rng(seed)
    return Factors.begin(*random_start(responses.n_annotators, responses.n_classes, rng))


def both_problems(responses: Responses) -> tuple[MomentProblem, LabelProblem]:
    moments = MomentCounts.count(responses).moments()
    return MomentProblem(moments, "counts"), LabelProblem(responses)


def quietly(responses: Responses, options: Options, seed: int = 0) -> Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return solve(responses, options, np.random.default_rng(seed))


def quadratic_programs(count: int) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Random blocks: a Gram matrix, a target, and a starting point with rows on the simplex."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        root = rng.normal(size=(5, 3))
        yield root.T @ root, rng.normal(size=(3, 3)), rng.dirichlet(np.ones(3), size=3)


def test_invert() -> None:
    for gram, _, _ in quadratic_programs(5):
        shifted = gram + np.eye(3)
        inverse = shifted.copy()
        invert(inverse)
        np.testing.assert_allclose(inverse @ shifted, np.eye(3), atol=1e-10)


def test_admm_finds_the_constrained_minimum_of_a_block() -> None:
    rows = LinearConstraint(np.kron(np.eye(3), np.ones(3)), 1, 1)
    for gram, target, block in quadratic_programs(10):
        best = minimize(
            lambda x, gram=gram, target=target: quadratic(gram, target, x.reshape(3, 3)),
            block.ravel(),
            method="SLSQP",
            bounds=[(0, 1)] * 9,
            constraints=rows,
            options={"ftol": 1e-14, "maxiter": 500},
        )
        found, dual = block.copy(), np.zeros((3, 3))
        for _ in range(100):
            admm(gram, target, found, dual, 1e-7, 100)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert quadratic(gram, target, found) == pytest.approx(best.fun, abs=1e-6)


def test_admm_finds_the_constrained_minimum_of_a_prior() -> None:
    grid = np.array([[i, j, 100 - i - j] for i in range(101) for j in range(101 - i)]) / 100
    for gram, target, block in quadratic_programs(5):
        found, dual = block[0].reshape(3, 1).copy(), np.zeros((3, 1))
        right = target[:, :1].copy()
        for _ in range(100):
            admm(gram, right, found, dual, 1e-7, 100)
        values = 0.5 * np.einsum("gi,ij,gj->g", grid, gram, grid) - grid @ right[:, 0]
        assert quadratic(gram, right, found) <= values.min() + 1e-9


@pytest.mark.parametrize("inner", [1, 2, 5])
def test_admm_never_returns_a_worse_block(inner: int) -> None:
    for gram, target, block in quadratic_programs(50):
        before = quadratic(gram, target, block)
        dual = np.random.default_rng(0).normal(size=(3, 3))
        admm(gram, target, block, dual, 1e-6, inner)
        assert quadratic(gram, target, block) <= before


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_moments_and_labels_give_the_same_sweeps(missing: float, classes: int) -> None:
    responses = crowd(classes, k=classes, missing=missing)
    explicit, direct = both_problems(responses)
    one, other = factors_at_random(responses, 0), factors_at_random(responses, 0)
    for _ in range(20):
        with_constant = explicit.sweep(one, Settings())
        without = direct.sweep(other, Settings())
        assert with_constant - explicit.constant == pytest.approx(without, abs=1e-9)
    np.testing.assert_allclose(one.values, other.values, atol=1e-8)
    np.testing.assert_allclose(one.multipliers, other.multipliers, atol=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_moments_and_labels_give_the_same_model(classes: int, missing: float) -> None:
    """Without acceleration, which amplifies rounding along flat directions of the objective."""
    responses = crowd(5, n=2000, k=classes, missing=missing)
    plain = Options(acceleration=None, tolerance=0.0, max_sweeps=500)
    one = quietly(responses, replace(plain, moments="counts"))
    other = quietly(responses, replace(plain, moments="labels"))
    np.testing.assert_allclose(one.confusions, other.confusions, atol=1e-8)
    np.testing.assert_allclose(one.prior, other.prior, atol=1e-8)


@pytest.mark.parametrize("weights", ["counts", "equal"])
def test_the_objective_of_a_sweep_is_that_of_the_moments(weights: str) -> None:
    responses = crowd(3)
    moments = MomentCounts.count(responses).moments()
    problem = MomentProblem(moments, weights)
    factors = factors_at_random(responses, 1)
    for _ in range(3):
        objective = problem.sweep(factors, Settings())
        by_definition = moments.objective(factors.confusions, factors.prior, weights)
        assert objective == pytest.approx(by_definition, rel=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_proposition_1_the_plain_objective_never_rises(seed: int, missing: float) -> None:
    responses = crowd(seed, missing=missing)
    for problem in both_problems(responses):
        _, trace = alternate(
            problem, factors_at_random(responses, seed), Settings(), Plain(), 200, 0.0
        )
        assert np.all(np.diff(trace.objective) <= 1e-12 * np.abs(trace.objective[1:]))
        assert trace.objective[-1] < trace.objective[0]


@pytest.mark.parametrize("seed", range(5))
def test_population_moments_are_matched_exactly(seed: int) -> None:
    """Lemma 1: from the moments of the model itself, Algorithm 1 finds the model."""
    truth = simulate(1, 4, 3, np.random.default_rng(seed), skill=0.3).model
    moments = population_moments(truth.confusions, truth.prior)
    start = Factors.begin(0.7 * truth.confusions + 0.1, np.full(3, 1 / 3))
    problem = MomentProblem(moments, "counts")
    found, trace = alternate(problem, start, Settings(), Anderson(), 5000, 1e-12)
    assert trace.objective.min() < 1e-12
    np.testing.assert_allclose(found.confusions, truth.confusions, atol=1e-3)
    np.testing.assert_allclose(found.prior, truth.prior, atol=1e-3)


def population_moments(confusions: Floats, prior: Floats) -> Moments:
    M = len(confusions)
    cross = [(confusions[i] * prior) @ confusions[j].T for i, j in combinations(range(M), 2)]
    third = [
        np.einsum("k,ak,bk,ck->abc", prior, confusions[i], confusions[j], confusions[l])
        for i, j, l in combinations(range(M), 3)
    ]
    ones = [np.ones(size, dtype=np.int64) for size in (M, len(cross), len(third))]
    return Moments(1, confusions @ prior, np.array(cross), np.array(third), *ones)


@pytest.mark.parametrize("seed", range(3))
def test_acceleration_reaches_the_same_objective_in_far_fewer_sweeps(seed: int) -> None:
    responses = simulate(20_000, 8, 3, np.random.default_rng(seed), skill=0.2).responses
    fast = quietly(responses, Options(tolerance=1e-6))
    plain = quietly(responses, Options(acceleration=None, tolerance=1e-9, max_sweeps=20_000))
    assert fast.trace.objective.min() <= 1.001 * plain.trace.objective.min()
    assert fast.trace.sweeps * 5 < plain.trace.sweeps


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_without_a_tolerance_sweeps_end_within_noise_of_the_minimum(
    seed: int, missing: float
) -> None:
    """N h_N is a sum of squares of about one half for each moment: a tenth of one is nothing."""
    responses = crowd(seed, n=2000, missing=missing)
    tight = quietly(responses, Options(tolerance=1e-9, max_sweeps=5000, moments="counts"))
    for moments in ("counts", "labels"):
        found = quietly(responses, Options(moments=moments))
        at = MomentCounts.count(responses).moments().objective(found.confusions, found.prior)
        assert 2000 * (at - tight.trace.objective.min()) < 0.1


def test_the_best_of_several_random_starts_is_kept() -> None:
    responses = crowd(1, n=3000)
    objectives = [
        quietly(responses, Options(start="random", restarts=1), seed).trace.objective.min()
        for seed in range(6)
    ]
    best_of_six = quietly(responses, Options(start="random", restarts=30)).trace.objective.min()
    assert best_of_six <= np.median(objectives) * (1 + 1e-6)


def test_the_trace_tells_why_it_stopped() -> None:
    responses = crowd(2, n=5000)
    converged = quietly(responses, Options(tolerance=1e-6))
    assert converged.trace.stopped == "converged"
    assert converged.trace.change[-1] < 1e-6
    at_noise = quietly(responses, Options())
    assert at_noise.trace.stopped == "stalled"
    assert at_noise.trace.sweeps < converged.trace.sweeps
    with pytest.warns(NotConverged, match="the limit of sweeps was reached"):
        cut = solve(responses, Options(max_sweeps=12), np.random.default_rng(0))
    assert cut.trace.stopped == "max_sweeps"
    assert cut.trace.sweeps == 12 == len(cut.trace.seconds) == len(cut.trace.change)
    assert np.all(cut.trace.seconds > 0)


def test_patterns_are_the_distinct_rows_and_panels_the_distinct_sets() -> None:
    responses = crowd(0, n=3000, m=5, missing=0.5)
    matrix = responses.matrix()
    for patterns, rows in (
        (response_patterns(responses), matrix),
        (panels(responses), np.where(matrix >= 0, 0, -1)),
    ):
        starts, annotators, labels = patterns.by_pattern
        found: dict[tuple[int, ...], int] = {}
        for pattern, size in enumerate(patterns.sizes.tolist()):
            row = np.full(5, -1)
            part = slice(starts[pattern], starts[pattern + 1])
            row[annotators[part]] = labels[part]
            found[tuple(row.tolist())] = size
        assert found == Counter(tuple(row) for row in rows.tolist())


def test_complete_answers_are_one_panel() -> None:
    assert panels(crowd(0, missing=0.0)).sizes.tolist() == [400]


def test_the_order_of_annotators_and_classes_does_not_depend_on_numbering() -> None:
    responses = crowd(4, m=8, missing=0.5)
    rng = np.random.default_rng(1)
    annotators, classes = rng.permutation(8), rng.permutation(3)
    moved = responses.recoded(responses.annotators[annotators], responses.classes[classes])
    one, other = (
        CanonicalOrder.by_votes(count_votes(responses)),
        CanonicalOrder.by_votes(count_votes(moved)),
    )
    np.testing.assert_array_equal(annotators[other.annotators], one.annotators)
    np.testing.assert_array_equal(classes[other.classes], one.classes)


@pytest.mark.parametrize("seed", range(5))
def test_reordered_moments_are_those_of_reordered_responses(seed: int) -> None:
    responses = crowd(seed, m=5)
    rng = np.random.default_rng(seed)
    annotators, classes = rng.permutation(5)[:4], rng.permutation(3)
    moved = responses.select_annotators(annotators)
    moved = moved.recoded(moved.annotators, responses.classes[classes])
    one = MomentCounts.count(responses).moments().reordered(annotators, classes)
    other = MomentCounts.count(moved).moments()
    for field in ("means", "cross", "third", "seen", "seen_pairs", "seen_triples"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


def test_vote_start_is_the_confusion_with_the_vote() -> None:
    matrix = np.array([[0, 0, 0, 1]] * 60 + [[1, 1, 1, 1]] * 40)
    start = vote_confusions(count_votes(Responses.from_matrix(matrix)).counts)
    np.testing.assert_allclose(start[0], np.eye(2), atol=0.02)
    np.testing.assert_allclose(start[3], [[0, 0], [1, 1]], atol=0.02)


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        ([[0, 1], [1, 1]], "Only 2 annotators"),
        ([[0, 1, -1], [1, 1, -1]], "Only 2 annotators"),
        ([[0, 1, -1], [1, -1, 1], [-1, 0, 1]], "No item was labelled by three"),
    ],
)
def test_too_little_overlap_is_refused_with_a_remedy(matrix: list[list[int]], why: str) -> None:
    with pytest.raises(NotIdentifiable, match=f"{why}.*majority vote"):
        quietly(Responses.from_matrix(matrix), Options())
