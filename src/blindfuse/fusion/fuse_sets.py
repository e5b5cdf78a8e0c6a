"""`fuse_sets`: fuse responses that are sets of classes, as in multi-label annotation."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, logit

from blindfuse.errors import BadLabels, list_names
from blindfuse.fusion.class_dependence import BOUND, PriorCorrection, fit_correction
from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.fusion.held_out import Gain
from blindfuse.fusion.selection import SIGNIFICANT_Z
from blindfuse.fusion.set_annotators import RatedSetAnnotators, rate_set_annotators
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.model.posteriors import safe_log
from blindfuse.responses.coding import positions
from blindfuse.responses.keys import name_key
from blindfuse.responses.response_sets import ResponseSets, as_response_sets
from blindfuse.responses.responses import Names, Responses, Values
from blindfuse.responses.set_values import parse_set

Floats = NDArray[np.float64]
Members = NDArray[np.bool_]

YES = 0.5
"""Posterior above which a class belongs to the set."""
MAX_POOLED = 500_000
"""Questions (response × class) that all classes together are fused on, as a sample of items."""
STRENGTHS = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Pseudo-counts per class among which the most likely is chosen."""
MAX_PREDICTED = 50_000
"""Responses that are held out to compare models of dependent classes."""
CONFIDENT = 0.9
"""Probability of the whole set below which an item needs another response."""


