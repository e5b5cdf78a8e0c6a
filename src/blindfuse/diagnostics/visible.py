"""What a table of responses shows about the error of its labels, without a truth.

If annotators are conditionally independent, the error is that of Dawid–Skene; if items are
ambiguous, it is that of :class:`MixedMembership`, which is higher. What :class:`MACE` expects, the
margin of the vote, and how far pairs of annotators deviate from independence, correct the latter.
:mod:`blindfuse.diagnostics.calibration` relates these figures to the error.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.correlated_errors import score_correlated_errors
from blindfuse.diagnostics.fit import Fit, measure_fit
from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.errors import NotConverged
from blindfuse.estimators.mace import MACE
from blindfuse.estimators.mixed_membership import MixedMembership
from blindfuse.model.anchored_votes import symbol_counts
from blindfuse.model.decisions import decide
from blindfuse.model.implied import implied_model
from blindfuse.model.model import Model
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MAX_OBSERVED = 20_000
"""Maximum number of items that are observed; of more, an evenly spaced sample."""
MIN_NAMED_ITEMS, MIN_NAMED_SHARE = 10, 0.02
"""Items with a label, and their share of all, from which on responses tell whether they name it."""
MIN_CONSTANT_RESPONSES = 5
"""Responses from which on an annotator who always reports the same class counts as one-sided."""


class ReferenceModels(NamedTuple):
    """Fitted models whose expected errors tell something about the error of any labels."""

    mixed: MixedMembership
    mace: MACE


def fit_references(responses: Responses, threads: int | None = None) -> ReferenceModels:
    """Fit the reference models to these responses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return ReferenceModels(
            MixedMembership(threads=threads).fit(responses), MACE(threads=threads).fit(responses)
        )


@dataclass(frozen=True)
class Independence:
    """Whether errors on the same item are correlated under the model that gave the posteriors.

    Attributes
    ----------
    z
        the score of :func:`score_correlated_errors`.
    excess_misfit
        misfit of the pairwise agreement under that model, divided by what it may reach by chance.
    naming
        share of a class among the responses to its items that report it or its strongest rival,
        the smallest over classes; 1 where symbols are no classes.
    n_items, n_annotators, responses_per_item
        the size of the table, which decides how large z would be if errors were correlated.
    merged
        whether groups of annotators with correlated errors were merged.
    of_symbols
        whether z is that of symbols that are not classes, which say more than their classes.
    """

    z: float
    excess_misfit: float
    naming: float
    n_items: int
    n_annotators: int
    responses_per_item: float
    merged: bool = False
    of_symbols: bool = False


@dataclass(frozen=True)
class Visible:
    """What is visible of the error of the labels of a table.

    Attributes
    ----------
    mixed_error
        mean of b/(a + b), with the posteriors a of the label and b of the second class under
        :class:`MixedMembership`; with two classes, the mean of 1 − a.
    mace_error
        mean of 1 − the posterior of the label under :class:`MACE`.
    margin
        mean lead of the class with most votes over the second, as a share of the item's votes.
    misfit
        misfit of the pairwise agreement (:class:`Fit`) under the confusion matrices of the labels.
    share_error
        mean of 1 − the share of votes for the label; the class prior adds one vote.
    one_sided
        share of the responses by annotators who always report the same class.
    """

    mixed_error: float
    mace_error: float
    margin: float
    misfit: float
    share_error: float
    one_sided: float
    n_items: int
    n_classes: int


@dataclass(frozen=True, eq=False)
class Observed:
    """The items of a table that are observed: those with responses, or a sample of them.

    ``model`` gave the ``posteriors[item, class]``, and ``labels[item]`` are class codes. Symbols
    that are no classes are read as the classes that they speak for, and ``decided`` says so.
    """

    responses: Responses
    model: Model
    labels: NDArray[np.intp]
    posteriors: Floats
    decided: bool = False

    def independence(self, representatives: NDArray[np.intp]) -> Independence:
        """Score correlated errors of the ``representatives``: one annotator per merged group."""
        table, model = self.responses, self.model
        merged = len(representatives) < table.n_annotators
        if merged:
            table = table.select_annotators(representatives)
            model = model.for_annotators(table.annotators, table.classes)
        fit = _fit_of_pairs(table, model)
        return Independence(
            z=score_correlated_errors(table, model, self.posteriors).z,
            excess_misfit=fit.misfit / fit.chance_limit,
            naming=1.0
            if self.decided
            else _smallest_naming(weighted_votes(self.responses), self.labels),
            n_items=table.n_items,
            n_annotators=table.n_annotators,
            responses_per_item=table.n_responses / max(table.n_items, 1),
            merged=merged,
        )

    def error_of_model(self, threads: int | None = None) -> float:
        """The expected share of wrong labels if the model holds."""
        return _error_at(self.model.posteriors(self.responses, threads=threads), self.labels)

    def visible(
        self, fit: Callable[[], ReferenceModels] | None = None, threads: int | None = None
    ) -> Visible:
        """Measure what is visible; ``fit`` returns reference models, if they were fitted before."""
        responses, labels = self.responses, self.labels
        mixed, mace = fit() if fit else fit_references(responses, threads)
        model = implied_model(responses, np.eye(responses.n_classes)[labels], threads)
        votes = weighted_votes(responses)
        return Visible(
            mixed_error=_two_class_error(mixed.predict_proba(responses), labels),
            mace_error=_error_at(mace.predict_proba(responses), labels),
            margin=float(np.mean(vote_margins(votes) / votes.sum(axis=1))),
            misfit=_fit_of_pairs(responses, model).misfit,
            share_error=_error_at(_vote_shares(votes), labels),
            one_sided=_one_sided_share(responses),
            n_items=responses.n_items,
            n_classes=responses.n_classes,
        )


