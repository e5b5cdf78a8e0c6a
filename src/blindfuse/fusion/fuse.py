"""`fuse`: the call that most users make. It fuses responses, and says how and why."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np

from blindfuse.diagnostics.diagnose import Diagnostics, diagnose
from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.diagnostics.items import Items, rate_items
from blindfuse.errors import BadParameter
from blindfuse.estimators.base import Estimator, check_responses, without_warnings
from blindfuse.estimators.voting import VotingEstimator
from blindfuse.fusion.evidence import Evidence
from blindfuse.fusion.presentation import (
    annotator_columns,
    describe_size,
    label_columns,
    label_document,
)
from blindfuse.fusion.rule import Decision, decide_labels, expect_error
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.model.fused_model import FusedModel
from blindfuse.model.model import Model
from blindfuse.model.posteriors import most_likely
from blindfuse.model.shrinkage import has_own_matrices, implied_model
from blindfuse.parameters import instance_of, integer_at_least, one_of, optional
from blindfuse.responses.alphabet import NO_RESPONSE
from blindfuse.responses.canonical import CanonicalResponses, canonicalize
from blindfuse.responses.coding import positions
from blindfuse.responses.responses import Responses, as_responses
from blindfuse.responses.table import check_gold, gold_codes
from blindfuse.result import Columns, Paragraph, summarize
from blindfuse.typing import Array, Codes, Flags, Floats


@dataclass(frozen=True, eq=False)
class Fusion:
    """Fused labels with posteriors, the annotators' confusion matrices, and diagnostics.

    Attributes
    ----------
    labels ``[item]``, posteriors ``[item, class]``
        in the order of ``responses.items`` and ``responses.classes``; the label is the class of the
        largest posterior.
    method, why
        the name of the method, and the reasons in sentences.
    model
        confusion matrices and class prior, and how votes and models are combined for new items.
    expected_error
        the expected share of wrong labels, with its 80 % interval: ``value``, ``low``, ``high``,
        ``if_independent``. None if the responses do not tell. Gold labels count as correct.
    history ``[iteration]``
        log-likelihoods of EM; empty if no model was fitted.
    evidence, annotator_at ``[annotator]``
        what the rule computed, in canonical order, and the positions of its annotators here.
    is_gold ``[item]``, n_checked
        whether the label is a gold label, None if there are none; and the number of checked items
        on which the expected error was measured, 0 if it was estimated.
    """

    responses: Responses
    labels: Array
    posteriors: Floats
    method: str
    why: str
    model: FusedModel = field(repr=False)
    expected_error: ExpectedError | None
    history: Floats = field(repr=False)
    evidence: Evidence = field(repr=False)
    annotator_at: Codes = field(repr=False)
    is_gold: Flags | None = field(default=None, repr=False)
    n_checked: int = field(default=0, repr=False)
    threads: int | None = field(default=None, repr=False)
    estimator: Estimator | None = field(default=None, repr=False)
    kind = "labels"

    @cached_property
    def item_ratings(self) -> Items:
        """Confidence of each label, and which items one more response could change."""
        known, evidence = self.responses, self.evidence
        is_counted = known.is_plain and known.probabilities is None and evidence.responses is known
        votes = evidence.votes if is_counted else None
        return rate_items(known, self.model, self.posteriors, self.is_gold, votes)

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """How far the result can be trusted; computed when first used."""
        evidence, pairs = self.evidence, None
        with single_threaded_blas():
            if evidence.is_modelled and self.responses.anchor.kind != "none":
                pairs = evidence.pairs.for_positions(self.annotator_at)
            return diagnose(
                self.responses,
                self.model,
                self.posteriors,
                expected=self.expected_error,
                is_gold=self.is_gold,
                n_checked=self.n_checked,
                items=self.item_ratings,
                information=evidence.information,
                pairs=pairs,
            )

    def predict_proba(self, responses: Any) -> Floats:
        """Posteriors ``[item, class]`` of new items by the same annotators, by the same method.

        Nothing is learned from the new items; ``fuse`` them with the old ones for that.
        """
        known = self.responses
        new = _read_like(known, responses)
        if new.is_plain and NO_RESPONSE in known.symbols.tolist():
            new = new.recoded(known.annotators, new.classes).with_abstentions()
        new = new.recoded(known.annotators, known.classes, known.symbols)
        if self.estimator is not None:
            # The method was fitted to the classes in canonical order.
            order = positions(known.classes, self.evidence.responses.classes)
            found = self.estimator.predict_proba(new)[:, order]
            return self.model.recalibrate(found, new.responses_per_item > 0)
        return self.model.posteriors(new, threads=self.threads)

    def predict(self, responses: Any) -> Array:
        """Labels ``[item]`` of new items by the same annotators, by the same method."""
        codes = most_likely(self.predict_proba(responses))
        return np.asarray(self.responses.classes[codes])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what prediction needs to an ``.npz`` file; :meth:`Model.load` reads it."""
        self.model.save(path)

    @property
    def items(self) -> Array:
        """Names of the items, in the order of ``labels``."""
        return self.responses.items

    @property
    def size(self) -> str:
        """What was fused, as a sentence."""
        return describe_size(self.responses)

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the responses that limit what the labels mean."""
        return self.responses.notes

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The diagnostics as text."""
        return self.diagnostics.paragraphs()

    def summary(self) -> str:
        """What was fused, by which method and why, and how far to trust it."""
        return summarize(self, self.responses)

    def item_columns(self) -> Columns:
        """One row per item: its label, the confidence and the posteriors, by column."""
        rated, classes = self.item_ratings, self.responses.classes
        return label_columns(self.items, self.labels, self.posteriors, classes, rated)

    def annotator_columns(self) -> Columns:
        """One row per annotator, the least accurate first, by column."""
        return annotator_columns(self.diagnostics)

    def to_json(self) -> dict[str, Any]:
        """The whole result as one JSON object."""
        return label_document(self)

    def __repr__(self) -> str:
        return f"Fusion of {self.responses!r}, by {self.method}"


