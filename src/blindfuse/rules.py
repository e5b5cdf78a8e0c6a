"""Rules that decide, without labels, how deep to fuse: what they choose, and why in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from blindfuse.beliefs import belief_sums, most_likely, vote_sums, weighted_votes
from blindfuse.coding import positions
from blindfuse.diagnostics.dependence import LEAST_COMMON, Dependence, find_dependence
from blindfuse.diagnostics.fit import measure_fit
from blindfuse.diagnostics.joint_errors import find_joint_errors
from blindfuse.diagnostics.pairs import PairCounts, Pairs, count_pairs
from blindfuse.errors import NotIdentifiable
from blindfuse.estimators.base import Estimator
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.groups import fit_groups
from blindfuse.estimators.item_kinds import ItemKinds
from blindfuse.estimators.kos import KOS
from blindfuse.estimators.mixed_items import MixedItems
from blindfuse.held_out import HeldOut, Latent, sampled
from blindfuse.model import Model
from blindfuse.responses import Responses
from blindfuse.shrinkage import CROWD_LABELS
from blindfuse.solver.solve import counting_is_cheaper, require_overlap
from blindfuse.solver.starts import vote_start

Floats = NDArray[np.float64]

SURE = 2.0
"""Standard errors by which a richer model must predict better to be believed."""

QUICK = 1e-6
"""Tolerance of models that are fitted only to be compared; looser, richer models win by chance."""

MOST_ROUNDS = 6
"""Rounds in which groups are looked for again."""

HAIR = 1e-6
"""By how much a label is ahead of another class that is as likely."""

GROUPS_AS_ONE = "EM with groups as one"
"""The method that takes annotators who err together for one."""


@dataclass(frozen=True, eq=False)
class Choice:
    """What a rule chose: by which method, why in words, and what came out.

    ``history`` has the log-likelihood of every iteration; it is empty where nothing was iterated.
    ``labels`` are codes where the method does not just take the largest posterior, of equals the
    first. ``posteriors_of`` new items by the same annotators; the model's, if not given.
    ``groups`` are positions of annotators of whom the method knows that they err together.
    """

    method: str
    why: str
    model: Model
    posteriors: Floats
    history: Floats
    labels: NDArray[np.intp] | None = None
    posteriors_of: Callable[[Responses], Floats] | None = None
    groups: tuple[tuple[int, ...], ...] = ()


class Polish(Protocol):
    """Fits Dawid–Skene with all that is known beforehand."""

    def __call__(self, some: Responses, /, **parameters: Any) -> DawidSkene: ...


Choose = Callable[[Responses, Polish, np.random.Generator, int | None], Choice]


def by_prediction(
    responses: Responses, polish: Polish, rng: np.random.Generator, threads: int | None
) -> Choice:
    """The simplest model that predicts held-out answers as well as a richer one; else the vote.

    1. Some annotators err together more than others do, and without them all look independent:
       EM in which each group of such answers as one annotator.
    2. Annotators are independent given the class: the paper's method, polished by EM. In both cases
       less sure where pairs of annotators speak against it. Nothing need be predicted to see this
       where errors on an item go together no more than by chance; EM from the vote is then as good,
       and is kept where moments of so many annotators would cost more.
    3. If items of two kinds a class predict better, there are clear and contested items on which
       annotators err together: :class:`ItemKinds`, no surer than :class:`MixedItems` makes it.
    4. If a third kind predicts better still, errors go together in ways that no model here knows:
       the majority vote, in which the polished model only breaks ties, as sure as
       :class:`MixedItems` is.
    """
    try:
        require_overlap(responses)
    except NotIdentifiable as refusal:
        why = str(refusal).partition(" Use the majority vote")[0]
        return _vote(responses, None, why, rng, threads)
    pairs = count_pairs(responses)
    grouped = _groups_as_one(responses, pairs, polish, rng.spawn(1)[0], threads)
    if grouped is not None:
        return grouped
    few = counting_is_cheaper(responses)
    polished = polish(responses, start="blind" if few else "mv")
    joint = find_joint_errors(responses, polished.model_, polished.posteriors_, threads)
    if joint.z <= SURE:
        reason = f"their errors on an item go together no more than by chance ({joint})"
        return _as_independent(polished, reason, responses, pairs, rng, threads)
    held = HeldOut(responses, rng)
    by_one, by_two = held.predict(_independent(threads)), held.predict(_kinds(2, threads))
    two = held.gain(by_two, over=by_one)
    if two.z <= SURE:
        reason = f"telling clear from contested items predicts held-out answers no better ({two})"
        polished = polished if few else polish(responses, start="blind")
        return _as_independent(polished, reason, responses, pairs, rng, threads)
    three = held.gain(held.predict(_kinds(3, threads)), over=by_two)
    if three.z <= SURE:
        kinds = ItemKinds(threads=threads).fit(responses)
        by_kinds = Tempered(kinds.predict_proba, _mixed(responses, rng, threads))
        why = (
            "annotators err together on contested items: telling those from clear ones predicts "
            f"held-out answers better ({two}), and a third kind does not ({three})."
        )
        return Choice(
            "ItemKinds",
            why,
            kinds.model_,
            by_kinds(responses),
            kinds.log_likelihoods_,
            posteriors_of=by_kinds,
        )
    why = (
        "annotators err together in ways that no model here explains: two kinds of items in each "
        f"class predict held-out answers better than one ({two}), and three better than two "
        f"({three}). The majority vote is as good as can be trusted; a model breaks its ties."
    )
    return _vote(responses, polish(responses) if few else polished, why, rng, threads)


def _as_independent(
    fitted: DawidSkene,
    reason: str,
    responses: Responses,
    pairs: PairCounts,
    rng: np.random.Generator,
    threads: int | None,
) -> Choice:
    """What EM found, from the paper's method or from the vote, and why it is believed."""
    choice = Choice(
        "BlindEnsemble and EM" if fitted.start == "blind" else "DawidSkene",
        f"annotators look independent given the class: {reason}.",
        fitted.model_,
        fitted.posteriors_,
        fitted.log_likelihoods_,
    )
    return _tempered(choice, responses, pairs.beside(choice.model), rng, threads)


