"""`SetFusion`: fused sets of classes, how they were found, and how far to trust them."""

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.errors import counted, list_names
from blindfuse.fusion.fuse import Fusion
from blindfuse.metrics import Interval, masi_alpha
from blindfuse.responses.response_sets import ResponseSets
from blindfuse.result import (
    Columns,
    Paragraph,
    json_rows,
    optional_texts,
    posterior_columns,
    sorted_columns,
    summarize,
)
from blindfuse.sets.annotators import RatedSetAnnotators
from blindfuse.sets.class_dependence import ClassDependence
from blindfuse.sets.shared_rates import SharedRates
from blindfuse.typing import Array, Flags, Floats

MIN_POSTERIOR = 0.5
"""Posterior above which a class belongs to the set."""


@dataclass(frozen=True, eq=False)
class SetFusion:
    """One set of classes per item, with the posterior of each class and rated annotators.

    Attributes
    ----------
    posteriors, chosen ``[item, class]``
        probability that the class belongs to the item, and whether it belongs to the fused set;
        ``sets`` names the classes.
    confidence ``[item]``
        probability that the whole set is correct, if errors in its classes are independent.
    expected_error, correct_sets
        the expected shares of wrong yes/no decisions and of correct whole sets, with their
        intervals; None if the responses do not tell.
    questions
        the :class:`Fusion` of each class, with the annotators' confusion matrices for "yes" and
        "no"; None where no response, or every one, contains the class. A single entry, for all
        classes together, if every response contains one class.
    dependence, shared
        whether classes that occur together were used, and what all classes together say about the
        annotators; None for single choices.
    """

    responses: ResponseSets
    posteriors: Floats
    chosen: Flags
    confidence: Floats
    expected_error: ExpectedError | None
    correct_sets: Interval | None
    annotators: RatedSetAnnotators = field(repr=False)
    questions: tuple[Fusion | None, ...] = field(repr=False)
    dependence: ClassDependence = field(repr=False)
    shared: SharedRates | None = field(default=None, repr=False)
    kind = "sets"

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
        if self.shared is None and self.questions[0] is not None:
            return self.questions[0].method
        related = ", related classes" if self.dependence.correction is not None else ""
        return f"one question per class{related}"

    @property
    def why(self) -> str:
        """Why it was done so, in three sentences."""
        questions = [question for question in self.questions if question is not None]
        if self.shared is None:
            return questions[0].why
        if not questions:
            return "All responses agree about every class."
        if self.shared.is_dependent:
            return (
                "All classes together show correlated errors: a second subtype per class predicts "
                f"held-out responses better ({self.shared.pooled.evidence.second_subtype}), so "
                f"every class is decided by its majority. {self._describe_changes()}"
            )
        methods = Counter(question.method for question in questions)
        by_method = ", ".join(f"{name} ({count:,})" for name, count in methods.most_common())
        shared = ""
        if self.shared.prior_model is not None:
            shared = (
                "; an annotator's rates in all classes together count as "
                f"{self.shared.strength:,.4g} responses in each class"
            )
        return (
            f"Methods and numbers of classes: {by_method}{shared}. "
            f"{self.dependence.summary()} {self._describe_changes()}"
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
        questions = [question for question in self.questions if question is not None]
        needing = [question.item_ratings.needs_another_label for question in questions]
        return np.asarray(np.any([np.zeros(len(self.items), dtype=bool), *needing], axis=0))

    @property
    def size(self) -> str:
        """What was fused, as a sentence."""
        table = self.responses
        return (
            f"{counted(table.n_responses, 'response')} by "
            f"{counted(table.n_annotators, 'annotator')} to {counted(table.n_items, 'item')}, sets "
            f"of {counted(table.n_classes, 'class')}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the responses that limit what the sets mean."""
        return self.responses.notes

    @cached_property
    def agreement(self) -> dict[str, Interval]:
        """Coefficients of agreement by name; empty if no item has two responses."""
        if self.responses.responses_per_item.max(initial=0) < 2:
            return {}
        resamples = 1000 if len(self.items) <= 2000 else 100
        return {"Krippendorff's α (MASI)": masi_alpha(self.responses, resamples=resamples)}

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """How far the sets can be trusted, and the annotators, as text."""
        sizes = self.chosen.sum(axis=1)
        paragraphs = [
            Paragraph(
                "Agreement",
                f"{name} {value.value:.2f} ({value.low:.2f} to {value.high:.2f}); 0 is chance, 1 "
                "is perfect. Sets that overlap count as partly equal.",
            )
            for name, value in self.agreement.items()
        ]
        text = (
            f"{sizes.mean():.1f} classes per item on average; {int((sizes == 0).sum()):,} sets are "
            f"empty. {self._describe_errors()} One more response could change "
            f"{counted(int(np.count_nonzero(self.needs_another_label)), 'set')}."
        )
        paragraphs.append(Paragraph("Sets", text))
        paragraphs.append(Paragraph("Annotators", self.annotators.summary()))
        related = "; ".join(
            f"{list_names([first, second])} ({'together' if value > 0 else 'apart'})"
            for first, second, value in self.related_classes()[:3]
        )
        if related:
            text = f"Classes that occur together or avoid each other: {related}."
            paragraphs.append(Paragraph("Related", text))
        return tuple(paragraphs)

    def _describe_errors(self) -> str:
        if self.expected_error is None or self.correct_sets is None:
            return "Agreement beyond chance is not shown, so no share of correct sets is stated."
        value, low, high = (f"{100 * x:.0f}" for x in self.correct_sets)
        return (
            f"{value} % of the whole sets are expected to be correct ({low} to {high} %), and "
            f"{self.expected_error.interval()} of the single decisions wrong."
        )

    def related_classes(self) -> list[tuple[Any, Any, float]]:
        """Pairs of classes whose posteriors are correlated, the strongest first; empty if unused.

        The third entry is the correlation of their posteriors over items, at least ± 0.2.
        """
        if self.dependence.correction is None:
            return []
        active = self.dependence.active
        names = self.classes[active].tolist()
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.triu(np.nan_to_num(np.corrcoef(self.posteriors[:, active].T)), 1)
        first, second = np.nonzero(np.abs(values) >= 0.2)
        pairs = [
            (names[i], names[j], float(values[i, j])) for i, j in zip(first, second, strict=True)
        ]
        return sorted(pairs, key=lambda pair: -abs(pair[2]))

    def summary(self) -> str:
        """What was fused, how and why, and how far to trust it."""
        return summarize(self, self.responses)

    def item_columns(self) -> Columns:
        """One row per item: its classes as ``a|b``, their probability and the posteriors."""
        return {
            "item": self.items,
            "labels": np.array([self._join(members) for members in self.sets], dtype=object),
            "probability": self.confidence,
            "needs_another_label": self.needs_another_label,
            **posterior_columns(self.classes, self.posteriors),
        }

    def _join(self, members: tuple[Any, ...]) -> str:
        """Classes as ``a|b``, or as a JSON list if a class contains the separator."""
        names = list(map(str, members))
        if any("|" in str(name) for name in self.classes.tolist()):
            return json.dumps(names, ensure_ascii=False)
        return "|".join(names)

    def annotator_columns(self) -> Columns:
        """One row per annotator, the lowest F1 first, by column."""
        rated = self.annotators
        columns = {
            "annotator": rated.names,
            "responses": rated.n_responses,
            "classes_per_response": rated.mean_size,
            "recall": rated.recall,
            "recall_low": rated.recall_low,
            "recall_high": rated.recall_high,
            "precision": rated.precision,
            "f1": rated.f1,
            "flag": optional_texts(rated.flags),
        }
        return sorted_columns(columns, by="f1")

    def to_json(self) -> dict[str, Any]:
        """The whole result as one JSON object, in which sets are lists."""
        rows = zip(json_rows(self.item_columns()), self.sets, strict=True)
        return {
            "n_items": self.responses.n_items,
            "n_annotators": self.responses.n_annotators,
            "n_responses": self.responses.n_responses,
            "classes": list(map(str, self.classes.tolist())),
            "method": self.method,
            "why": self.why,
            "agreement": {name: value._asdict() for name, value in self.agreement.items()},
            "notes": list(self.notes),
            "related_classes": [
                {"classes": [str(first), str(second)], "correlation": round(value, 4)}
                for first, second, value in self.related_classes()
            ],
            "annotators": json_rows(self.annotator_columns()),
            "items": [{**row, "labels": list(map(str, members))} for row, members in rows],
        }

    def __repr__(self) -> str:
        return (
            f"SetFusion of {len(self.items):,} items, {len(self.classes):,} classes, "
            f"{self.chosen.sum() / max(len(self.chosen), 1):.1f} per item"
        )
