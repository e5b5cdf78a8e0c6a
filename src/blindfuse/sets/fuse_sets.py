"""`fuse_sets`: fuse responses that are sets of classes, as in multi-label annotation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import expit, logit

from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.diagnostics.pairs import MAX_SAMPLED, evenly_spaced
from blindfuse.errors import BadLabels, list_names
from blindfuse.fusion.fuse import Fusion, fuse, fuse_table
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.metrics.interval import Interval
from blindfuse.model.fused_model import power_for_error
from blindfuse.parameters import integer_at_least
from blindfuse.responses.coding import positions
from blindfuse.responses.inputs import Names, Values
from blindfuse.responses.response_sets import ResponseSets, as_response_sets
from blindfuse.responses.scalars import name_key
from blindfuse.responses.set_coding import parse_set
from blindfuse.responses.table import check_gold, gold_positions
from blindfuse.sets.annotators import rate_set_annotators
from blindfuse.sets.class_dependence import (
    EPSILON,
    ClassDependence,
    content_order,
    fit_correction,
    measure_class_dependence,
)
from blindfuse.sets.set_fusion import MIN_POSTERIOR, SetFusion
from blindfuse.sets.shared_rates import SharedRates, learn_shared_rates
from blindfuse.typing import Flags, Floats


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
    matrix of "yes" and "no", which is the prior in the question about each class. If they show
    correlated errors, every class is decided by its majority. If classes that occur together
    predict held-out responses better, the prior of each class depends on what was reported about
    the others. If every response contains exactly one class, the labels are those of :func:`fuse`.

    Parameters
    ----------
    items, annotators, sets, classes
        three columns with one row per response, see :meth:`ResponseSets.from_long`; or
        ResponseSets, or a frame, alone. An empty set is a response; None is missing.
    gold, seed, threads
        known sets of some items, ``{item: set}``, which are held fixed; as in :func:`fuse`.

    Examples
    --------
    >>> from blindfuse import fuse_sets
    >>> fuse_sets([0, 0, 0, 1, 1, 1], [7, 8, 9, 7, 8, 9],
    ...           [{"a"}, {"a", "b"}, "a", ["b"], set(), "b"]).sets
    (('a',), ('b',))
    """
    integer_at_least(0).check("seed", seed)
    table = as_response_sets(items, annotators, sets, classes)
    if not table.n_responses:
        raise BadLabels("There are no responses, so there is nothing to fuse. Check the input.")
    check_gold(gold, "gold sets")
    known = _gold_members(table, gold or {})
    options: dict[str, Any] = {"seed": seed, "threads": threads}
    if table.are_single and all(row.sum() == 1 for row in known.values()):
        return _fuse_single(table, known, options)
    shared = learn_shared_rates(table, options)
    questions = [_fuse_question(table, k, shared, known, options) for k in range(table.n_classes)]
    with single_threaded_blas():
        return _combine(table, questions, known, shared)


def _fuse_single(
    table: ResponseSets, known: Mapping[int, Flags], options: Mapping[str, Any]
) -> SetFusion:
    """The fusion of responses of one class each."""
    labels = {table.items[n]: table.classes[int(row.argmax())] for n, row in known.items()}
    fusion = fuse(table.single_choices(), gold=labels, **options)
    codes = positions(fusion.labels, table.classes)
    chosen = np.eye(table.n_classes, dtype=bool)[codes]
    confusions = fusion.model.confusions
    correct = np.einsum("mkk->mk", confusions)
    prior = fusion.model.prior
    wrong = (confusions @ prior - correct * prior) / np.maximum(1 - prior, EPSILON)
    rates = np.stack([wrong, correct], axis=2)
    confidence, error = fusion.posteriors[np.arange(len(codes)), codes], fusion.expected_error
    share = None if error is None else Interval(1 - error.value, 1 - error.high, 1 - error.low)
    return SetFusion(
        *(table, fusion.posteriors, chosen, confidence, error, share),
        annotators=rate_set_annotators(table, fusion.posteriors, rates),
        questions=(fusion,),
        dependence=ClassDependence(None, None, np.arange(table.n_classes)),
    )


def _fuse_question(
    table: ResponseSets,
    k: int,
    shared: SharedRates,
    known: Mapping[int, Flags],
    options: Mapping[str, Any],
) -> Fusion | None:
    """The fusion of "does class k apply?"; None if all responses agree."""
    if table.responses_per_class[k] in (0, table.n_responses):
        return None
    return fuse_table(
        table.question(k),
        gold={table.items[n]: "yes" if row[k] else "no" for n, row in known.items()},
        prior_model=shared.prior_model,
        prior_count=shared.strength,
        votes_only=shared.is_dependent,
        **options,
    )


