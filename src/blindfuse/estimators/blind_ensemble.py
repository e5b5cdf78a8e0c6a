"""The paper's method: joint moment matching, then a MAP or ML combiner."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, get_args

import numpy as np

from blindfuse.errors import BadParameter, list_names
from blindfuse.estimators.base import (
    ClassPrior,
    Iterations,
    NonNegative,
    Seed,
    ShrinkageStrength,
    fixed_prior,
    shrink_model,
)
from blindfuse.estimators.streaming import StreamEstimator
from blindfuse.model.alignment import Alignment
from blindfuse.model.model import Model
from blindfuse.moments.statistics import MomentStatistics
from blindfuse.parameters import (
    any_of,
    at_least,
    instance_of,
    integer_at_least,
    one_of,
    optional,
)
from blindfuse.responses.responses import Responses
from blindfuse.solver.solve import (
    Acceleration,
    MomentsFrom,
    Options,
    Start,
    Weights,
    solve,
    solve_counts,
    solve_groups,
)
from blindfuse.solver.trace import Trace
from blindfuse.typing import Codes


@dataclass(kw_only=True, eq=False, repr=False)
class BlindEnsemble(StreamEstimator):
    """Confusion matrices and class prior by joint moment matching, the method of the paper.

    Algorithm 1 fits the confusion matrices Γ_m and the class prior π jointly to the first, second
    and third moments of the responses (25); Algorithm 2 labels each item by the MAP rule (20).
    Annotators are conditionally independent given the class, and three of them must share items.
    Reference: Traganitis, Pagès-Zamora and Giannakis (2018), "Blind Multiclass Ensemble
    Classification".

    Parameters
    ----------
    rule
        ``"map"`` (20) or ``"ml"``, which ignores the class prior.
    prior
        ``"estimated"``, ``"uniform"``, or known probabilities ``[class]`` (Remark 4).
    start
        ``"mv"`` (confusion matrices against the majority vote), ``"random"`` (the best of
        ``restarts``), or a :class:`Model`.
    restarts
        number of random starts.
    weights
        weights of the moments: ``"counts"``, the number of items that the annotators share, or
        ``"equal"``, as in (25).
    moments
        ``"counts"`` forms the moments, ``"labels"`` computes each sweep directly from the
        responses, and ``"auto"`` uses the cheaper one.
    groups
        Section III-E: a number of random groups, or lists of annotators' positions.
    acceleration
        ``"anderson"``, or None for the alternation of the paper.
    alignment
        how columns are assigned to classes: by a ``"majority"`` of annotators, by the
        ``"hungarian"`` algorithm on ΣΓ_m, or by the paper's most ``"common"`` permutation.
    shrinkage
        towards the mean confusion matrix of all annotators: ``"learned"``, a number of
        pseudo-counts per class, or None. Where symbols are not classes, shrinkage includes one
        iteration of EM (Remark 2), and None leaves the estimates of Algorithm 1.
    max_sweeps, tolerance
        maximum number of sweeps of Algorithm 1, and the relative change of the factors or of the
        objective at which it stops; None stops it where sweeps gain less than the sampling noise.
        Where annotators are dependent, as classifiers trained on the same features are, few sweeps
        from the vote (``max_sweeps=10, acceleration=None``) regularise: Algorithm 1, converged,
        explains shared errors by other confusion matrices, and can be far worse than the vote.
    proximal, inner
        ν/λ of Algorithm 1, and the number of ADMM iterations per block.
    seed
        random seed for random starts and groups.
    threads
        maximum number of threads; None for all cores.

    Attributes
    ----------
    labels_ ``[item]``, posteriors_ ``[item, class]``, model_
        in the order of the responses' items and classes.
    trace_, stopped_
        history of the solver (one per group with ``groups``), and why it stopped.
    shrinkage_
        the prior that ``shrinkage`` asked for, or None.

    Examples
    --------
    >>> from blindfuse import BlindEnsemble
    >>> votes = [[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]
    >>> BlindEnsemble().fit_predict(votes).tolist()
    [0, 1, 0, 1, 0, 1]
    """

    prior: ClassPrior = "estimated"
    start: Annotated[
        Start, any_of(one_of("mv", "random"), instance_of(Model, description="a Model"))
    ] = "mv"
    restarts: Annotated[int, integer_at_least(1)] = 10
    weights: Annotated[Weights, one_of(*get_args(Weights))] = "counts"
    moments: Annotated[MomentsFrom, one_of(*get_args(MomentsFrom))] = "auto"
    groups: Annotated[
        int | Sequence[Sequence[int]] | None,
        optional(
            integer_at_least(1),
            instance_of(list, tuple, np.ndarray, description="a list of lists of positions"),
        ),
    ] = None
    acceleration: Annotated[Acceleration, one_of("anderson", None)] = "anderson"
    alignment: Annotated[Alignment, one_of(*get_args(Alignment))] = "majority"
    shrinkage: ShrinkageStrength = "learned"
    max_sweeps: Iterations = 1000
    tolerance: Annotated[float | None, optional(at_least(0))] = None
    proximal: NonNegative = 1e-6
    inner: Iterations = 10
    seed: Seed = 0
    trace_: Trace | list[Trace] = field(init=False)
    stopped_: str = field(init=False)

    _statistics_class = MomentStatistics

    def _fit(self, table: Responses) -> None:
        self._store(self._fit_model(table), table)

    def _fit_model(self, table: Responses) -> Model:
        """Estimate the model without labelling the items, and store how the solver stopped."""
        options = self._solver_options(table.n_classes)
        rng = np.random.default_rng(self.seed)
        if self.groups is None:
            solution = solve(table, options, rng, self.threads)
            confusions, prior, self.trace_ = solution.confusions, solution.prior, solution.trace
            self.stopped_ = solution.trace.stopped
        else:
            groups = _as_groups(self.groups, table, rng)
            confusions, prior, traces = solve_groups(table, groups, options, rng, self.threads)
            self.trace_, self.stopped_ = traces, ", ".join(sorted({one.stopped for one in traces}))
        names = table.annotators, table.classes, None, table.symbols
        estimate = Model(confusions, prior, *names)
        model, self.shrinkage_ = shrink_model(
            estimate,
            self.shrinkage,
            lambda: estimate.expected_counts(table, self.threads).counts,
            table.anchor,
        )
        return model

    def _solve_statistics(self, statistics: MomentStatistics) -> Model:
        """Estimate Γ and π from counts alone, before shrinkage."""
        if self.groups is not None or self.moments == "labels":
            raise BadParameter(
                "Batches and distributed tables are fitted from the counts of all annotators. "
                "Leave out groups= and moments='labels'."
            )
        classes, symbols, _ = statistics.alphabet
        names = statistics.annotators, statistics.alphabet
        options, rng = self._solver_options(len(classes)), np.random.default_rng(self.seed)
        solution = solve_counts(statistics.moments, statistics.votes, *names, options, rng)
        self.trace_, self.stopped_ = solution.trace, solution.trace.stopped
        parameters = solution.confusions, solution.prior
        return Model(*parameters, statistics.annotators, classes, None, symbols)

    def _refit(self, statistics: MomentStatistics) -> Model:
        estimate = self._solve_statistics(statistics)
        n_responses = statistics.moments.singles.sum(axis=1)
        expected = n_responses[:, None, None] * estimate.prior * estimate.confusions
        anchor = statistics.alphabet.anchor
        model, self.shrinkage_ = shrink_model(estimate, self.shrinkage, lambda: expected, anchor)
        return model

    def _solver_options(self, n_classes: int) -> Options:
        if self.weights == "equal" and self.moments == "labels":
            raise BadParameter(
                "weights='equal' needs the moments, which moments='labels' does not form. "
                "Pass moments='counts' or weights='counts'."
            )
        options = {option.name: getattr(self, option.name) for option in fields(Options)}
        return Options(**options | {"prior": fixed_prior("prior", self.prior, n_classes)})


def _as_groups(
    groups: int | Sequence[Sequence[int]], responses: Responses, rng: np.random.Generator
) -> list[Codes]:
    """Return groups of at least three annotators that contain each annotator once."""
    M = responses.n_annotators
    if isinstance(groups, int | np.integer):
        if not 1 <= groups <= M // 3:
            raise BadParameter(
                f"groups={groups} is too many for {M} annotators, as each group needs three. "
                f"Pass 1 to {M // 3} groups."
            )
        return [np.sort(group) for group in np.array_split(rng.permutation(M), groups)]
    listed = [np.asarray(group, dtype=np.intp) for group in groups]
    grouped = np.sort(np.concatenate(listed)) if listed else np.empty(0)
    if not np.array_equal(grouped, np.arange(M)):
        raise BadParameter(f"groups must contain each of the positions 0 … {M - 1} exactly once.")
    small = [group.tolist() for group in listed if len(group) < 3]
    if small:
        raise BadParameter(
            f"groups {list_names(small)} have fewer than three annotators. Merge them with others."
        )
    return listed
