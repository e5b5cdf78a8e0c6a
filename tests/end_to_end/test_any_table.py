"""Any table through every public entry: beliefs that are probabilities, or an error in our words.

pytest turns every warning into an error, so a warning of NumPy or SciPy fails these tests too.
"""

import warnings
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
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.metrics import (
    Agreement,
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
from tests.support.odd_tables import FORMS, Table, odd_table, tables

FEW, MANY = 12, 400
"""Examples in every run, and of the slow ones."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with single_threaded_blas():  # tables are small, and tests may share the machine
        yield


often = pytest.mark.parametrize(
    "examples", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=["few", "many"]
)


@contextmanager
def refused_in_our_words() -> Iterator[None]:
    """Only our own errors and warnings; an error is a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        warnings.simplefilter("ignore", RankTooLow)
        try:
            yield
        except BlindfuseError as error:
            assert str(error).endswith((".", "?"))  # noqa: PT017


def assert_beliefs(beliefs: Any, items: int, classes: int) -> None:
    assert beliefs.shape == (items, classes)
    assert np.isfinite(beliefs).all()
    assert (beliefs >= 0).all()
    np.testing.assert_allclose(beliefs.sum(axis=1), 1)


def assert_model(model: Model, responses: Responses) -> None:
    assert_beliefs(model.prior[None], 1, responses.n_classes)
    columns = model.confusions.transpose(0, 2, 1).reshape(-1, responses.n_classes)
    assert_beliefs(columns, responses.n_annotators * responses.n_classes, responses.n_classes)


forms = st.sampled_from(list(FORMS))
shares = st.sampled_from([0.0, 0.3, 1.0])


@pytest.mark.parametrize("name", METHODS)
@often
def test_every_method(name: str, examples: int) -> None:
    @settings(max_examples=examples)
    @given(tables(), forms)
    def holds(table: Table, form: str) -> None:
        with refused_in_our_words():
            responses = as_responses(FORMS[form](table))
            fitted: Any = METHODS[name]().fit(responses)
            assert_beliefs(fitted.posteriors_, responses.n_items, responses.n_classes)
            assert set(fitted.labels_.tolist()) <= set(responses.classes.tolist())
            some = responses.select_items(np.arange(responses.n_items)[::3])
            assert_beliefs(fitted.predict_proba(some), some.n_items, some.n_classes)
            if hasattr(fitted, "model_"):
                assert_model(fitted.model_, responses)
            assert repr(fitted)

    holds()


def test_the_spectral_meta_learner_where_only_two_annotators_vary_together() -> None:
    fitted = SpectralMetaLearner().fit(odd_table(1, (3, 3, 2), skill=0.0).rows)
    assert_beliefs(fitted.posteriors_, 3, 2)


@often
def test_fuse_and_what_follows_from_it(examples: int) -> None:
    @settings(max_examples=3 * examples)
    @given(tables(), forms, st.booleans(), shares, st.integers(1, 40))
    def holds(table: Table, form: str, ordered: bool, known: float, budget: int) -> None:
        gold = dict(enumerate(table.truth[: round(known * len(table.truth))]))
        with refused_in_our_words():
            data = FORMS[form](table)
            fusion = fuse(data, ordered=ordered, gold=gold)
            assert_fusion(fusion)
            labels = dict(zip(fusion.responses.items.tolist(), fusion.labels.tolist(), strict=True))
            assert {item: labels[item] for item in gold} == gold
            blind = fuse(data, ordered=ordered)
            assert_requests(blind, budget)
            check = check_on_gold(blind, gold)
            assert 0 <= check.error.low <= check.error.value <= check.error.high <= 1
            assert check.summary()

    holds()


def assert_fusion(fusion: Fusion) -> None:
    responses = fusion.responses
    assert_beliefs(fusion.posteriors, responses.n_items, responses.n_classes)
    assert_beliefs(fusion.predict_proba(responses), responses.n_items, responses.n_classes)
    assert_model(fusion.model, responses)
    assert np.isfinite(fusion.history).all()
    assert "nan" not in fusion.summary().split()
    about = fusion.diagnostics.annotators
    assert (about.low <= about.accuracy).all()
    assert (about.accuracy <= about.high).all()


def assert_requests(fusion: Fusion, budget: int) -> None:
    asked = next_labels(fusion, budget)
    assert len(asked) <= budget
    assert (asked.gains > 0).all()
    assert np.isfinite(asked.gains).all()


@often
def test_reports(examples: int) -> None:
    @settings(max_examples=examples)
    @given(tables(), forms)
    def holds(table: Table, form: str) -> None:
        with refused_in_our_words():
            fusion = fuse(FORMS[form](table))
            compared = compare(fusion.responses, methods=METHODS, fused=fusion)
            assert "</html>" in report_html(fusion, compared=compared)

    holds()


@often
def test_compare(examples: int) -> None:
    @settings(max_examples=examples)
    @given(tables(), forms, shares)
    def holds(table: Table, form: str, known: float) -> None:
        truth = dict(enumerate(table.truth[: round(known * len(table.truth))]))
        with refused_in_our_words():
            found = compare(FORMS[form](table), truth, METHODS)
            assert [one.method for one in found] == ["fuse", *METHODS]
            for one in found:
                assert (one.failed is None) == (one.differs is not None)
                assert one.error is None or 0 <= one.error <= 1
                assert one.failed is None or one.failed.endswith((".", "?"))

    holds()


@often
def test_methods_with_the_truth_and_metrics(examples: int) -> None:
    @settings(max_examples=3 * examples)
    @given(tables())
    def holds(table: Table) -> None:
        with refused_in_our_words():
            responses = table.responses()
            truth = dict(enumerate(table.truth))
            codes = np.array([table.classes.index(label) for label in table.truth], dtype=int)
            oracle = Oracle(truth=truth).fit(responses)
            best = SingleBest(truth=truth).fit(responses)
            for fitted in (oracle, best):
                assert_beliefs(fitted.posteriors_, responses.n_items, responses.n_classes)
                found = [
                    measure(fitted.posteriors_, codes)
                    for measure in (error_rate, log_loss, calibration_error)
                ]
                assert np.isfinite(found).all()
            assert reliability(oracle.posteriors_, codes).items.sum() == responses.n_items
            assert confusion_error(oracle.model_, oracle.model_) == 0
            assert prior_error(oracle.model_, oracle.model_) == 0
            diagnosis = diagnose(responses, oracle.model_, oracle.posteriors_)
            assert "nan" not in diagnosis.summary().split()

    holds()


@often
def test_agreement(examples: int) -> None:
    @settings(max_examples=3 * examples)
    @given(tables(), st.sampled_from(["nominal", "ordinal", "interval"]))
    def holds(table: Table, level: Any) -> None:
        coefficients: list[Callable[[], Agreement]] = [
            lambda: krippendorff_alpha(table.responses(), level=level, resamples=20),
            lambda: fleiss_kappa(table.responses(), resamples=20),
            lambda: cohen_kappa(
                [row[0] for row in table.rows], [row[-1] for row in table.rows], resamples=20
            ),
        ]
        for coefficient in coefficients:
            if table.n_annotators:
                with refused_in_our_words():
                    found = coefficient()
                    assert found.low <= found.high
                    assert -np.inf < found.low <= 1
                    assert -np.inf < found.value <= 1

    holds()


@often
def test_moments_and_saved_models(examples: int, tmp_path_factory: Any) -> None:
    folder: Path = tmp_path_factory.mktemp("models")

    @settings(max_examples=3 * examples)
    @given(tables(), forms)
    def holds(table: Table, form: str) -> None:
        with refused_in_our_words():
            responses = as_responses(FORMS[form](table))
            halves = [responses.select_items(np.arange(responses.n_items)[i::2]) for i in (0, 1)]
            counts = MomentCounts.count(responses)
            assert counts == MomentCounts.count(halves[0]) + MomentCounts.count(halves[1])
            assert all(np.isfinite(part).all() for part in vars(counts.moments()).values())
            model = fuse(responses).model
            model.save(folder / "model.npz")
            again = Model.load(folder / "model.npz")
            assert_beliefs(again.posteriors(responses), responses.n_items, responses.n_classes)

    holds()


class Column(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that says what one column of its features says."""

    def __init__(self, at: int = 0) -> None:
        self.at = at

    def fit(self, X: Any, y: Any) -> "Column":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[np.asarray(X)[:, self.at].astype(int) % len(self.classes_)]


@often
def test_classifiers_that_vote(examples: int) -> None:
    """Every kind of answers; what scikit-learn asks of X and y is its own affair."""

    @settings(max_examples=examples)
    @given(tables().filter(lambda table: len(set(table.truth)) > 1 and table.n_annotators > 0))
    def holds(table: Table) -> None:
        X = np.array(
            [[len(table.classes) if said is None else table.classes.index(said) for said in row]
             for row in table.rows]
        )  # fmt: skip
        truth = [table.classes.index(label) for label in table.truth]
        columns = [(f"c{m}", Column(m)) for m in range(table.n_annotators)]
        with refused_in_our_words():
            voting = BlindVotingClassifier(columns, cv=KFold(2)).fit(X, truth)
            assert_beliefs(voting.predict_proba(X), len(X), len(set(truth)))
            assert_beliefs(voting.adapt(X[::2]).predict_proba(X[:1]), 1, len(set(truth)))

    holds()