def _groups_as_one(
    responses: Responses,
    pairs: PairCounts,
    polish: Polish,
    rng: np.random.Generator,
    threads: int | None,
) -> Choice | None:
    """The polished model with groups of annotators who err together counted as one, if that is all.

    It is if one annotator of each group, and all others, look independent. Two that repeat each
    other would otherwise look nearly perfect, and be followed. A group that gives half of all
    answers is no group, but the crowd from which others differ.
    """
    found, weights, start = _find_groups(responses, pairs, polish)
    answers = [responses.labels_per_annotator[list(group)].sum() for group in found.groups]
    if not answers or max(answers) >= responses.n_labels / 2:
        return None
    alone = np.ones(responses.n_annotators, dtype=bool)
    for group in found.groups:
        members = np.array(group)
        alone[members] = False
        alone[members[responses.labels_per_annotator[members].argmax()]] = True
    kept = responses.select_annotators(alone)
    held = HeldOut(kept, rng)
    by_one, by_two = held.predict(_independent(threads)), held.predict(_kinds(2, threads))
    if held.gain(by_two, over=by_one).z > SURE:
        return None
    model, posteriors, history = fit_groups(
        responses, found.groups, weights, start.posteriors_, threads
    )
    why = (
        "annotators look independent but for groups that err together, each of which was taken for "
        f"one annotator: {found.named_groups()}."
    )
    choice = Choice(GROUPS_AS_ONE, why, model, posteriors, history, groups=found.groups)
    # The choice knows that members of a group err together: those pairs do not speak against it.
    others = pairs.beside(model).without(found.groups)
    return _tempered(choice, responses, others, rng, threads)