def fuse(
    responses: Any,
    *,
    ordered: bool = False,
    abstentions: bool = False,
    gold: Mapping[Any, Any] | None = None,
    checked: Any = None,
    prior_model: Model | None = None,
    prior_count: float = 20.0,
    method: Estimator | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Fusion:
    """Fuse responses without ground truth: votes that models correct as far as they can be trusted.

    The result depends neither on the order of items, annotators and classes nor on their names. Of
    classes that are equally probable, the one that is reported most often becomes the label.

    Parameters
    ----------
    responses
        Responses, a matrix ``[item, annotator]`` or a frame.
    ordered
        whether the classes are ordered, as grades are.
    abstentions
        whether a missing response says something, because every annotator had the choice on every
        item, as labelling functions have (:meth:`Responses.with_abstentions`).
    gold
        gold labels of some items, ``{item: label}``, which are held fixed.
    checked
        what :func:`blindfuse.audit` returned, or labels of your own list ``{item: label}``. They
        are held fixed, and if they show that another method is better, its labels are used.
    prior_model, prior_count
        a Model of annotators from earlier work, and the pseudo-counts per class it is worth.
    method
        a method to use in place of the rule, such as ``DawidSkene()``.
    seed
        random seed of the sample of items on which models are compared, if there are more than
        200,000 responses; the result for smaller tables does not depend on it.
    threads
        maximum number of threads; None for all cores.

    Examples
    --------
    >>> from blindfuse import fuse
    >>> fuse([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]).labels.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    integer_at_least(0).check("seed", seed)
    for name, value in (("ordered", ordered), ("abstentions", abstentions)):
        one_of(True, False).check(name, value)
    optional(instance_of(Estimator, description="a method such as DawidSkene()")).check(
        "method", method
    )
    check_gold(gold)
    table = check_responses(responses)
    if abstentions:
        table = table.with_abstentions()
    evidence = {
        "ordered": ordered and table.n_classes > 2 and table.is_plain,
        "seed": seed,
        "gold": gold,
        "prior_model": prior_model,
        "prior_count": prior_count,
        "threads": threads,
    }
    fusion = fuse_table(table, method, keep_classes=ordered, **evidence)
    if checked is None:
        return fusion
    from blindfuse.auditing.apply_checks import apply_checks  # an audit starts from a fusion

    return apply_checks(fusion, checked)


def fuse_table(
    table: Responses, method: Estimator | None = None, *, keep_classes: bool = False, **options: Any
) -> Fusion:
    """Fuse a table by the rule, or by a requested method; ``options`` are those of Evidence."""
    require_matrices(method, table)
    canonical = canonicalize(table, keep_classes=keep_classes, threads=options.get("threads"))
    evidence = Evidence(canonical.responses, **options)
    with single_threaded_blas():
        if method is not None:
            _fit(method, evidence)  # may warn: the user asked for this method
        with without_warnings():
            decision = decide_labels(evidence) if method is None else _describe(method, evidence)
    return _in_input_order(decision, evidence, canonical, table, method)


def require_matrices(method: Estimator | None, table: Responses) -> None:
    """Raise BadParameter if a method would fit far more matrices than the responses determine."""
    if method is None or isinstance(method, VotingEstimator) or has_own_matrices(table):
        return
    raise BadParameter(
        f"Confusion matrices of {table.n_classes:,} classes for {table.n_annotators:,} annotators "
        f"need far more than {table.n_responses:,} responses. Merge classes, or use MajorityVote "
        "or Wawa, which need none; without method=, fuse uses the vote."
    )


def _fit(method: Estimator, evidence: Evidence) -> None:
    """Fit a requested method, with gold labels if it can use them."""
    if "threads" in method.get_params():
        method.set_params(threads=evidence.threads)
    takes_gold = "gold" in signature(method.fit).parameters
    options: dict[str, Any] = {"gold": evidence.gold} if takes_gold else {}
    method.fit(evidence.responses, **options)


def _describe(fitted: Estimator, evidence: Evidence) -> Decision:
    """The labels of a requested method, described by its model or by that of its labels."""
    responses = evidence.responses
    model = getattr(fitted, "model_", None)
    if model is None:
        labels = np.eye(responses.n_classes)[most_likely(fitted.posteriors_)]
        model = implied_model(responses, labels, evidence.threads)
    decision = Decision(
        type(fitted).__name__,
        "This method was requested.",
        FusedModel.of(model),
        fitted.posteriors_,
        getattr(fitted, "log_likelihoods_", np.empty(0)),
    )
    return expect_error(decision, evidence)


def _in_input_order(
    decision: Decision,
    evidence: Evidence,
    canonical: CanonicalResponses,
    table: Responses,
    method: Estimator | None,
) -> Fusion:
    """The fusion of the input ``table``, with gold labels, from a decision in canonical order."""
    posteriors, model = decision.posteriors, decision.model
    if canonical.responses is not table:
        item_at, class_at = np.argsort(canonical.items), np.argsort(canonical.classes)
        posteriors = posteriors[item_at][:, class_at]
        model = model.for_annotators(table.annotators, table.classes, table.symbols)
    gold_items, gold_classes = gold_codes(table, evidence.gold)
    is_gold = None
    if len(gold_items):
        is_gold = np.zeros(table.n_items, dtype=bool)
        is_gold[gold_items] = True
        posteriors[gold_items] = np.eye(table.n_classes)[gold_classes]
    return Fusion(
        table,
        np.asarray(table.classes[most_likely(posteriors)]),
        posteriors,
        decision.method,
        decision.why,
        replace(model, scale=table.anchor.scale) if table.anchor.scale else model,
        decision.expected_error,
        decision.history,
        evidence,
        canonical.annotators,
        is_gold=is_gold,
        threads=evidence.threads,
        estimator=method,
    )


def _read_like(known: Responses, data: Any) -> Responses:
    """New items as Responses; scores are divided into levels as those of ``known``."""
    if isinstance(data, Responses) or known.anchor.kind != "order":
        return as_responses(data, known.classes if known.is_plain else None, known.annotators)
    if known.anchor.scale is not None:
        return Responses.from_scores(data, classes=known.classes, levels=known.anchor.scale)
    return as_responses(data, known.symbols, known.annotators).with_anchor(
        known.classes, known.anchor
    )