def observe(
    responses: Responses,
    model: Model,
    labels: NDArray[np.intp],
    posteriors: Floats,
    is_gold: NDArray[np.bool_] | None = None,
) -> Observed:
    """The items with responses and without gold labels, or an evenly spaced sample of them."""
    chosen = responses.responses_per_item > 0
    if is_gold is not None:
        chosen = chosen & ~is_gold
    items = np.flatnonzero(chosen)
    items = items[:: -(-len(items) // MAX_OBSERVED) or 1]
    if len(items) < responses.n_items:
        responses = responses.select_items(items)
        labels, posteriors = labels[items], posteriors[items]
    known = model.for_annotators(responses.annotators, responses.classes, responses.symbols)
    decided = not responses.is_plain
    if decided:
        responses, known = decide(responses, known)
    return Observed(responses, known, labels, posteriors, decided)


def _fit_of_pairs(responses: Responses, model: Model) -> Fit:
    """How far pairs of annotators deviate from a model."""
    return measure_fit(count_pairs(responses).compare_with(model), responses.n_annotators)


def _error_at(posteriors: Floats, labels: NDArray[np.intp]) -> float:
    """The mean of 1 − the posterior of the label."""
    return float(1 - posteriors[np.arange(len(labels)), labels].mean())


def _two_class_error(posteriors: Floats, labels: NDArray[np.intp]) -> float:
    """The mean of b/(a + b), with the posteriors a of the label and b of the best other class.

    1 − a would grow with the number of classes over which wrong responses are spread.
    """
    items, others = np.arange(len(labels)), posteriors.copy()
    of_label = posteriors[items, labels]
    others[items, labels] = 0
    second = others.max(axis=1)
    return float(np.mean(second / np.maximum(of_label + second, 1e-12)))


class Naming(NamedTuple):
    """How often the items labelled k were reported as k, and as its strongest rival, ``[class]``.

    ``rivals`` are the class codes of the rivals, the classes that are reported most often beside k.
    """

    own: Floats
    rival: Floats
    rivals: NDArray[np.intp]

    @property
    def shares(self) -> Floats:
        """The share of class k among the responses that report it or its rival, ``[class]``."""
        return np.asarray(self.own / np.maximum(self.own + self.rival, 1e-12))


def count_naming(votes: Floats, labels: NDArray[np.intp]) -> Naming:
    """Count how annotators name the classes of ``labels[item]``, given ``votes[item, class]``."""
    K = votes.shape[1]
    reported = np.stack([votes[labels == k].sum(axis=0) for k in range(K)])
    others = np.where(np.eye(K, dtype=bool), -1.0, reported)
    return Naming(np.diag(reported), np.maximum(others.max(axis=1), 0), others.argmax(axis=1))


def _smallest_naming(votes: Floats, labels: NDArray[np.intp]) -> float:
    """The smallest share of a class in its naming; classes with few items are left out."""
    sizes = np.bincount(labels, minlength=votes.shape[1])
    filled = sizes >= max(MIN_NAMED_ITEMS, MIN_NAMED_SHARE * len(labels))
    return float(count_naming(votes, labels).shares[filled].min(initial=1.0))


def vote_margins(votes: Floats) -> Floats:
    """Lead of the class with most votes over the second, ``[item]``; of one class, all votes."""
    ordered = np.sort(np.column_stack([np.zeros(len(votes)), votes]), axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def _vote_shares(votes: Floats) -> Floats:
    prior = votes.sum(axis=0) / votes.sum()
    return np.asarray((votes + prior) / (votes.sum(axis=1, keepdims=True) + 1))


def _one_sided_share(responses: Responses) -> float:
    """The share of the responses by annotators who always report the same class."""
    reported = symbol_counts(responses)
    number = reported.sum(axis=1)
    constant = (reported.max(axis=1) == number) & (number >= MIN_CONSTANT_RESPONSES)
    return float(number[constant].sum() / max(responses.n_responses, 1))