def _find_groups(
    responses: Responses, pairs: PairCounts, polish: Polish
) -> tuple[Dependence, Floats, DawidSkene]:
    """Groups that err together, what an answer of each annotator is worth, and EM with that.

    Copiers draw EM towards themselves and then look independent. So groups are looked for near the
    vote first, and again where their answers count 1/(1 + (g − 1) excess), until they stay.
    """
    fitted = polish(responses, max_iter=1, shrinkage=CROWD_LABELS)
    weights = np.ones(responses.n_annotators)
    groups: tuple[tuple[int, ...], ...] = ()
    for _ in range(MOST_ROUNDS):
        seen = pairs.beside(fitted.model_, LEAST_COMMON)
        found = find_dependence(seen, responses.annotators)
        if found.groups == groups:
            break
        groups, weights = found.groups, np.ones(responses.n_annotators)
        for group in groups:
            inside = np.isin(found.pairs, group).all(axis=1)
            weights[list(group)] = 1 / (1 + (len(group) - 1) * found.excess[inside].mean())
        fitted = polish(responses, weights=weights)
    return found, weights, fitted


def by_thresholds(
    responses: Responses, polish: Polish, rng: np.random.Generator, threads: int | None
) -> Choice:
    """Ordered classes: one question "above class l?" for each l, if their answers fit as well.

    Labels of :class:`KOS` by thresholds give confusion matrices; these are believed if they make
    the answers at least as likely as EM does from the vote, which seeks nothing else.
    """
    thresholds = KOS(ordered=True).fit(responses)
    model = _described(responses, most_likely(thresholds.posteriors_), threads)
    ours, usual = model.log_likelihood(responses, threads), polish(responses).log_likelihoods_[-1]
    if ours < usual:
        choice = by_prediction(responses, polish, rng, threads)
        why = f"{choice.why} The order of classes was not used: thresholds fit the answers worse."
        return replace(choice, why=why)
    why = (
        'classes are ordered: one question "above this class?" for each class fits the answers '
        f"better than classes without order do, by {ours - usual:,.0f} in log-likelihood."
    )
    return Choice(
        "KOS by thresholds",
        why,
        model,
        thresholds.posteriors_,
        np.empty(0),
        posteriors_of=thresholds.predict_proba,
    )


def by_method(
    name: str,
    make: Callable[[], Estimator],
    *,
    gold: Mapping[Any, Any] | None = None,
    **parameters: Any,
) -> Choose:
    """The rule that takes one method, whatever the answers look like, with these parameters.

    Methods that learn from ``gold`` labels do. One without a model gets the confusion matrices of
    its labels.
    """

    def choose(
        responses: Responses, polish: Polish, rng: np.random.Generator, threads: int | None
    ) -> Choice:
        method = make().set_params(**parameters)
        if "threads" in method.get_params():
            method.set_params(threads=threads)
        learns = "gold" in signature(method.fit).parameters
        fitted = method.fit(responses, **({"gold": gold} if learns else {}))
        labels = positions(fitted.labels_, responses.classes)
        model = getattr(fitted, "model_", None) or _described(responses, labels, threads)
        history = getattr(fitted, "log_likelihoods_", np.empty(0))
        return Choice(
            name,
            "it was asked for.",
            model,
            fitted.posteriors_,
            history,
            labels,
            fitted.predict_proba,
        )

    return choose


def _described(responses: Responses, labels: NDArray[np.intp], threads: int | None) -> Model:
    """The confusion matrices and class shares that these labels ``[item]`` (codes) give."""
    sums = belief_sums(responses, np.eye(responses.n_classes)[labels], threads)
    names = responses.annotators, responses.classes
    return Model(vote_start(sums.counts), sums.totals / sums.totals.sum(), *names)


def _independent(threads: int | None) -> Callable[[Responses], Latent]:
    def fit(responses: Responses) -> Latent:
        fitted = DawidSkene(shrinkage=CROWD_LABELS, tolerance=QUICK, threads=threads).fit(responses)
        return Latent(fitted.posteriors_, fitted.model_.confusions)

    return fit