@dataclass(frozen=True, eq=False)
class ClassDependence:
    """Whether classes that occur together predict held-out responses, and what was learned.

    ``gain`` is None if it could not be tested; ``correction`` is None if it was not used.
    ``active`` are the positions of the classes that it concerns.
    """

    gain: Gain | None
    correction: PriorCorrection | None
    active: NDArray[np.intp]


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
    strength
        pseudo-counts per class that the annotator's rates in all classes together are worth.
    """

    responses: ResponseSets
    posteriors: Floats
    chosen: Members
    confidence: Floats
    annotators: RatedSetAnnotators = field(repr=False)
    questions: tuple[Fusion | None, ...] = field(repr=False)
    dependence: ClassDependence = field(repr=False)
    strength: float | None = None

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
        if self.strength is None:
            return questions[0].why if questions else "No response distinguishes any classes."
        methods = Counter(one.method for one in questions)
        by_method = ", ".join(f"{name} for {count:,}" for name, count in methods.most_common())
        return (
            f"Classes are yes/no questions, fused by {by_method}. What an annotator does in all "
            f"classes together counts as {self.strength:g} responses in each of them. "
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
        majority = self.responses.shares() > YES
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
                f"to be correct, and {100 * (1 - self._expected_error()):.1f} % of the single "
                f"decisions. {uncertain:,} sets have a probability below "
                f"{100 * CONFIDENT:.0f} % and need another response.",
            ),
            ("Annotators", self.annotators.summary()),
        ]
        related = self.related_classes()[:3]
        if related:
            listed = "; ".join(
                f"{list_names([one])} and {list_names([other])} ({'together' if value > 0 else 'apart'})"
                for one, other, value in related
            )
            found.append(("Related", f"Classes that occur together or avoid each other: {listed}."))
        return found

    def _expected_error(self) -> float:
        """Expected share of wrong yes/no decisions."""
        return float(np.where(self.chosen, 1 - self.posteriors, self.posteriors).mean())

    def related_classes(self) -> list[tuple[Any, Any, float]]:
        """Pairs of classes whose posteriors are correlated, the strongest first; empty if unused.

        The third entry is the correlation of their posteriors over items.
        """
        if self.dependence.correction is None:
            return []
        active = self.dependence.active
        correlation = np.nan_to_num(np.corrcoef(self.posteriors[:, active].T))
        first, second = np.triu_indices(len(active), 1)
        values = correlation[first, second]
        order = np.argsort(-np.abs(values), kind="stable")
        return [
            (self.classes[active[first[at]]], self.classes[active[second[at]]], float(values[at]))
            for at in order.tolist()
            if abs(values[at]) >= 0.1
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


def fuse_sets(
    items: Values | ResponseSets,
    annotators: Values | None = None,
    sets: Sequence[Any] | None = None,
    *,
    classes: Names | None = None,
    gold: Mapping[Any, Any] | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> SetFusion:
    """Fuse sets of classes into one set per item, by one yes/no question per class.

    The questions share their annotators. All questions together give each annotator's confusion
    matrix of "yes" and "no", which is the prior in the question about each class. If classes that
    occur together predict held-out responses better, the prior of each class depends on what was
    reported about the others. If every response contains exactly one class, the labels are those of
    :func:`fuse`.

    Parameters
    ----------
    items, annotators, sets
        three columns with one row per response, see :meth:`ResponseSets.from_long`; or
        ResponseSets, or a frame, alone. An empty set is a response; None is missing.
    classes
        all classes, in your order, for three columns; by default those that occur, sorted.
    gold
        known sets of some items, ``{item: set}``, which are held fixed.
    seed, threads
        as in :func:`fuse`.

    Examples
    --------
    >>> from blindfuse import fuse_sets
    >>> fuse_sets([0, 0, 0, 1, 1, 1], [7, 8, 9, 7, 8, 9],
    ...           [{"a"}, {"a", "b"}, "a", ["b"], set(), "b"]).sets
    (('a',), ('b',))
    """
    if classes is not None and annotators is not None and sets is not None:
        table = ResponseSets.from_long(items, annotators, sets, classes=classes)  # type: ignore[arg-type]
    else:
        table = as_response_sets(items, annotators, sets)
    if not table.n_responses:
        raise BadLabels("There are no responses, so there is nothing to fuse. Check the input.")
    known = _gold_members(table, gold or {})
    options: dict[str, Any] = {"seed": seed, "threads": threads}
    if table.are_single and all(row.sum() == 1 for row in known.values()):
        return _fuse_single(table, known, options)
    pooled = _fuse_pooled(table, options)
    strength = _choose_strength(table, pooled)
    questions = [
        _fuse_question(table, k, known, pooled, strength, options) for k in range(table.n_classes)
    ]
    with single_threaded_blas():
        return _combine(table, questions, known, strength)


def _fuse_single(
    table: ResponseSets, known: Mapping[int, Members], options: Mapping[str, Any]
) -> SetFusion:
    """The fusion of responses of one class each."""
    labels = {table.items[n]: table.classes[int(row.argmax())] for n, row in known.items()}
    fusion = fuse(table.single_choices(), gold=labels, **options)
    codes = positions(fusion.labels, table.classes)
    chosen = np.eye(table.n_classes, dtype=bool)[codes]
    confusions = fusion.model.confusions
    correct = np.einsum("mkk->mk", confusions)
    prior = fusion.model.prior
    wrong = (confusions @ prior - correct * prior) / np.maximum(1 - prior, BOUND)
    rates = np.stack([wrong, correct], axis=2)
    return SetFusion(
        *(table, fusion.posteriors, chosen, fusion.posteriors[np.arange(len(codes)), codes]),
        annotators=rate_set_annotators(table, fusion.posteriors, rates),
        questions=(fusion,),
        dependence=ClassDependence(None, None, np.arange(table.n_classes)),
    )


def _fuse_pooled(table: ResponseSets, options: Mapping[str, Any]) -> Fusion:
    """The fusion of the questions of all classes, as if each were an item of its own."""
    n_classes = table.n_classes
    n_items = max(1, int(MAX_POOLED / n_classes / max(table.n_responses / table.n_items, 1)))
    step = 1 + (table.n_items - 1) // n_items
    rows = np.flatnonzero(table.item_of_response() % step == 0)
    members = table.members[table.symbols[rows]]
    items = table.item_of_response()[rows] // step
    n_sampled = 1 + (table.n_items - 1) // step
    pooled = Responses.from_codes(
        np.repeat(items, n_classes) + n_sampled * np.tile(np.arange(n_classes), len(rows)),
        np.repeat(table.codes[rows], n_classes),
        members.ravel().astype(np.int8),
        items=np.arange(n_sampled * n_classes),
        annotators=table.annotators,
        classes=["no", "yes"],
    )
    return fuse(pooled, **options)


def _choose_strength(table: ResponseSets, pooled: Fusion) -> float:
    """Pseudo-counts per class under which the counts of all classes are most likely.

    The rates of annotator m in class k are Dirichlet with mean Γ_m of all classes together. The
    expected counts follow from the posteriors of the pooled questions.
    """
    n_classes = table.n_classes
    n_sampled = len(pooled.posteriors) // n_classes
    posteriors = pooled.posteriors[:, 1].reshape(n_classes, n_sampled)
    responses = pooled.responses
    question = responses.item_of_response()
    k, n = np.divmod(question, n_sampled)
    yes = posteriors[k, n]
    codes, symbols = responses.by_item.codes.astype(np.int64), responses.by_item.symbols
    cells = (codes * n_classes + k) * 2 + symbols
    shape = table.n_annotators, n_classes, 2
    counts = np.stack(
        [np.bincount(cells, weight, np.prod(shape)).reshape(shape) for weight in (1 - yes, yes)],
        axis=3,
    )
    mean = pooled.model.confusions[:, None].clip(1e-3)

    def log_likelihood(strength: float) -> float:
        own = strength * mean
        gained = gammaln(own + counts) - gammaln(own)
        total = gammaln(own.sum(axis=2)) - gammaln((own + counts).sum(axis=2))
        return float(gained.sum() + total.sum())

    return max(STRENGTHS, key=log_likelihood)


def _fuse_question(
    table: ResponseSets,
    k: int,
    known: Mapping[int, Members],
    pooled: Fusion,
    strength: float,
    options: Mapping[str, Any],
) -> Fusion | None:
    """The fusion of "does class k apply?"; None where all responses agree."""
    if table.responses_per_class[k] in (0, table.n_responses):
        return None
    gold = {table.items[n]: "yes" if row[k] else "no" for n, row in known.items()}
    return fuse(
        table.question(k), gold=gold, prior_model=pooled.model, prior_count=strength, **options
    )


def _combine(
    table: ResponseSets,
    questions: Sequence[Fusion | None],
    known: Mapping[int, Members],
    strength: float,
) -> SetFusion:
    """Posteriors of all classes, corrected by the other classes if that predicts better."""
    everybody = table.responses_per_class == table.n_responses
    posteriors = np.tile(everybody.astype(np.float64), (table.n_items, 1))
    chosen = posteriors > YES
    rates = np.tile(everybody.astype(np.float64)[:, None], (table.n_annotators, 1, 2))
    for k, question in enumerate(questions):
        if question is not None:
            posteriors[:, k] = question.posteriors[:, 1]
            chosen[:, k] = question.labels == "yes"
            rates[:, k] = question.model.confusions[:, 1]
    active = np.array([k for k, one in enumerate(questions) if one is not None], dtype=np.intp)
    prior = np.array([one.model.prior[1] for one in questions if one is not None])
    dependence = _test_dependence(table, active, prior, rates[:, active])
    if dependence.correction is not None:
        own = posteriors[:, active].clip(BOUND, 1 - BOUND)
        evidence = logit(own) - logit(prior.clip(BOUND, 1 - BOUND))
        correction = fit_correction(evidence[_content_order(evidence)], prior)
        dependence = ClassDependence(dependence.gain, correction, active)
        posteriors[:, active] = expit(evidence + correction.log_odds(own))
        chosen[:, active] = posteriors[:, active] > YES
    for n, row in known.items():
        posteriors[n], chosen[n] = row, row
    return SetFusion(
        *(table, posteriors, chosen, np.where(chosen, posteriors, 1 - posteriors).prod(axis=1)),
        annotators=rate_set_annotators(table, posteriors, rates),
        questions=tuple(questions),
        dependence=dependence,
        strength=strength,
    )


def _test_dependence(
    table: ResponseSets, active: NDArray[np.intp], prior: Floats, rates: Floats
) -> ClassDependence:
    """Whether responses are predicted better if each class depends on the others of the item.

    Items are divided into two folds. A correction fitted to one predicts each response to an item
    of the other from the remaining responses to that item.
    """
    n_responses = table.responses_per_item
    if len(active) < 2 or np.count_nonzero(n_responses >= 2) < 2:
        return ClassDependence(None, None, active)
    base = logit(prior.clip(BOUND, 1 - BOUND))
    named = table.indicators()[:, active]
    own = rates[table.codes].clip(BOUND, 1 - BOUND)
    chances = np.where(named[:, :, None], own, 1 - own)
    ratios = np.log(chances[:, :, 1]) - np.log(chances[:, :, 0])
    item = table.item_of_response()
    evidence = np.zeros((table.n_items, len(active)))
    np.add.at(evidence, item, ratios)
    order = _content_order(evidence)
    fold_of_item = np.empty(table.n_items, dtype=np.intp)
    fold_of_item[order] = np.arange(table.n_items) % 2
    rank_of_item = np.argsort(order)
    step = 1 + table.n_responses // MAX_PREDICTED
    gains = np.zeros(table.n_items)
    for fold in range(2):
        correction = fit_correction(evidence[order[fold_of_item[order] == fold]], prior)
        is_tested = (fold_of_item != fold) & (n_responses >= 2) & (rank_of_item // 2 % step == 0)
        rows = np.flatnonzero(is_tested[item])
        rest = evidence[item[rows]] - ratios[rows]
        scores = [
            safe_log(
                expit(rest + odds) * chances[rows, :, 1] + expit(-rest - odds) * chances[rows, :, 0]
            ).sum(axis=1)
            for odds in (correction.log_odds(expit(rest + base)), base)
        ]
        gains += np.bincount(item[rows], scores[0] - scores[1], table.n_items)
    tested = np.flatnonzero((n_responses >= 2) & (rank_of_item // 2 % step == 0))
    n = int(n_responses[tested].sum())
    deviations = gains[tested] - gains[tested].mean()
    gain = Gain(float(gains[tested].sum() / n), float(np.sqrt(np.sum(deviations**2)) / n))
    return ClassDependence(gain, correction if gain.z > SIGNIFICANT_Z else None, active)


def _content_order(evidence: Floats) -> NDArray[np.intp]:
    """An order of the items that depends on their evidence ``[item, class]`` only.

    Sums over classes in any order agree but for rounding, which is cut off.
    """
    key = np.sort(expit(evidence), axis=1).sum(axis=1).round(9)
    return np.lexsort((np.abs(evidence).max(axis=1).round(6), key))


def _gold_members(table: ResponseSets, gold: Mapping[Any, Any]) -> dict[int, Members]:
    """Known sets as rows ``[class]``, by the position of their item."""
    item_of = {name_key(name): n for n, name in enumerate(table.items.tolist())}
    class_of = {name_key(name): k for k, name in enumerate(table.classes.tolist())}
    known: dict[int, Members] = {}
    for item, value in gold.items():
        members = parse_set(value, "|", {one for one in class_of if isinstance(one, str)})
        if name_key(item) not in item_of:
            raise BadLabels(
                f"Gold item {list_names([item])} has no responses. Remove it from gold=."
            )
        unknown = [one for one in members or () if name_key(one) not in class_of]
        if unknown:
            raise BadLabels(
                f"The gold set of item {list_names([item])} contains {list_names(unknown)}, but "
                f"the classes are {list_names(table.classes)}. List all classes in classes=."
            )
        if members is not None:
            row = np.zeros(table.n_classes, dtype=bool)
            row[[class_of[name_key(one)] for one in members]] = True
            known[item_of[name_key(item)]] = row
    return known