def _combine(
    table: ResponseSets,
    questions: Sequence[Fusion | None],
    known: Mapping[int, Flags],
    shared: SharedRates,
) -> SetFusion:
    """Posteriors of all classes, corrected by the other classes if that predicts better.

    ``rates[annotator, class, true]`` are the probabilities of "yes".

    All questions together say how many decisions are wrong; one power gives the posteriors of all
    classes that mean error.
    """
    # A class that all responses agree on has the same rate for every annotator.
    prior = (table.responses_per_class == table.n_responses).astype(np.float64)
    rates = np.tile(prior[:, None], (table.n_annotators, 1, 2))
    combined = np.tile(prior, (table.n_items, 1))
    by_model = combined.copy()
    for k, question in enumerate(questions):
        if question is not None:
            model, responses, threads = question.model, question.responses, question.threads
            rates[:, k], prior[k] = model.confusions[:, 1], model.prior[1]
            combined[:, k] = model.combined(responses, threads=threads)[:, 1]
            by_model[:, k] = model.independent.posteriors(responses, threads=threads)[:, 1]
    dependence, related = _use_related_classes(table, questions, combined, by_model, rates, prior)
    wrong = np.where(combined > MIN_POSTERIOR, 1 - by_model, by_model)
    expected = shared.expected_error(float(wrong.mean()))
    if expected is not None and dependence.correction is not None:
        expected = expected.scaled(_mean_error(related) / max(_mean_error(combined), EPSILON))
    posteriors, share = related, None
    responded = table.responses_per_item > 0
    if expected is not None:
        posteriors, share = _recalibrate(related, responded, expected)
    for n, row in known.items():
        posteriors[n] = row
    chosen = posteriors > MIN_POSTERIOR
    return SetFusion(
        *(table, posteriors, chosen, _set_probability(posteriors), expected, share),
        annotators=rate_set_annotators(table, posteriors, rates),
        questions=tuple(questions),
        dependence=dependence,
        shared=shared,
    )


def _use_related_classes(
    table: ResponseSets,
    questions: Sequence[Fusion | None],
    combined: Floats,
    by_model: Floats,
    rates: Floats,
    prior: Floats,
) -> tuple[ClassDependence, Floats]:
    """Whether classes occur together, and the posteriors ``[item, class]`` that use it.

    The correction changes the posteriors ``by_model`` of independent annotators, e in the formula
    of :class:`FusedModel`, and with them the share 1 − w that e has in ``combined``.
    """
    shares = np.array([0.0 if one is None else 1 - one.model.dependence for one in questions])
    active, related = np.flatnonzero(shares), combined.copy()
    prior = prior[active].clip(EPSILON, 1 - EPSILON)
    dependence = measure_class_dependence(table, active, prior, rates[:, active])
    if dependence.correction is not None:
        own = by_model[:, active].clip(EPSILON, 1 - EPSILON)
        evidence = logit(own) - logit(prior)
        correction = fit_correction(evidence[content_order(evidence)], prior)
        dependence = ClassDependence(dependence.gain, correction, active)
        corrected = expit(evidence + correction.log_odds(own))
        related[:, active] += shares[active] * (corrected - own)
    return dependence, related


def _recalibrate(
    posteriors: Floats, responded: Flags, expected: ExpectedError
) -> tuple[Floats, Interval]:
    """Posteriors with the expected mean error, and the expected share of correct whole sets.

    The lower end takes errors in the classes of an item as independent, and the upper end is half
    way to errors that coincide as far as they can.
    """
    counted = posteriors[responded]
    decisions = counted[
        evenly_spaced(len(counted), max(1, MAX_SAMPLED // counted.shape[1]))
    ].ravel()

    def at(error: float) -> Floats:
        power = power_for_error(np.stack([1 - decisions, decisions], axis=1), error).power
        recalibrated = posteriors.copy()
        clipped = counted.clip(EPSILON, 1 - EPSILON)
        is_open = (counted > 0) & (counted < 1)
        recalibrated[responded] = np.where(is_open, expit(power * logit(clipped)), counted)
        return recalibrated

    value, low, high = (at(error) for error in (expected.value, expected.high, expected.low))
    most = np.maximum(high, 1 - high).min(axis=1).mean()
    shares = [float(_set_probability(each).mean()) for each in (value, low, high)]
    return value, Interval(shares[0], shares[1], (shares[2] + float(most)) / 2)


def _set_probability(posteriors: Floats) -> Floats:
    """The probability that all decisions about an item are correct, if they are independent."""
    return np.asarray(np.maximum(posteriors, 1 - posteriors).prod(axis=1))


def _mean_error(posteriors: Floats) -> float:
    return float(np.minimum(posteriors, 1 - posteriors).mean())


def _gold_members(table: ResponseSets, gold: Mapping[Any, Any]) -> dict[int, Flags]:
    """Known sets as rows ``[class]``, by the position of their item; missing sets are left out."""
    class_of = {name_key(name): k for k, name in enumerate(table.classes.tolist())}
    texts = {name for name in class_of if isinstance(name, str)}
    rows: dict[int, Flags] = {}
    places = gold_positions(table, gold) if gold else ()
    for place, (item, value) in zip(places, gold.items(), strict=True):
        members = parse_set(value, "|", texts)
        if members is None:
            continue
        unknown = [name for name in members if name_key(name) not in class_of]
        if unknown:
            raise BadLabels(
                f"The gold set of item {list_names([item])} contains {list_names(unknown)}, but "
                f"the classes are {list_names(table.classes)}. List all classes in classes=."
            )
        codes = [class_of[name_key(name)] for name in members]
        rows[int(place)] = np.isin(np.arange(table.n_classes), codes)
    return rows