def _kinds(kinds: int, threads: int | None) -> Callable[[Responses], Latent]:
    def fit(responses: Responses) -> Latent:
        method = ItemKinds(kinds=kinds, shrinkage=CROWD_LABELS, tolerance=QUICK, threads=threads)
        fitted = method.fit(responses)
        return Latent(fitted.kind_posteriors(responses), fitted.kind_confusions_)

    return fit


def _vote(
    responses: Responses,
    model: DawidSkene | None,
    why: str,
    rng: np.random.Generator,
    threads: int | None,
) -> Choice:
    """The vote's labels, ties broken by the model or by the share of each class."""
    sums = vote_sums(responses)
    prior = (sums.totals + 1 / len(sums.totals)) / (sums.totals.sum() + 1)
    by_votes = ByVotes(prior if model is None else model, _mixed(responses, rng, threads))
    described = Model(vote_start(sums.counts), prior, responses.annotators, responses.classes)
    history = np.empty(0) if model is None else model.log_likelihoods_
    return Choice(
        "MajorityVote", why, described, by_votes(responses), history, posteriors_of=by_votes
    )


@dataclass(frozen=True, eq=False)
class ByVotes:
    """Labels by the vote, ties broken by shares ``[class]`` or a method; as sure as mixes are."""

    ties: Floats | DawidSkene
    mixed: MixedItems

    def __call__(self, responses: Responses) -> Floats:
        ties = self.ties
        more = ties.predict_proba(responses) if isinstance(ties, DawidSkene) else ties
        return _keep_labels(weighted_votes(responses) + more, self.mixed.predict_proba(responses))


@dataclass(frozen=True, eq=False)
class Tempered:
    """Labels by ``posteriors_of`` a model, as sure as the model and mixes are on average."""

    posteriors_of: Callable[[Responses], Floats]
    mixed: MixedItems

    def __call__(self, responses: Responses) -> Floats:
        return self.temper(self.posteriors_of(responses), responses)

    def temper(self, found: Floats, responses: Responses) -> Floats:
        """These posteriors, less sure."""
        return _keep_labels(found, (found + self.mixed.predict_proba(responses)) / 2)


def _tempered(
    choice: Choice,
    responses: Responses,
    pairs: Pairs,
    rng: np.random.Generator,
    threads: int | None,
) -> Choice:
    """The choice, less sure where pairs of annotators speak against its model."""
    fit = measure_fit(pairs, responses.n_annotators)
    if fit.holds:
        return choice
    by_model = partial(choice.model.posteriors, threads=threads)
    rule = Tempered(by_model, _mixed(responses, rng, threads))
    why = (
        f"{choice.why} But answers of pairs are {fit.misfit:.2g} times as far from that as noise "
        "is, so labels are taken to be less sure than the model says."
    )
    posteriors = rule.temper(choice.posteriors, responses)
    return replace(choice, why=why, posteriors=posteriors, posteriors_of=rule)


def _mixed(responses: Responses, rng: np.random.Generator, threads: int | None) -> MixedItems:
    """Knows how sure labels are where annotators err together.

    Posteriors of models that take answers as independent would be far too sure. A large table is
    learned from a sample of its items.
    """
    return MixedItems(threads=threads).fit(sampled(responses, rng))


def _keep_labels(beliefs: Floats, posteriors: Floats) -> Floats:
    """The posteriors with the class that is largest in ``beliefs`` made the largest.

    Where it is not, it is raised to the largest, a hair above, and all are scaled to sum to one.
    """
    kept, items = posteriors.copy(), np.arange(len(posteriors))
    ours, theirs = most_likely(beliefs), most_likely(posteriors)
    raised = posteriors[items, theirs] * np.where(ours == theirs, 1, 1 + HAIR)
    kept[items, ours] = raised
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))
