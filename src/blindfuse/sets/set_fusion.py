"""`SetFusion`: fused sets of classes, how they were found, and how far to trust them."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from blindfuse.auditing.stratified import Interval
from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.errors import list_names
from blindfuse.fusion.fuse import Fusion
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.sets.annotators import RatedSetAnnotators
from blindfuse.sets.class_dependence import ClassDependence
from blindfuse.sets.shared_rates import SharedRates
from blindfuse.typing import Array, Flags, Floats

Members = Flags

MIN_POSTERIOR = 0.5
"""Posterior above which a class belongs to the set."""
MIN_CORRELATION = 0.2
"""Correlation of the posteriors of two classes at or above which they are listed as related."""


@dataclass(frozen=True, eq=False)
class SetFusion:
    """One set of classes per item, with the posterior of each class and rated annotators.

    Attributes
    ----------
    responses
        the :class:`ResponseSets` that were fused.
    posteriors ``[item, class]``
        probability that the class belongs to the item.
    chosen ``[item, class]``
        whether it belongs to the fused set; ``sets`` names the classes.
    confidence ``[item]``
        probability that the whole set is correct, if errors in its classes are independent.
    expected_error
        the expected share of wrong yes/no decisions, with its interval; None if the responses do
        not tell.
    correct_sets
        the expected share of correct whole sets, with its interval; None as well.
    annotators
        recall, precision and remarks, see :class:`RatedSetAnnotators`.
    questions
        the :class:`Fusion` of each class, with the annotators' confusion matrices for "yes" and
        "no"; None where no response, or every one, contains the class. A single entry, for all
        classes together, if every response contains one class.
    dependence
        whether classes that occur together were used.
    shared
        what all classes together say about the annotators; None for single choices.
    """

    responses: ResponseSets
    posteriors: Floats
    chosen: Members
    confidence: Floats
    expected_error: ExpectedError | None
    correct_sets: Interval | None
    annotators: RatedSetAnnotators = field(repr=False)
    questions: tuple[Fusion | None, ...] = field(repr=False)
    dependence: ClassDependence = field(repr=False)
    shared: SharedRates | None = field(default=None, repr=False)

    @property
    def items(self) -> Array:
        """Names of the items, in the order of the rows of ``posteriors``."""
        return self.responses.items

    @property
    def classes(self) -> Array:
        """Names of the classes, in the order of the columns of ``posteriors``."""
        return self.responses.classes

    @property
    def sets(self) -> tuple[tuple[Any, ...], ...]:
        """The classes of each item, in the order of ``classes``."""
        return tuple(tuple(self.classes[row].tolist()) for row in self.chosen)

    @property
    def method(self) -> str:
        """How the classes were fused."""
        single = self.responses.are_single
        questions = [one for one in self.questions if one is not None]
        if single and questions:
            return questions[0].method
        related = ", related classes" if self.dependence.correction is not None else ""
        return f"one question per class{related}"

    @property
    def why(self) -> str:
        """Why it was done so, in three sentences."""
        questions = [one for one in self.questions if one is not None]
        if self.shared is None:
            return questions[0].why
        if not questions:
            return "All responses agree about every class."
        if self.shared.is_dependent:
            sharing = (
                "All classes together show correlated errors: a second subtype per class predicts "
                f"held-out responses better ({self.shared.pooled.evidence.second_subtype}), so "
                "every class is decided by its majority."
            )
            return f"{sharing} {self._describe_changes()}"
        methods = Counter(one.method for one in questions)
        by_method = ", ".join(f"{name} ({count:,})" for name, count in methods.most_common())
        return (
            f"Methods and numbers of classes: {by_method}; an annotator's rates in all classes "
            f"together count as {self.shared.strength:,.4g} responses in each class. "
            f"{self._describe_dependence()} {self._describe_changes()}"
        )

    def _describe_dependence(self) -> str:
        gain = self.dependence.gain
        if gain is None:
            return "Too few responses per item show whether classes occur together."
        if self.dependence.correction is None:
            return f"Classes that occur together predict held-out responses no better ({gain})."
        return (
            "Each class is corrected by the other classes of the item, because that predicts "
            f"held-out responses better ({gain})."
        )

    def _describe_changes(self) -> str:
        majority = self.responses.shares() > MIN_POSTERIOR
        differ = int(np.count_nonzero((majority != self.chosen).any(axis=1)))
        return (
            f"{differ:,} of {len(self.items):,} sets differ from the majority vote class by class."
        )

    @cached_property
    def needs_another_label(self) -> Flags:
        """Whether one more response could change the set ``[item]``."""
        found = np.zeros(len(self.items), dtype=bool)
        for question in self.questions:
            if question is not None:
                found |= question.item_ratings.needs_another_label
        return found

    def paragraphs(self) -> list[tuple[str, str]]:
        """Headings and sentences: how far the sets can be trusted, and the annotators."""
        sizes = self.chosen.sum(axis=1)
        found = [
            (
                "Sets",
                f"{sizes.mean():.1f} classes per item on average; {int((sizes == 0).sum()):,} sets "
                f"are empty. {self._describe_errors()} One more response could change "
                f"{int(np.count_nonzero(self.needs_another_label)):,} sets.",
            ),
            ("Annotators", self.annotators.summary()),
        ]
        related = self.related_classes()[:3]
        if related:
            listed = "; ".join(
                f"{list_names([one, other])} ({'together' if value > 0 else 'apart'})"
                for one, other, value in related
            )
            found.append(("Related", f"Classes that occur together or avoid each other: {listed}."))
        return found

    def _describe_errors(self) -> str:
        if self.expected_error is None or self.correct_sets is None:
            return "Annotators do not agree beyond chance, so no share of correct sets is stated."
        value, low, high = (f"{100 * x:.0f}" for x in self.correct_sets)
        return (
            f"{value} % of the whole sets are expected to be correct ({low} to {high} %), and "
            f"{self.expected_error.interval()} of the single decisions wrong."
        )

    def related_classes(self) -> list[tuple[Any, Any, float]]:
        """Pairs of classes whose posteriors are correlated, the strongest first; empty if unused.

        The third entry is the correlation of their posteriors over items.
        """
        if self.dependence.correction is None:
            return []
        active = self.dependence.active
        names = self.classes[active].tolist()
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.atleast_2d(np.corrcoef(self.posteriors[:, active].T))
        correlation = np.nan_to_num(found)
        first, second = np.triu_indices(len(active), 1)
        values = correlation[first, second]
        order = np.argsort(-np.abs(values), kind="stable")
        return [
            (names[first[at]], names[second[at]], float(values[at]))
            for at in order.tolist()
            if abs(values[at]) >= MIN_CORRELATION
        ]

    def summary(self) -> str:
        """What was fused, how and why, and how far to trust it."""
        rows = "\n".join(f"{heading}: {text}" for heading, text in self.paragraphs())
        return f"{self.responses!r}\n{self.method}. {self.why}\n\n{rows}"

    def __repr__(self) -> str:
        return (
            f"SetFusion of {len(self.items):,} items, {len(self.classes):,} classes, "
            f"{self.chosen.sum() / max(len(self.chosen), 1):.1f} per item"
        )
