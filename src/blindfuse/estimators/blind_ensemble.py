"""The paper's method: joint moment matching, then a MAP or ML combiner."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadParameter, naming
from blindfuse.estimators.base import (
    Shrinkage,
    at_least,
    check_shrinkage,
    known_prior,
    one_of,
    require_classes,
    shrink_model,
    to_fit,
)
from blindfuse.estimators.streaming import Arrays, StreamEstimator
from blindfuse.model.alignment import Alignment
from blindfuse.model.model import Model, Rule
from blindfuse.moments.moment_statistics import MomentStatistics
from blindfuse.responses.responses import Responses
from blindfuse.solver.solve import (
    Acceleration,
    MomentsFrom,
    Options,
    Start,
    WarmStart,
    Weights,
    solve,
    solve_counts,
    solve_groups,
)
from blindfuse.solver.trace import Trace

Floats = NDArray[np.float64]


class BlindEnsemble(StreamEstimator):
    """Blind multiclass ensemble classification (Algorithms 1 and 2 of the paper).

    Parameters
    ----------
    rule
        ``"map"`` (20) or ``"ml"``, which takes all classes as equally likely.
    prior
        ``"estimated"``, ``"uniform"``, or the known shares ``[class]`` (Remark 4).
    start
        ``"mv"`` (confusion matrices against the majority vote), ``"random"`` (the best of
        ``restarts``), or a :class:`Model`.
    weights
        of the moments: ``"counts"``, by co-labelled items, or ``"equal"``, as in (25).
    moments
        ``"counts"`` forms them, ``"labels"`` sweeps straight over the labels, ``"auto"`` takes
        what costs less.
    groups
        Section III-E: a number of groups to draw, or lists of annotators' positions.
    acceleration
        ``"anderson"``, or None for the paper's plain alternation.
    alignment
        which column is which class: by ``"majority"`` of annotators, ``"hungarian"`` on ΣΓ_m, or
        ``"common"``, the paper's most common permutation.
    shrinkage
        towards the crowd's mean matrix: ``"learned"``, a number of pseudo-labels, or None.
    max_sweeps, tolerance, proximal, inner
        of Algorithm 1; it ends where sweeps gain less than noise, or than ``tolerance``, if given.
        ``proximal`` is ν/λ, ``inner`` the ADMM iterations per block.
    seed
        for random starts and groups.
    threads
        at most so many; None for all cores.

    Attributes
    ----------
    labels_ ``[item]``, posteriors_ ``[item, class]``, model_
        in the order of the responses' items and classes.
    trace_, stopped_
        history of the solver (a list of them with groups), and why it stopped.
    pseudo_counts_ ``[reported, true]``
        imaginary labels credited to every annotator by ``shrinkage``.

    Examples
    --------
    >>> from blindfuse import BlindEnsemble
    >>> votes = [[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]
    >>> BlindEnsemble().fit_predict(votes).tolist()
    [0, 1, 0, 1, 0, 1]
    """

    trace_: Trace | list[Trace]
    stopped_: str
    pseudo_counts_: Floats

    _memory = MomentStatistics

    def __init__(
        self,
        *,
        rule: Rule = "map",
        prior: Literal["estimated", "uniform"] | Sequence[float] | Floats = "estimated",
        start: Start = "mv",
        restarts: int = 10,
        weights: Weights = "counts",
        moments: MomentsFrom = "auto",
        groups: int | Sequence[Sequence[int]] | None = None,
        acceleration: Acceleration = "anderson",
        alignment: Alignment = "majority",
        shrinkage: Shrinkage = "learned",
        max_sweeps: int = 1000,
        tolerance: float | None = None,
        proximal: float = 1e-6,
        inner: int = 10,
        seed: int | None = 0,
        threads: int | None = None,
    ) -> None:
        self.rule: Rule = rule
        self.prior = prior
        self.start = start
        self.restarts = restarts
        self.weights = weights
        self.moments = moments
        self.groups = groups
        self.acceleration = acceleration
        self.alignment = alignment
        self.shrinkage = shrinkage
        self.max_sweeps = max_sweeps
        self.tolerance = tolerance
        self.proximal = proximal
        self.inner = inner
        self.seed = seed
        self.threads = threads

    def fit(self, responses: Any) -> Self:
        """Estimate every annotator's confusion matrix and the prior, then label the items."""
        table = to_fit(responses)
        return self._keep(self.learn(table), table)

    def learn(self, table: Responses) -> Model:
        """Every annotator's confusion matrix and the prior, without labelling the items."""
        options = self._options(table.n_classes)
        rng = np.random.default_rng(self.seed)
        if self.groups is None:
            solution = solve(table, options, rng, self.threads)
            confusions, prior, self.trace_ = solution.confusions, solution.prior, solution.trace
            self.stopped_ = solution.trace.stopped
        else:
            groups = _as_groups(self.groups, table, rng)
            confusions, prior, self.trace_ = solve_groups(table, groups, options, rng, self.threads)
            self.stopped_ = ", ".join(sorted({trace.stopped for trace in self.trace_}))
        estimate = Model(confusions, prior, table.annotators, table.classes)
        model, self.pseudo_counts_ = shrink_model(
            estimate, self.shrinkage, lambda: estimate.sums(table, self.threads).counts
        )
        return model

    def estimate(
        self, counted: MomentStatistics, start: Start | WarmStart | None = None
    ) -> WarmStart:
        """Γ and π from counts alone, before shrinkage, with what the solver can go on from."""
        require_classes(counted.classes)
        if self.groups is not None or self.moments == "labels":
            raise BadParameter(
                "Counts are of all annotators together: leave groups= out, and moments='labels'."
            )
        options = self._options(len(counted.classes))
        options = replace(options, start=start or options.start)
        rng = np.random.default_rng(self.seed)
        names = counted.annotators, counted.classes
        solution = solve_counts(counted.moments, counted.votes, *names, options, rng)
        self.trace_, self.stopped_ = solution.trace, solution.trace.stopped
        model = Model(solution.confusions, solution.prior, *names)
        return WarmStart(model, solution.duals, solution.prior_dual)

    def _refit(self, statistics: MomentStatistics, last: Model | None) -> tuple[Model, Arrays]:
        found = self.estimate(statistics, self._where_left(statistics))
        labels = statistics.moments.singles.sum(axis=1)
        expected = labels[:, None, None] * found.model.prior * found.model.confusions
        model, self.pseudo_counts_ = shrink_model(found.model, self.shrinkage, lambda: expected)
        kept = {"estimated": found.model.confusions, "duals": found.duals}
        return model, {**kept, "prior_dual": found.prior_dual}

    def _where_left(self, statistics: MomentStatistics) -> WarmStart | None:
        """The last estimate, with multipliers of zero for new annotators; None if classes are new.

        A class that the last estimate does not know has no share in it, and would not get one.
        """
        if not hasattr(self, "batches_"):
            return None
        last, extra = self.model_, self._extra
        if len(last.classes) < len(statistics.classes):
            return None
        model = Model(extra["estimated"], last.prior, last.annotators, last.classes)
        new = len(statistics.annotators) - len(last.annotators)
        duals = np.concatenate([extra["duals"], np.zeros((new, *extra["duals"].shape[1:]))])
        return WarmStart(model, duals, extra["prior_dual"])

    def _options(self, n_classes: int) -> Options:
        one_of("rule", self.rule, get_args(Rule))
        one_of("weights", self.weights, get_args(Weights))
        one_of("moments", self.moments, get_args(MomentsFrom))
        one_of("alignment", self.alignment, get_args(Alignment))
        one_of("acceleration", self.acceleration, ("anderson", None))
        if not isinstance(self.start, Model):
            one_of("start", self.start, ("mv", "random"))
        if self.weights == "equal" and self.moments == "labels":
            raise BadParameter(
                "weights='equal' needs moments formed: pass moments='counts' or weights='counts'."
            )
        for name in ("restarts", "max_sweeps", "inner"):
            at_least(name, getattr(self, name), 1)
        at_least("proximal", self.proximal, 0)
        if self.tolerance is not None:
            at_least("tolerance", self.tolerance, 0)
        check_shrinkage(self.shrinkage)
        return Options(
            start=self.start,
            restarts=self.restarts,
            prior=known_prior("prior", self.prior, n_classes),
            weights=self.weights,
            moments=self.moments,
            acceleration=self.acceleration,
            alignment=self.alignment,
            max_sweeps=self.max_sweeps,
            tolerance=self.tolerance,
            proximal=self.proximal,
            inner=self.inner,
        )


def _as_groups(
    groups: int | Sequence[Sequence[int]], responses: Responses, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Groups of at least three annotators that hold each annotator once."""
    M = responses.n_annotators
    if isinstance(groups, int):
        if not 1 <= groups <= M // 3:
            raise BadParameter(
                f"groups={groups}: {M} annotators make 1 to {M // 3} groups of at least three."
            )
        return [np.sort(group) for group in np.array_split(rng.permutation(M), groups)]
    listed = [np.asarray(group, dtype=np.intp) for group in groups]
    together = np.sort(np.concatenate(listed)) if listed else np.empty(0)
    if not np.array_equal(together, np.arange(M)):
        raise BadParameter(f"groups must hold each of the positions 0 … {M - 1} exactly once.")
    small = [group.tolist() for group in listed if len(group) < 3]
    if small:
        raise BadParameter(f"groups {naming(small)} have fewer than three annotators.")
    return listed
