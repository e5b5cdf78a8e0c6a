"""Any table through every public entry: posteriors that are probabilities, or an error of ours.

pytest turns every warning into an error, so a warning of NumPy or SciPy fails these tests too.
``pytest --hypothesis-profile=long`` draws more tables.
"""

import gc
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold

from blindfuse import (
    BlindfuseError,
    Fusion,
    Model,
    MomentCounts,
    NotConverged,
    Oracle,
    RankTooLow,
    Responses,
    SingleBest,
    SpectralMetaLearner,
    check_on_gold,
    compare,
    diagnose,
    fuse,
    next_labels,
    report_html,
)
from blindfuse.estimators.registry import METHODS
from blindfuse.metrics import (
    Interval,
    calibration_error,
    cohen_kappa,
    confusion_error,
    error_rate,
    fleiss_kappa,
    krippendorff_alpha,
    log_loss,
    prior_error,
    reliability,
)
from blindfuse.responses.responses import as_responses
from blindfuse.sklearn import BlindVotingClassifier
from tests.support.odd_tables import DEFECTS, FORMS, Table, odd_table, tables

few = settings(max_examples=settings().max_examples // 8)
some = settings(max_examples=3 * few.max_examples)
forms = st.sampled_from(list(FORMS))
shares = st.sampled_from([0.0, 0.3, 1.0])

STATM = Path("/proc/self/statm")
MOST_GROWTH = 30 * 2**20
"""Bytes that memory may grow by after the first crowds, for compiled kernels and full pools."""


@contextmanager
def only_our_errors() -> Iterator[None]:
    """Only our own errors and warnings; an error is a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        warnings.simplefilter("ignore", RankTooLow)
        try:
            yield
        except BlindfuseError as error:
            assert str(error).endswith((".", "?"))  # noqa: PT017


def assert_probabilities(array: Any, items: int, classes: int) -> None:
    assert array.shape == (items, classes)
    assert np.isfinite(array).all()
    assert (array >= 0).all()
    np.testing.assert_allclose(array.sum(axis=1), 1)


def assert_model(model: Model, responses: Responses) -> None:
    assert_probabilities(model.prior[None], 1, responses.n_classes)
    columns = model.confusions.transpose(0, 2, 1).reshape(-1, responses.n_classes)
    assert_probabilities(columns, responses.n_annotators * responses.n_classes, responses.n_classes)


@pytest.mark.parametrize("name", METHODS)
@few
@given(tables(), forms)
def test_every_method(name: str, table: Table, form: str) -> None:
    with only_our_errors():
        responses = as_responses(FORMS[form](table))
        fitted: Any = METHODS[name]().fit(responses)
        assert_probabilities(fitted.posteriors_, responses.n_items, responses.n_classes)
        assert set(fitted.labels_.tolist()) <= set(responses.classes.tolist())
        third = responses.select_items(np.arange(responses.n_items)[::3])
        assert_probabilities(fitted.predict_proba(third), third.n_items, third.n_classes)
        if hasattr(fitted, "model_"):
            assert_model(fitted.model_, responses)
        assert repr(fitted)


def test_the_spectral_meta_learner_where_only_two_annotators_vary_together() -> None:
    fitted = SpectralMetaLearner().fit(odd_table(1, (3, 3, 2), skill=0.0).rows)
    assert_probabilities(fitted.posteriors_, 3, 2)


@some
@given(tables(), forms, st.booleans(), shares, st.integers(1, 40))
def test_fuse_and_what_follows_from_it(
    table: Table, form: str, ordered: bool, share: float, budget: int
) -> None:
    gold = dict(enumerate(table.truth[: round(share * len(table.truth))]))
    with only_our_errors():
        data = FORMS[form](table)
        fusion = fuse(data, ordered=ordered, gold=gold)
        assert_fusion(fusion)
        labels = dict(zip(fusion.responses.items.tolist(), fusion.labels.tolist(), strict=True))
        assert {item: labels[item] for item in gold} == gold
        blind = fuse(data, ordered=ordered)
        requests = next_labels(blind, budget)
        assert len(requests) <= budget
        assert (requests.gains > 0).all()
        assert np.isfinite(requests.gains).all()
        check = check_on_gold(blind, gold)
        assert 0 <= check.error.low <= check.error.value <= check.error.high <= 1
        assert check.summary()


def assert_fusion(fusion: Fusion) -> None:
    responses = fusion.responses
    assert_probabilities(fusion.posteriors, responses.n_items, responses.n_classes)
    assert_probabilities(fusion.predict_proba(responses), responses.n_items, responses.n_classes)
    assert_model(fusion.model, responses)
    assert np.isfinite(fusion.history).all()
    assert "nan" not in fusion.summary().split()
    annotators = fusion.diagnostics.annotators
    assert (annotators.low <= annotators.accuracy).all()
    assert (annotators.accuracy <= annotators.high).all()


@few
@given(tables(), forms, shares)
def test_comparisons_and_reports(table: Table, form: str, share: float) -> None:
    truth = dict(enumerate(table.truth[: round(share * len(table.truth))]))
    with only_our_errors():
        fusion = fuse(FORMS[form](table))
        rows = compare(fusion.responses, truth, METHODS, fused=fusion)
        assert [row.method for row in rows] == ["fuse", *METHODS]
        for row in rows:
            assert (row.failed is None) == (row.differs is not None)
            assert row.error is None or 0 <= row.error <= 1
            assert row.failed is None or row.failed.endswith((".", "?"))
        assert "</html>" in report_html(fusion, compared=rows)


@some
@given(tables())
def test_methods_with_the_truth_and_metrics(table: Table) -> None:
    with only_our_errors():
        responses = table.responses()
        truth = dict(enumerate(table.truth))
        codes = np.array([table.classes.index(label) for label in table.truth], dtype=int)
        oracle = Oracle(truth=truth).fit(responses)
        for fitted in (oracle, SingleBest(truth=truth).fit(responses)):
            assert_probabilities(fitted.posteriors_, responses.n_items, responses.n_classes)
            for measure in (error_rate, log_loss, calibration_error):
                assert np.isfinite(measure(fitted.posteriors_, codes))
        assert reliability(oracle.posteriors_, codes).items.sum() == responses.n_items
        assert confusion_error(oracle.model_, oracle.model_) == 0
        assert prior_error(oracle.model_, oracle.model_) == 0
        diagnosis = diagnose(responses, oracle.model_, oracle.posteriors_)
        assert "nan" not in diagnosis.summary().split()


@some
@given(tables(), st.sampled_from(["nominal", "ordinal", "interval"]))
def test_agreement(table: Table, level: Any) -> None:
    coefficients: list[Callable[[], Interval]] = [
        lambda: krippendorff_alpha(table.responses(), level=level, resamples=20),
        lambda: fleiss_kappa(table.responses(), resamples=20),
        lambda: cohen_kappa(
            [row[0] for row in table.rows], [row[-1] for row in table.rows], resamples=20
        ),
    ]
    for coefficient in coefficients if table.n_annotators else ():
        with only_our_errors():
            agreement = coefficient()
            assert agreement.low <= agreement.high
            assert -np.inf < agreement.low <= 1
            assert -np.inf < agreement.value <= 1


@some
@given(table=tables(), form=forms)
def test_moments_and_saved_models(
    table: Table, form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "model.npz"
    with only_our_errors():
        responses = as_responses(FORMS[form](table))
        halves = [responses.select_items(np.arange(responses.n_items)[i::2]) for i in (0, 1)]
        counts = MomentCounts.count(responses)
        assert counts == MomentCounts.count(halves[0]) + MomentCounts.count(halves[1])
        assert all(np.isfinite(part).all() for part in vars(counts.moments()).values())
        fuse(responses).model.save(path)
        posteriors = Model.load(path).posteriors(responses)
        assert_probabilities(posteriors, responses.n_items, responses.n_classes)


class Column(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that predicts what one column of its features says."""

    def __init__(self, at: int = 0) -> None:
        self.at = at

    def fit(self, X: Any, y: Any) -> "Column":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[np.asarray(X)[:, self.at].astype(int) % len(self.classes_)]


@few
@given(tables().filter(lambda table: len(set(table.truth)) > 1 and table.n_annotators > 0))
def test_classifiers_that_vote(table: Table) -> None:
    """Every kind of response; what scikit-learn asks of X and y is its own affair."""
    codes = {None: len(table.classes), **{label: k for k, label in enumerate(table.classes)}}
    X = np.array([[codes[label] for label in row] for row in table.rows])
    truth = [codes[label] for label in table.truth]
    columns = [(f"c{m}", Column(m)) for m in range(table.n_annotators)]
    with only_our_errors():
        voting = BlindVotingClassifier(columns, cv=KFold(2)).fit(X, truth)
        assert_probabilities(voting.predict_proba(X), len(X), len(set(truth)))
        assert_probabilities(voting.adapt(X[::2]).predict_proba(X[:1]), 1, len(set(truth)))


def memory() -> int:
    """Resident bytes of this process."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * 4096


@pytest.mark.skipif(not STATM.exists(), reason="memory is measured through /proc")
@pytest.mark.parametrize(
    ("warm", "crowds"), [(20, 60), pytest.param(200, 1000, marks=pytest.mark.slow)]
)
def test_memory_does_not_grow_from_crowd_to_crowd(warm: int, crowds: int) -> None:
    fits: Counter[str] = Counter()
    before = 0
    for seed in range(crowds):
        if seed == warm:
            before = memory()
        rng = np.random.default_rng(seed)
        defects = rng.choice(DEFECTS, rng.choice(3, p=[0.6, 0.3, 0.1])).tolist()
        shape = int(rng.integers(3, 31)), int(rng.integers(2, 9)), int(rng.integers(2, 6))
        rows = odd_table(seed, shape, skill=rng.random(), missing=0.2, defects=defects).rows
        for name in METHODS:
            with only_our_errors():
                posteriors = METHODS[name]().fit(rows).posteriors_
                assert_probabilities(posteriors, len(rows), posteriors.shape[1])
                fits[name] += 1
        with only_our_errors():
            assert_fusion(fuse(rows))
            fits["fuse"] += 1
    assert memory() - before < MOST_GROWTH
    for name in ("fuse", *METHODS):  # most crowds are such that a method can do its work
        two_classes = name in ("EigenRatio", "SpectralMetaLearner", "TriangularEstimation")
        assert fits[name] > crowds * (0.15 if two_classes else 0.5), name
