"""Algorithm 1 from responses to confusion matrices and prior."""

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from blindfuse.alignment import Alignment, aligned
from blindfuse.beliefs import Sums, vote_sums
from blindfuse.errors import BadParameter, NotConverged, NotIdentifiable
from blindfuse.model import Model
from blindfuse.moments import MomentCounts
from blindfuse.responses import Responses
from blindfuse.solver.acceleration import Anderson, Plain
from blindfuse.solver.alternate import alternate
from blindfuse.solver.factors import Factors
from blindfuse.solver.problem import LabelProblem, MomentProblem, Problem, Settings
from blindfuse.solver.starts import Order, random_start, vote_start
from blindfuse.solver.trace import Trace
from blindfuse.threads import thread_count

Floats = NDArray[np.float64]
Start = Literal["mv", "random"] | Model
Weights = Literal["counts", "equal"]
MomentsFrom = Literal["auto", "counts", "labels"]
Acceleration = Literal["anderson"] | None

TYPICAL_SWEEPS = 60
_REMEDY = "Use the majority vote, which needs no more than one answer an item."
_NO_TRIPLES = (
    "No item was answered by three annotators, so third-order moments are never seen. " + _REMEDY
)
LARGEST_MOMENTS, MOST_MOMENTS = 2**28, 2**32
"""Explicit moments are chosen up to so many bytes, and formed on demand up to so many."""


@dataclass(frozen=True)
class Options:
    """All that can be chosen about Algorithm 1; ``prior`` is None where it is to be estimated.

    ``tolerance`` is None where sweeps end once they gain less than noise.
    """

    start: "Start | Warm" = "mv"
    restarts: int = 10
    prior: Floats | None = None
    weights: Weights = "counts"
    moments: MomentsFrom = "auto"
    acceleration: Acceleration = "anderson"
    alignment: Alignment = "majority"
    max_sweeps: int = 1000
    tolerance: float | None = None
    proximal: float = 1e-6
    inner: int = 10


@dataclass(frozen=True)
class Solution:
    """Aligned estimates, the multipliers of their constraints, and how they were found.

    ``duals[annotator, true, reported]`` and ``prior_dual[true]`` are those of :class:`Factors`.
    """

    confusions: Floats
    prior: Floats
    duals: Floats
    prior_dual: Floats
    trace: Trace


@dataclass(frozen=True)
class Warm:
    """Where an earlier solution left off."""

    model: Model
    duals: Floats
    prior_dual: Floats


def solve(
    responses: Responses, options: Options, rng: np.random.Generator, threads: int | None = None
) -> Solution:
    """Estimate Γ_m and π by (21): order, count, start, alternate, align."""
    require_overlap(responses)
    votes = vote_sums(responses, threads)
    order = Order.by_votes(votes)
    problem = pose(responses, options, order, threads)
    starts = _starts(responses.annotators, responses.classes, options, votes, order, rng)
    return _best_of(starts, problem, order, options, responses.n_annotators)


def solve_counts(
    moments: MomentCounts,
    votes: Sums,
    annotators: NDArray[Any],
    classes: NDArray[Any],
    options: Options,
    rng: np.random.Generator,
) -> Solution:
    """The same from counts alone, wherever the answers that were counted are."""
    order = Order.by_votes(votes)
    averages = moments.moments()
    if not np.any(averages.seen_triples):
        raise NotIdentifiable(_NO_TRIPLES)
    problem = MomentProblem(averages.reordered(*order), options.weights)
    starts = _starts(annotators, classes, options, votes, order, rng)
    return _best_of(starts, problem, order, options, len(annotators))


def _best_of(
    starts: Sequence[Factors], problem: Problem, order: Order, options: Options, n_annotators: int
) -> Solution:
    """Alternate from every start; the lowest objective, in the user's order, aligned."""
    settings = Settings(options.proximal, options.inner, fixed_prior=options.prior is not None)
    runs = [
        alternate(
            problem,
            start,
            settings,
            Plain() if options.acceleration is None else Anderson(),
            options.max_sweeps,
            options.tolerance,
        )
        for start in starts
    ]
    factors, trace = min(runs, key=lambda run: run[1].objective.min())
    if not trace.converged:
        warnings.warn(
            f"{trace!r}. The result is usable; raise max_sweeps or tolerance to converge.",
            NotConverged,
            stacklevel=4,
        )
    confusions, prior = order.put_back(factors.confusions, factors.prior, n_annotators)
    duals, prior_dual = order.put_back(factors.duals, factors.prior_dual, n_annotators)
    columns = np.arange(len(prior))
    if options.prior is None or np.ptp(options.prior) == 0:  # else the prior tells classes apart
        columns = aligned(confusions, prior, options.alignment)
    return Solution(
        confusions[:, :, columns],
        prior[columns] if options.prior is None else options.prior,
        duals[:, columns],
        prior_dual[columns],
        trace,
    )


