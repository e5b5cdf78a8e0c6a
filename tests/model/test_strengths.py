"""Learned strengths of Dirichlet priors, and what that of the class prior does in EM."""

import numpy as np
import pytest
from scipy.stats import dirichlet_multinomial

from blindfuse import DawidSkene
from blindfuse.metrics import error_rate
from blindfuse.model.strengths import best_strength, column_log_likelihood, learn_class_pseudo_count
from experiments.skilled_crowds import skilled_crowd


@pytest.mark.parametrize("n_annotators", [5, 200])
def test_the_likelihood_of_columns_is_dirichlet_multinomial(n_annotators: int) -> None:
    """Few and many counts; columns and cells without counts change nothing."""
    rng = np.random.default_rng(0)
    centres = rng.dirichlet(np.ones(4), size=3).T[None]
    counts = rng.integers(0, 20, size=(n_annotators, 4, 3)) * (rng.random((4, 1)) < 0.8)
    counts[0] = 0
    log_likelihood = column_log_likelihood(counts.astype(float), centres)

    def written_out(s: float) -> float:
        total = 0.0
        for m, k in np.ndindex(n_annotators, 3):
            column, alpha = counts[m, :, k], s * centres[0, :, k]
            total += float(dirichlet_multinomial.logpmf(column, alpha, column.sum()))
        return total

    difference = log_likelihood(30.0) - log_likelihood(2.0)
    assert difference == pytest.approx(written_out(30.0) - written_out(2.0))
    best = best_strength(log_likelihood)
    assert all(log_likelihood(best) > log_likelihood(best * factor) for factor in (0.8, 1.25))


@pytest.mark.parametrize("seed", range(5))
def test_the_pseudo_count_maximises_the_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    totals = rng.multinomial(500, rng.dirichlet(np.full(30, 2.0)))
    found = learn_class_pseudo_count(totals.astype(float))

    def log_likelihood(pseudo_count: float) -> float:
        return float(dirichlet_multinomial.logpmf(totals, np.full(30, pseudo_count), 500))

    assert all(log_likelihood(found) > log_likelihood(found * factor) for factor in (0.8, 1.25))


def test_equal_classes_become_uniform_and_unequal_ones_stay() -> None:
    equal, unequal = np.array([51.0, 49.0, 50.0, 52.0]), np.array([9000.0, 900.0, 90.0, 9.0])
    assert learn_class_pseudo_count(equal) > equal.sum()
    assert learn_class_pseudo_count(unequal) < 1
    assert learn_class_pseudo_count(np.array([51.0, 49.0])) > 100
    assert learn_class_pseudo_count(np.array([900.0, 100.0])) < 10


def test_the_prior_of_a_fit_is_its_expected_counts_and_the_pseudo_count() -> None:
    responses = skilled_crowd("coin", 5, 100, 0).responses
    method = DawidSkene().fit(responses)
    totals = method.model_.expected_counts(responses).totals
    shares = totals + method._class_pseudo_count
    np.testing.assert_allclose(method.model_.prior, shares / shares.sum(), atol=1e-3)
    assert method._class_pseudo_count > 0
    unshrunk = DawidSkene(shrinkage=None).fit(responses)
    totals = unshrunk.model_.expected_counts(responses).totals
    np.testing.assert_allclose(unshrunk.model_.prior, totals / totals.sum(), atol=1e-3)


def test_many_classes_with_few_items_get_fewer_errors() -> None:
    """Compared with the same fit whose pseudo-count is zero, over twenty crowds."""

    class WithoutClassPrior(DawidSkene):
        def _initialize_m_step(self, *arguments: object) -> None:
            super()._initialize_m_step(*arguments)  # type: ignore[arg-type]
            self._class_pseudo_count = 0.0

    errors = []
    for seed in range(20):
        crowd = skilled_crowd("coin", 50, 20, seed)
        methods = DawidSkene(), WithoutClassPrior()
        fits = [method.fit(crowd.responses).posteriors_ for method in methods]
        errors.append([error_rate(posteriors, crowd.truth) for posteriors in fits])
    learned, plain = np.mean(errors, axis=0)
    assert learned < 0.98 * plain
