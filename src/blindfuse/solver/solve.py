"""Algorithm 1: estimate confusion matrices and prior from responses or from their counts."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from blindfuse.kernels.threads import thread_count
from blindfuse.model.alignment import Alignment, CanonicalOrder, find_alignment
from blindfuse.model.model import Model
from blindfuse.model.posteriors import ExpectedCounts, count_votes
from blindfuse.model.shrinkage import vote_confusions
from blindfuse.moments.counts import MomentCounts
from blindfuse.moments.requirements import (
    counting_is_cheaper,
    no_triples,
    require_memory,
    require_overlap,
)
from blindfuse.responses.alphabet import Alphabet, Anchor
from blindfuse.responses.responses import Responses
from blindfuse.solver.acceleration import Anderson, Plain
from blindfuse.solver.alternate import alternate
from blindfuse.solver.factors import Factors, random_start
from blindfuse.solver.problem import MomentProblem, Problem, ResponseProblem, Settings
from blindfuse.solver.trace import Trace
from blindfuse.typing import Array, Codes, Floats

Start = Literal["mv", "random"] | Model
Weights = Literal["counts", "equal"]
MomentsFrom = Literal["auto", "counts", "labels"]
Acceleration = Literal["anderson"] | None


@dataclass(frozen=True)
class Options:
    """Options of Algorithm 1.

    Attributes
    ----------
    start
        ``"mv"`` (confusion matrices against the majority vote), ``"random"`` (step 2 of Algorithm
        1), or a model.
    restarts
        number of random starts; the solution with the lowest objective is kept.
    prior ``[class]``
        known prior (Remark 4), or None to estimate it.
    weights
        ``"counts"`` weights each moment in (21) by its number of items, ``"equal"`` as the paper.
    moments
        ``"counts"`` forms the moments, ``"labels"`` works directly on the responses, ``"auto"``
        takes the cheaper one.
    acceleration
        ``"anderson"``, or None for the paper's plain alternation.
    alignment
        rule of step 12, see :mod:`blindfuse.model.alignment`.
    max_sweeps
        maximum number of sweeps.
    tolerance
        see :func:`~blindfuse.solver.alternate.alternate`; None stops at the sampling noise.
    proximal, inner
        see :class:`~blindfuse.solver.problem.Settings`.
    """

    start: Start = "mv"
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
    """Estimates with aligned classes, and the trace of the solver."""

    confusions: Floats
    prior: Floats
    trace: Trace


def solve(
    responses: Responses, options: Options, rng: np.random.Generator, threads: int | None = None
) -> Solution:
    """Estimate Γ_m and π by (21): sort, count, start, alternate, align."""
    require_overlap(responses)
    votes = count_votes(responses, threads)
    order = CanonicalOrder.by_votes(votes, responses.is_plain)
    problem = choose_problem(responses, options, order, threads)
    starts = _starts(responses.annotators, responses.alphabet, options, votes, order, rng)
    anchor = responses.anchor
    return _solve_from(starts, problem, order, options, responses.n_annotators, anchor)


def solve_counts(
    moments: MomentCounts,
    votes: ExpectedCounts,
    annotators: Array,
    alphabet: Alphabet,
    options: Options,
    rng: np.random.Generator,
) -> Solution:
    """Estimate Γ_m and π by (21) from counts, without access to the responses."""
    order = CanonicalOrder.by_votes(votes, alphabet.is_plain)
    averages = moments.moments()
    if not np.any(averages.items_per_triple):
        raise no_triples()
    problem = MomentProblem(averages.reordered(order.annotators, order.symbols), options.weights)
    starts = _starts(annotators, alphabet, options, votes, order, rng)
    return _solve_from(starts, problem, order, options, len(annotators), alphabet.anchor)


def _solve_from(
    starts: Sequence[Factors],
    problem: Problem,
    order: CanonicalOrder,
    options: Options,
    n_annotators: int,
    anchor: Anchor,
) -> Solution:
    """Alternate from every start; return the solution with the lowest objective, aligned."""
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
    confusions, prior = order.undo(factors.confusions, factors.prior, n_annotators)
    columns = np.arange(len(prior))
    # A known prior with unequal entries already identifies the classes.
    if options.prior is None or np.ptp(options.prior) == 0:
        columns = find_alignment(confusions, prior, options.alignment, anchor)
    prior = prior[columns] if options.prior is None else options.prior
    return Solution(confusions[:, :, columns], prior, trace)


def solve_groups(
    responses: Responses,
    groups: Sequence[Codes],
    options: Options,
    rng: np.random.Generator,
    threads: int | None = None,
) -> tuple[Floats, Floats, list[Trace]]:
    """Solve (24) for each group of annotators in parallel, then average the priors (III-E).

    Returns the confusion matrices, the prior and one trace per group.
    """

    def solve_group(group: Codes, child: np.random.Generator) -> Solution:
        return solve(responses.select_annotators(group), options, child, threads=1)

    with ThreadPoolExecutor(min(len(groups), thread_count(threads))) as pool:
        solutions = list(pool.map(solve_group, groups, rng.spawn(len(groups))))
    shape = responses.n_annotators, responses.n_symbols, responses.n_classes
    confusions = np.empty(shape)
    for group, solution in zip(groups, solutions, strict=True):
        confusions[group] = solution.confusions
    prior = np.mean([solution.prior for solution in solutions], axis=0)
    return confusions, prior, [solution.trace for solution in solutions]


def choose_problem(
    responses: Responses, options: Options, order: CanonicalOrder, threads: int | None
) -> Problem:
    """Return (21) in the form that the options ask for, or else in the cheaper one."""
    if options.weights == "equal" or options.moments == "counts":
        explicit = True
    else:
        explicit = options.moments == "auto" and counting_is_cheaper(responses)
    if explicit:
        require_memory(responses.n_annotators, responses.n_symbols)
        moments = MomentCounts.count(responses, threads).moments()
        moments = moments.reordered(order.annotators, order.symbols)
        return MomentProblem(moments, options.weights)
    annotators, classes = responses.annotators[order.annotators], responses.classes[order.classes]
    symbols = None if responses.is_plain else responses.symbols[order.symbols]
    return ResponseProblem(responses.recoded(annotators, classes, symbols))


def _starts(
    annotators: Array,
    alphabet: Alphabet,
    options: Options,
    votes: ExpectedCounts,
    order: CanonicalOrder,
    rng: np.random.Generator,
) -> list[Factors]:
    """Return the factors to start from, in canonical order."""
    counts, totals = order.apply(votes.counts, votes.totals)
    start = options.start
    if start == "random":
        starts = [random_start(counts.shape, rng) for _ in range(options.restarts)]
    elif start == "mv":
        starts = [(vote_confusions(counts, alphabet.anchor), totals / totals.sum())]
    else:
        model = start.for_annotators(annotators, alphabet.classes, alphabet.symbols)
        starts = [order.apply(model.confusions, model.prior)]
    if options.prior is not None:
        starts = [(confusions, options.prior[order.classes]) for confusions, _ in starts]
    return [Factors.pack(*start) for start in starts]
