"""`fuse`: the call that most users make. It fuses responses, and says how and why."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.calibration import ErrorInterval
from blindfuse.diagnostics.diagnose import Diagnostics, diagnose
from blindfuse.diagnostics.expected_error import expect_error
from blindfuse.errors import NotConverged
from blindfuse.estimators.base import check_responses
from blindfuse.fusion.abstentions import explain_abstentions
from blindfuse.fusion.audit import AuditResult
from blindfuse.fusion.audit_decision import apply_checks
from blindfuse.fusion.choice import Choice, FuseContext, SelectionRule, choice_in_input_order
from blindfuse.fusion.recalibration import with_expected_error
from blindfuse.fusion.selection import select_by_order, select_by_prediction
from blindfuse.fusion.symbols import select_with_symbols
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.model.model import Model
from blindfuse.model.posteriors import most_likely
from blindfuse.parameters import integer_at_least, one_of
from blindfuse.responses.canonical import canonicalize
from blindfuse.responses.coding import positions
from blindfuse.responses.gold import gold_codes
from blindfuse.responses.responses import Responses, as_responses
from blindfuse.responses.symbols import NO_RESPONSE

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fusion:
    """Fused labels with posteriors, the annotators' confusion matrices, and diagnostics.

    Attributes
    ----------
    labels ``[item]``, posteriors ``[item, class]``
        in the order of ``responses.items`` and ``responses.classes``.
    choice
        what the selection rule chose; ``method``, ``why``, ``model``, ``history`` and ``groups``
        are its fields.
    threads
        maximum number of threads for prediction.
    is_gold ``[item]``
        whether the label is a gold label; None if there are no gold labels.
    """

    responses: Responses
    labels: NDArray[Any]
    posteriors: Floats
    choice: Choice = field(repr=False)
    threads: int | None = field(default=None, repr=False)
    is_gold: NDArray[np.bool_] | None = field(default=None, repr=False)

    @property
    def method(self) -> str:
        """The name of the method that was used."""
        return self.choice.method

    @property
    def why(self) -> str:
        """Why the method was used, in sentences."""
        return self.choice.why

    @property
    def model(self) -> Model:
        """Confusion matrices and class prior, for new items by the same annotators."""
        return self.choice.model

    @cached_property
    def expected_error(self) -> ErrorInterval:
        """The expected share of wrong labels, with its 80 % interval: ``value``, ``low``, ``high``.

        Gold labels count as correct.
        """
        known = self.choice.expected_error
        return known or expect_error(self.responses, self.model, self.posteriors)

    @property
    def history(self) -> Floats:
        """Log-likelihoods ``[iteration]``; empty for methods that do not iterate."""
        return self.choice.history

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Positions of annotators with correlated errors that the method merged."""
        return self.choice.groups

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """How far the result can be trusted; computed when first used."""
        with single_threaded_blas():
            all_gold = self.is_gold is not None and bool(self.is_gold.all())
            known = self.responses.classes
            labels = positions(self.labels, known) if self.choice.rates_by_labels else None
            return diagnose(
                self.responses,
                self.model,
                self.posteriors,
                self.groups,
                all_gold,
                self.expected_error,
                labels,
                n_checked=self.choice.n_checked,
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
        if self.choice.posteriors_of is not None:
            return self.choice.posteriors_of(new)
        return self.model.posteriors(new, threads=self.threads)

    def predict(self, responses: Any) -> NDArray[Any]:
        """Labels ``[item]`` of new items by the same annotators, by the same method."""
        codes = most_likely(self.predict_proba(responses))
        return np.asarray(self.responses.classes[codes])

    def summary(self) -> str:
        """What was fused, by which method and why, and how far to trust it."""
        return f"{self.responses!r}\n{self.method}. {self.why}\n\n{self.diagnostics.summary()}"

    def __repr__(self) -> str:
        return f"Fusion of {self.responses!r}, by {self.method}"


def fuse(
    responses: Any,
    *,
    ordered: bool = False,
    abstentions: bool | None = None,
    gold: Mapping[Any, Any] | None = None,
    checked: Mapping[Any, Any] | AuditResult | None = None,
    prior_model: Model | None = None,
    prior_count: float = 20.0,
    selection: SelectionRule | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Fusion:
    """Fuse responses without ground truth, by the method that the responses themselves justify.

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
        item, as labelling functions have (:meth:`Responses.with_abstentions`). None decides by the
        responses: annotators must report few of the classes, and respond like independent sources
        that are applied to all items.
    gold
        gold labels of some items, ``{item: label}``, which are held fixed.
    checked
        what :func:`blindfuse.audit` returned, or labels of your own list ``{item: label}``. They
        are held fixed, and if they show that another method is better, its labels are used.
    prior_model, prior_count
        a Model of annotators from earlier work, and the pseudo-counts per class it is worth.
    selection
        the rule that chooses the method; by default
        :func:`blindfuse.fusion.selection.select_by_prediction`.
    seed
        random seed of the sample of items on which methods are compared, if there are more than
        500,000 responses; the result for smaller tables does not depend on it.
    threads
        maximum number of threads; None for all cores.

    Examples
    --------
    >>> from blindfuse import fuse
    >>> fuse([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]).labels.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    integer_at_least(0).check("seed", seed)
    one_of(True, False, None).check("abstentions", abstentions)
    table = check_responses(responses)
    why_abstentions = None
    if abstentions is None and selection is None and checked is None and not ordered:
        why_abstentions = explain_abstentions(table, threads)
    if abstentions or why_abstentions is not None:
        table = table.with_abstentions()
    gold_items, gold_classes = gold_codes(table, gold)
    use_order = ordered and table.n_classes > 2 and table.is_plain
    select = selection or _default_rule(table, use_order)
    canonical = canonicalize(table, keep_classes=ordered, threads=threads)
    context = FuseContext(canonical.responses, seed, gold, prior_model, prior_count, threads)
    with single_threaded_blas(), warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        choice = with_expected_error(select(context), context)
    choice = choice_in_input_order(choice, canonical, table)
    why = choice.why if why_abstentions is None else f"{why_abstentions} {choice.why}"
    choice = replace(choice, why=why, model=choice.model.with_scale(table.anchor.scale))
    posteriors, labels = choice.posteriors, choice.label_codes()
    is_gold = None
    if len(gold_items):
        posteriors, is_gold = posteriors.copy(), np.zeros(table.n_items, dtype=bool)
        posteriors[gold_items] = np.eye(table.n_classes)[gold_classes]
        labels[gold_items] = gold_classes
        is_gold[gold_items] = True
    fusion = Fusion(table, np.asarray(table.classes[labels]), posteriors, choice, threads, is_gold)
    return fusion if checked is None else apply_checks(fusion, checked)


def _read_like(known: Responses, data: Any) -> Responses:
    """New items as Responses; scores are divided into levels as those of ``known``."""
    if isinstance(data, Responses) or known.anchor.kind != "order":
        return as_responses(data, classes=known.classes if known.is_plain else None)
    if known.anchor.scale is not None:
        return Responses.from_scores(data, classes=known.classes, levels=known.anchor.scale)
    return as_responses(data, classes=known.symbols).with_anchor(known.classes, known.anchor)


def _default_rule(table: Responses, use_order: bool) -> SelectionRule:
    """The rule for these responses, if the caller gives none."""
    if not table.is_plain:
        return select_with_symbols
    return select_by_order if use_order else select_by_prediction
