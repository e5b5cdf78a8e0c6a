"""What a selection rule is given (`FuseContext`) and what it returns (`Choice`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.calibration import ErrorInterval
from blindfuse.diagnostics.visible import Independence
from blindfuse.errors import BadParameter
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.em import VoteStart
from blindfuse.estimators.mace import MACE
from blindfuse.estimators.mixed_membership import MixedMembership
from blindfuse.fusion.held_out import sample_items
from blindfuse.model.model import Model
from blindfuse.model.posteriors import ExpectedCounts, count_votes, most_likely
from blindfuse.responses.canonical import CanonicalResponses
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
PosteriorsOf = Callable[[Responses], Floats]


@dataclass(frozen=True, eq=False)
class FuseContext:
    """The responses to fuse, in canonical order, and what else the caller of ``fuse`` gave.

    Attributes
    ----------
    seed
        random seed of the samples of items that large tables are compared on.
    gold
        gold labels of some items, ``{item: label}``, which are held fixed.
    prior_model, prior_count
        a Model of annotators from earlier work, and the pseudo-counts per class it is worth.
    """

    responses: Responses
    seed: int = 0
    gold: Mapping[Any, Any] | None = None
    prior_model: Model | None = None
    prior_count: float = 20.0
    threads: int | None = None

    def fit_dawid_skene(self, **parameters: Any) -> DawidSkene:
        """Fit Dawid–Skene with these parameters, the gold labels and the prior model."""
        method = DawidSkene(
            prior_model=self.prior_model,
            prior_count=self.prior_count,
            threads=self.threads,
            **parameters,
        )
        if not self.gold:
            method._votes = self._vote_start
        return method.fit(self.responses, gold=self.gold)

    @property
    def vote_counts(self) -> ExpectedCounts:
        """The expected counts under the majority vote, from which most fits start."""
        return self._vote_start.counts

    @cached_property
    def _vote_start(self) -> VoteStart:
        return VoteStart(count_votes(self.responses, self.threads))

    @cached_property
    def dawid_skene_from_vote(self) -> DawidSkene:
        """Dawid–Skene from the majority vote, fitted once."""
        return self.fit_dawid_skene()

    @cached_property
    def one_iteration(self) -> DawidSkene:
        """One iteration of Dawid–Skene from the majority vote, which stays near it."""
        return self.fit_dawid_skene(max_iter=1)

    @cached_property
    def mace(self) -> MACE:
        """:class:`MACE`, fitted to a sample."""
        return MACE(threads=self.threads).fit(self._sample_in_order)

    @cached_property
    def mixed_membership(self) -> MixedMembership:
        """Posteriors that stay calibrated where errors are correlated, fitted to a sample.

        Models of conditionally independent annotators are far too confident there.
        """
        return MixedMembership(threads=self.threads).fit(self._sample_in_order)

    @cached_property
    def mixed_posteriors(self) -> Floats:
        """Posteriors ``[item, class]`` of the responses by :attr:`mixed_membership`."""
        return self.mixed_membership.predict_proba(self.responses)

    @cached_property
    def sample(self) -> Responses:
        """The responses on which methods are compared: all, or those of a sample of the items."""
        return sample_items(self.responses, self.seed)

    @cached_property
    def _sample_in_order(self) -> Responses:
        """The sample with annotators and classes in the order of the whole table.

        Otherwise the whole table would be recoded at each prediction.
        """
        table = self.responses
        return self.sample.recoded(table.annotators, table.classes, table.symbols)


@dataclass(frozen=True, eq=False)
class Choice:
    """The method that a selection rule chose, why, and its results.

    Attributes
    ----------
    method, why
        the method's name, and the reasons in sentences.
    model
        the confusion matrices and prior that describe the result.
    posteriors ``[item, class]``
    history ``[iteration]``
        log-likelihoods; empty for methods that do not iterate.
    labels ``[item]``
        class codes, for methods whose label is not the class of the largest posterior.
    posteriors_of
        posteriors of new items by the same annotators; the model's if not given.
    groups
        positions of annotators whose errors are correlated and who were merged into one.
    advice
        what to do next, in a sentence; a rule appends it to ``why``.
    disputed
        positions of items whose gold labels would decide between two solutions, the most decisive
        first.
    possible_errors
        shares of labels that would be wrong under each of these solutions.
    outvoted
        share of labels that would be wrong if a group with correlated errors is right against all
        others; 0 if there is none.
    n_checked
        number of checked items on which the expected error was measured; 0 if it was estimated.
    explains_dependence
        whether the method models the correlated errors, so that its posteriors state the error.
    rates_by_labels
        whether annotators are rated by the labels, because the confidence is that of a model which
        treats all annotators alike.
    keeps_posteriors
        whether the posteriors are those of a requested method, which are not recalibrated.
    independence
        the evidence that the model holds, where the posteriors are its mean with other models; the
        model then also says what the error is if annotators are independent.
    expected_error
        the expected share of wrong labels, which ``fuse`` adds.
    """

    method: str
    why: str
    model: Model
    posteriors: Floats
    history: Floats
    labels: NDArray[np.intp] | None = None
    posteriors_of: PosteriorsOf | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    advice: str = ""
    disputed: tuple[int, ...] = ()
    possible_errors: tuple[float, ...] = ()
    outvoted: float = 0.0
    n_checked: int = 0
    explains_dependence: bool = False
    rates_by_labels: bool = False
    keeps_posteriors: bool = False
    independence: Independence | None = None
    expected_error: ErrorInterval | None = None

    def label_codes(self) -> NDArray[np.intp]:
        """Class codes of the labels, ``[item]``; of equally probable classes, the first."""
        return most_likely(self.posteriors) if self.labels is None else self.labels.copy()


@dataclass(frozen=True, eq=False)
class InputOrderPosteriors:
    """Posteriors of new items by a method whose annotators and classes are in canonical order.

    ``class_at[class]`` is the canonical position of a class.
    """

    posteriors_of: PosteriorsOf
    annotators: NDArray[Any]
    classes: NDArray[Any]
    symbols: NDArray[Any]
    class_at: NDArray[np.intp]

    def __call__(self, responses: Responses) -> Floats:
        known = responses.recoded(self.annotators, self.classes, self.symbols)
        return self.posteriors_of(known)[:, self.class_at]


def choice_in_input_order(
    choice: Choice, canonical: CanonicalResponses, table: Responses
) -> Choice:
    """The choice that a rule made for canonical responses, in the order of the input ``table``.

    Its labels are given, because ties between classes depend on their order.
    """
    if canonical.responses is table:
        return choice
    item_at, class_at = np.argsort(canonical.items), np.argsort(canonical.classes)
    inner = choice.posteriors_of or choice.model.posteriors
    known = canonical.responses
    names = known.annotators, known.classes, known.symbols
    posteriors_of = InputOrderPosteriors(inner, *names, class_at)
    return replace(
        choice,
        model=choice.model.for_annotators(table.annotators, table.classes, table.symbols),
        posteriors=choice.posteriors[item_at][:, class_at],
        labels=canonical.classes[choice.label_codes()][item_at],
        posteriors_of=posteriors_of,
        groups=tuple(
            tuple(sorted(canonical.annotators[list(group)].tolist())) for group in choice.groups
        ),
        disputed=tuple(canonical.items[list(choice.disputed)].tolist()),
    )


SelectionRule = Callable[[FuseContext], Choice]
"""Chooses a method without ground truth."""


def check_fusion(value: Any) -> None:
    """Raise BadParameter if the value is not the result of ``fuse``."""
    if not isinstance(getattr(value, "choice", None), Choice):
        raise BadParameter(
            f"fusion= is a {type(value).__name__}, not the result of fuse. Pass fuse(responses)."
        )
