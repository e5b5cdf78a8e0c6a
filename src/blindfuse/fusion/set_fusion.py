"""`SetFusion`: fused sets of classes, how they were found, and how far to trust them."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import list_names
from blindfuse.fusion.class_dependence import ClassDependence
from blindfuse.fusion.fuse import Fusion
from blindfuse.fusion.set_annotators import RatedSetAnnotators
from blindfuse.fusion.shared_rates import SharedRates
from blindfuse.responses.response_sets import ResponseSets

Floats = NDArray[np.float64]
Members = NDArray[np.bool_]

MIN_POSTERIOR = 0.5
"""Posterior above which a class belongs to the set."""
CONFIDENT = 0.9
"""Probability of the whole set below which an item needs another response."""
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
        probability that the whole set is correct, if the classes of an item are independent given
        the responses.
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
    annotators: RatedSetAnnotators = field(repr=False)
    questions: tuple[Fusion | None, ...] = field(repr=False)
    dependence: ClassDependence = field(repr=False)
    shared: SharedRates | None = field(default=None, repr=False)

    @property
    def items(self) -> NDArray[Any]:
        """Names of the items, in the order of the rows of ``posteriors``."""
        return self.responses.items

    @property
    def classes(self) -> NDArray[Any]:
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
        """Why it was done so, in sentences."""
        questions = [one for one in self.questions if one is not None]
        if self.shared is None:
            return questions[0].why
        if not questions:
            return "All responses agree about every class."
        methods = Counter(one.method for one in questions)
        by_method = ", ".join(f"{name} ({count:,})" for name, count in methods.most_common())
        return (
            f"Methods and numbers of classes: {by_method}. {self._describe_sharing()} "
            f"{self._describe_dependence()} {self._describe_changes()}"
        )

    def _describe_sharing(self) -> str:
        assert self.shared is not None
        if self.shared.difficulty is not None:
            return (
                "Errors in different classes of an item are correlated, so some items are harder "
                f"than others ({self.shared.difficulty:.1f} standard errors), and no model may "
                "overrule clear majorities."
            )
        if self.shared.is_dependent:
            return f"All classes together decide on the method. {self.shared.pooled.why}"
        return (
            "An annotator's rates in all classes together count as "
            f"{self.shared.strength:,.4g} responses in each class."
        )

    def _describe_dependence(self) -> str:
        gain = self.dependence.gain
        if gain is None and self.shared is not None and not self.shared.are_independent:
            return "Whether classes occur together was not used, because errors are correlated."
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

    def paragraphs(self) -> list[tuple[str, str]]:
        """Headings and sentences: how far the sets can be trusted, and the annotators."""
        uncertain = int(np.count_nonzero(self.confidence < CONFIDENT))
        sizes = self.chosen.sum(axis=1)
        found = [
            (
                "Sets",
                f"{sizes.mean():.1f} classes per item on average; {int((sizes == 0).sum()):,} sets "
                f"are empty. {100 * self.confidence.mean():.0f} % of the whole sets are expected "
                f"to be correct, and {100 * (1 - self.expected_error):.1f} % of the single "
                f"decisions. {uncertain:,} sets have a probability below "
                f"{100 * CONFIDENT:.0f} % and need another response.",
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

    @property
    def expected_error(self) -> float:
        """Expected share of wrong yes/no decisions."""
        return float(np.where(self.chosen, 1 - self.posteriors, self.posteriors).mean())

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
