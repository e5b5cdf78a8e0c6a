"""The paper's columns by the paper's names, and what we put beside them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from blindfuse import (
    KOS,
    BlindEnsemble,
    DawidSkene,
    EigenRatio,
    MajorityVote,
    Model,
    Oracle,
    Responses,
    SingleBest,
    SpectralMetaLearner,
    TriangularEstimation,
    fuse,
)
from experiments.plain import PlainAlgorithm1

Floats = NDArray[np.float64]

BEST, VOTE, EIGEN, TE, SML = "Single best", "Majority Voting", "EigenRatio", "TE", "SML"
PUBLISHED_KOS, EM, SPECTRAL = "KOS", "EM + MV", "EM + Spectral"
EM_PRIOR = "EM + MV, π estimated"
OURS, FIXED, FUSE, ORACLE = "Alg. 2", "Alg. 2 fixed π", "fuse", "Oracle"
PLAIN, IN_NUMPY = UNAIDED = "Alg. 1 plain", "Alg. 1 in NumPy"
GROUPS = (1, 2, 4, 5)
PUBLISHED_ROUNDS = 10

ROWS = {
    **{f"{method} MAP": (method, "error") for method in (OURS, ORACLE)},
    **{f"{method} ML": (method, "error_ml") for method in (OURS, ORACLE)},
}
"""Rows that are one of two readings of the same fit: the method, and where its error is."""


@dataclass(frozen=True, eq=False)
class Known:
    """Answers with all that is known about them: ``truth[item]`` as codes, −1 where it is not.

    ``model`` is the true one of a simulation.
    """

    responses: Responses
    truth: NDArray[np.intp]
    model: Model | None = None

    def named_truth(self) -> dict[Any, Any]:
        """``{item: label}`` of the items whose truth is known."""
        known = self.truth >= 0
        labels = self.responses.classes[self.truth[known]]
        return dict(zip(self.responses.items[known].tolist(), labels.tolist(), strict=True))


def grouped(groups: int) -> str:
    """The name of Algorithm 2 with annotators in so many groups (Section III-E)."""
    return f"{OURS}, L = {groups}"


def _in_groups(groups: int) -> Callable[[Known], Any]:
    return lambda known: BlindEnsemble(groups=groups).fit(known.responses)


def _published_em(start: Literal["shares", "spectral"]) -> DawidSkene:
    """EM as in the published code of the spectral method, which gives the paper's 11.11 on bird."""
    return DawidSkene(class_prior="uniform", start=start, shrinkage=None, max_iter=PUBLISHED_ROUNDS)


METHODS: dict[str, Callable[[Known], Any]] = {
    BEST: lambda known: SingleBest(truth=known.named_truth()).fit(known.responses),
    VOTE: lambda known: MajorityVote().fit(known.responses),
    EIGEN: lambda known: EigenRatio().fit(known.responses),
    TE: lambda known: TriangularEstimation().fit(known.responses),
    SML: lambda known: SpectralMetaLearner().fit(known.responses),
    PUBLISHED_KOS: lambda known: KOS(variant="svd", ordered=True).fit(known.responses),
    EM: lambda known: _published_em("shares").fit(known.responses),
    EM_PRIOR: lambda known: DawidSkene().fit(known.responses),
    SPECTRAL: lambda known: _published_em("spectral").fit(known.responses),
    OURS: lambda known: BlindEnsemble().fit(known.responses),
    FIXED: lambda known: BlindEnsemble(prior="uniform").fit(known.responses),
    PLAIN: lambda known: BlindEnsemble(
        acceleration=None, moments="counts", tolerance=1e-8, max_sweeps=5000
    ).fit(known.responses),
    IN_NUMPY: lambda known: PlainAlgorithm1().fit(known.responses),
    FUSE: lambda known: fuse(known.responses),
    ORACLE: lambda known: (
        Oracle(model=known.model) if known.model else Oracle(truth=known.named_truth())
    ).fit(known.responses),
    **{grouped(groups): _in_groups(groups) for groups in GROUPS},
}
"""Each method by name. KOS is the variant of published tables: the paper's 11.11 % on bird."""

SAID_OF = {
    PUBLISHED_KOS: "the singular vector of published tables, classes by thresholds",
    EM: "Dawid–Skene from shares of votes without class shares, ten rounds, as published",
    EM_PRIOR: "`DawidSkene()`: class shares estimated, to convergence; not in the paper",
    SPECTRAL: "Dawid–Skene from the spectral method, without class shares, ten rounds",
    OURS: "`BlindEnsemble()`: the paper's method, accelerated, from the majority vote",
    FIXED: "the same with π = 1/K held",
    PLAIN: "our Algorithm 1 unaccelerated on explicit moments, 5,000 sweeps at most; one run only",
    IN_NUMPY: "Algorithm 1 as the paper writes it, in NumPy, 1,000 sweeps at most; one run only",
    FUSE: "what users get by default; not in the paper",
    ORACLE: "true confusion matrices and class shares",
}
"""What a name stands for, where the name does not say it."""
