"""Algorithm 1 from responses to confusion matrices and prior."""

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import NotConverged
from blindfuse.kernels.threads import thread_count
from blindfuse.model.alignment import Alignment, aligned
from blindfuse.model.model import Model
from blindfuse.model.ordering import CanonicalOrder
from blindfuse.model.posteriors import ExpectedCounts, count_votes
from blindfuse.model.shrinkage import vote_confusions
from blindfuse.moments.counts import MomentCounts
from blindfuse.moments.requirements import (
    counting_is_cheaper,
    no_triples,
    require_memory,
    require_overlap,
)
from blindfuse.responses.responses import Responses
from blindfuse.solver.acceleration import Anderson, Plain
from blindfuse.solver.alternate import alternate
from blindfuse.solver.factors import Factors
from blindfuse.solver.problem import LabelProblem, MomentProblem, Problem, Settings
from blindfuse.solver.starts import random_start
from blindfuse.solver.trace import Trace

Floats = NDArray[np.float64]
Start = Literal["mv", "random"] | Model
Weights = Literal["counts", "equal"]
MomentsFrom = Literal["auto", "counts", "labels"]
Acceleration = Literal["anderson"] | None


@dataclass(frozen=True)
class Options:
    """All that can be chosen about Algorithm 1; ``prior`` is None where it is to be estimated.

    ``tolerance`` is None where sweeps end once they gain less than noise.
    """

    start: "Start | WarmStart" = "mv"
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
class WarmStart:
    """Where an earlier solution left off."""

    model: Model
    duals: Floats
    prior_dual: Floats


def solve(
    responses: Responses, options: Options, rng: np.random.Generator, threads: int | None = None
) -> Solution:
    """Estimate Γ_m and π by (21): order, count, start, alternate, align."""
    require_overlap(responses)
    votes = count_votes(responses, threads)
    order = CanonicalOrder.by_votes(votes)
    problem = pose(responses, options, order, threads)
    starts = _starts(responses.annotators, responses.classes, options, votes, order, rng)
    return _best_of(starts, problem, order, options, responses.n_annotators)


def solve_counts(
    moments: MomentCounts,
    votes: ExpectedCounts,
    annotators: NDArray[Any],
    classes: NDArray[Any],
    options: Options,
    rng: np.random.Generator,
) -> Solution:
    """The same from counts alone, wherever the answers that were counted are."""
    order = CanonicalOrder.by_votes(votes)
    averages = moments.moments()
    if not np.any(averages.seen_triples):
        raise no_triples()
    problem = MomentProblem(averages.reordered(*order), options.weights)
    starts = _starts(annotators, classes, options, votes, order, rng)
    return _best_of(starts, problem, order, options, len(annotators))


def _best_of(
    starts: Sequence[Factors],
    problem: Problem,
    order: CanonicalOrder,
    options: Options,
    n_annotators: int,
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


def pose(
    responses: Responses, options: Options, order: CanonicalOrder, threads: int | None
) -> Problem:
    """(21) in the form that costs less, unless chosen: explicit moments or labels."""
    if options.weights == "equal" or options.moments == "counts":
        explicit = True
    else:
        explicit = options.moments == "auto" and counting_is_cheaper(responses)
    if explicit:
        require_memory(responses.n_annotators, responses.n_classes)
        moments = MomentCounts.count(responses, threads).moments()
        return MomentProblem(moments.reordered(*order), options.weights)
    annotators, classes = responses.annotators[order.annotators], responses.classes[order.classes]
    return LabelProblem(responses.recoded(annotators, classes))


def _starts(
    annotators: NDArray[Any],
    classes: NDArray[Any],
    options: Options,
    votes: ExpectedCounts,
    order: CanonicalOrder,
    rng: np.random.Generator,
) -> list[Factors]:
    """Factors to start from, in the solver's order."""
    counts, totals = order.of(votes.counts, votes.totals)
    start = options.start
    multipliers: tuple[Floats, ...] = ()
    if isinstance(start, WarmStart):
        multipliers = order.of(start.duals, start.prior_dual)
        start = start.model
    if start == "random":
        starts = [random_start(len(counts), len(totals), rng) for _ in range(options.restarts)]
    elif start == "mv":
        starts = [(vote_confusions(counts), totals / totals.sum())]
    else:
        model = start.for_annotators(annotators, classes)
        starts = [order.of(model.confusions, model.prior)]
    if options.prior is not None:
        starts = [(confusions, options.prior[order.classes]) for confusions, _ in starts]
    return [Factors.begin(*start, *multipliers) for start in starts]