def solve_groups(
    responses: Responses,
    groups: Sequence[NDArray[np.intp]],
    options: Options,
    rng: np.random.Generator,
    threads: int | None = None,
) -> tuple[Floats, Floats, list[Trace]]:
    """Section III-E: solve (24) for each group in parallel, then average the priors."""

    def solve_group(group: NDArray[np.intp], child: np.random.Generator) -> Solution:
        return solve(responses.select_annotators(group), options, child, threads=1)

    with ThreadPoolExecutor(min(len(groups), thread_count(threads))) as pool:
        solutions = list(pool.map(solve_group, groups, rng.spawn(len(groups))))
    K = responses.n_classes
    confusions = np.empty((responses.n_annotators, K, K))
    for group, solution in zip(groups, solutions, strict=True):
        confusions[group] = solution.confusions
    prior = np.mean([solution.prior for solution in solutions], axis=0)
    return confusions, prior, [solution.trace for solution in solutions]


def require_overlap(responses: Responses) -> None:
    """Lemma 1 needs three annotators who tell classes apart, and items that three of them share."""
    answering = int(np.count_nonzero(responses.labels_per_annotator))
    if answering < 3:
        raise NotIdentifiable(
            f"Only {answering} annotators answered: moment matching needs at least three. {_REMEDY}"
        )
    if responses.labels_per_item.max() < 3:
        raise NotIdentifiable(_NO_TRIPLES)


def pose(responses: Responses, options: Options, order: Order, threads: int | None) -> Problem:
    """(21) in the form that costs less, unless chosen: explicit moments or labels."""
    if options.weights == "equal" or options.moments == "counts":
        explicit = True
    else:
        explicit = options.moments == "auto" and counting_is_cheaper(responses)
    if explicit:
        refuse_too_many(responses.n_annotators, responses.n_classes)
        moments = MomentCounts.count(responses, threads).moments()
        return MomentProblem(moments.reordered(*order), options.weights)
    annotators, classes = responses.annotators[order.annotators], responses.classes[order.classes]
    return LabelProblem(responses.recoded(annotators, classes))


def moment_bytes(n_annotators: int, n_classes: int) -> int:
    """What all third moments take, unfolded for each of their three annotators."""
    return 3 * comb(n_annotators, 3) * n_classes**3 * 8


def refuse_too_many(n_annotators: int, n_classes: int) -> None:
    """Refuse to form third moments that do not fit into memory."""
    taken = moment_bytes(n_annotators, n_classes)
    if taken > MOST_MOMENTS:
        raise BadParameter(
            f"The third moments of {n_annotators:,} annotators would take "
            f"{taken / 2**30:,.0f} GiB. Use moments='labels' with weights='counts', or groups of "
            "annotators."
        )


def counting_is_cheaper(responses: Responses) -> bool:
    """Whether moments cost less to form than to go without: multiplications are compared.

    Counting on bit sets does about a hundred items in one.
    """
    M, K = responses.n_annotators, responses.n_classes
    if moment_bytes(M, K) > LARGEST_MOMENTS:
        return False
    triples = comb(M, 3)
    explicit = triples * K**3 * (responses.n_items / 100 + 4 * K * TYPICAL_SWEEPS)
    direct = responses.n_labels * K * (K + 4) * 4 * TYPICAL_SWEEPS
    return explicit < direct


def _starts(
    annotators: NDArray[Any],
    classes: NDArray[Any],
    options: Options,
    votes: Sums,
    order: Order,
    rng: np.random.Generator,
) -> list[Factors]:
    """Factors to start from, in the solver's order."""
    counts, totals = order.of(votes.counts, votes.totals)
    start = options.start
    multipliers: tuple[Floats, ...] = ()
    if isinstance(start, Warm):
        multipliers = order.of(start.duals, start.prior_dual)
        start = start.model
    if start == "random":
        starts = [random_start(len(counts), len(totals), rng) for _ in range(options.restarts)]
    elif start == "mv":
        starts = [(vote_start(counts), totals / totals.sum())]
    else:
        model = start.for_annotators(annotators, classes)
        starts = [order.of(model.confusions, model.prior)]
    if options.prior is not None:
        starts = [(confusions, options.prior[order.classes]) for confusions, _ in starts]
    return [Factors.begin(*start, *multipliers) for start in starts]
