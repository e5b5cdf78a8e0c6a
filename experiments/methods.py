"""Methods of the experiments, by the names that the paper's tables use."""

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
from experiments.numpy_algorithm1 import NumpyAlgorithm1

Floats = NDArray[np.float64]

BEST, VOTE, EIGEN, TE, SML = "Single best", "Majority Voting", "EigenRatio", "TE", "SML"
PUBLISHED_KOS, EM, SPECTRAL = "KOS", "EM + MV", "EM + Spectral"
EM_PRIOR = "EM + MV, π estimated"
ALG_2, ALG_2_FIXED_PRIOR, FUSE, ORACLE = "Alg. 2", "Alg. 2 fixed π", "fuse", "Oracle"
ALG_2_FEW_SWEEPS = "Alg. 2, 10 sweeps"
PLAIN_ALG_1, NUMPY_ALG_1 = "Alg. 1 plain", "Alg. 1 in NumPy"
UNACCELERATED = (PLAIN_ALG_1, NUMPY_ALG_1)
"""Methods that are slow and therefore run once per setting."""
FEW_SWEEPS = 10
"""Sweeps after which Algorithm 1 is ended early; the prior is still the vote's."""
GROUP_COUNTS = (1, 2, 4, 5)
"""Numbers of annotator groups L in Figure 10."""
PUBLISHED_ITERATIONS = 10
"""Iterations of EM in the published code of the spectral method."""

ROWS = {
    **{f"{method} MAP": (method, "error") for method in (ALG_2, ORACLE)},
    **{f"{method} ML": (method, "error_ml") for method in (ALG_2, ORACLE)},
}
"""Table rows for the MAP and ML labels of the same fit: the method, and the name of its error."""


@dataclass(frozen=True, eq=False)
class LabelledData:
    """Responses with gold labels ``truth[item]`` as codes, −1 if unknown.

    ``model`` is the true model of a simulation.
    """

    responses: Responses
    truth: NDArray[np.intp]
    model: Model | None = None

    def gold_labels(self) -> dict[Any, Any]:
        """Return ``{item: label}`` of the items with a gold label."""
        has_gold = self.truth >= 0
        labels = self.responses.classes[self.truth[has_gold]]
        return dict(zip(self.responses.items[has_gold].tolist(), labels.tolist(), strict=True))


def grouped_name(groups: int) -> str:
    """Return the name of Algorithm 2 with this number of annotator groups (Section III-E)."""
    return f"{ALG_2}, L = {groups}"


def _fit_grouped(groups: int) -> Callable[[LabelledData], Any]:
    return lambda data: BlindEnsemble(groups=groups).fit(data.responses)


def _published_em(start: Literal["shares", "spectral"]) -> DawidSkene:
    """Return EM as in the published code of the spectral method (11.11 % on bird, as printed)."""
    return DawidSkene(
        class_prior="uniform", start=start, shrinkage=None, max_iter=PUBLISHED_ITERATIONS
    )


METHODS: dict[str, Callable[[LabelledData], Any]] = {
    BEST: lambda data: SingleBest(truth=data.gold_labels()).fit(data.responses),
    VOTE: lambda data: MajorityVote().fit(data.responses),
    EIGEN: lambda data: EigenRatio().fit(data.responses),
    TE: lambda data: TriangularEstimation().fit(data.responses),
    SML: lambda data: SpectralMetaLearner().fit(data.responses),
    PUBLISHED_KOS: lambda data: KOS(variant="svd", ordered=True).fit(data.responses),
    EM: lambda data: _published_em("shares").fit(data.responses),
    EM_PRIOR: lambda data: DawidSkene().fit(data.responses),
    SPECTRAL: lambda data: _published_em("spectral").fit(data.responses),
    ALG_2: lambda data: BlindEnsemble().fit(data.responses),
    ALG_2_FEW_SWEEPS: lambda data: BlindEnsemble(max_sweeps=FEW_SWEEPS, acceleration=None).fit(
        data.responses
    ),
    ALG_2_FIXED_PRIOR: lambda data: BlindEnsemble(prior="uniform").fit(data.responses),
    PLAIN_ALG_1: lambda data: BlindEnsemble(
        acceleration=None, moments="counts", tolerance=1e-8, max_sweeps=5000
    ).fit(data.responses),
    NUMPY_ALG_1: lambda data: NumpyAlgorithm1().fit(data.responses),
    FUSE: lambda data: fuse(data.responses),
    ORACLE: lambda data: (
        Oracle(model=data.model) if data.model else Oracle(truth=data.gold_labels())
    ).fit(data.responses),
    **{grouped_name(groups): _fit_grouped(groups) for groups in GROUP_COUNTS},
}
"""A function per method that fits it. KOS is the variant that gives the paper's 11.11 % on bird."""

DESCRIPTIONS = {
    PUBLISHED_KOS: "variant of published tables: leading singular vector, classes by thresholds",
    EM: "Dawid–Skene with a uniform prior, ten iterations from the vote shares, as published",
    EM_PRIOR: "`DawidSkene()`: class prior estimated, run to convergence; not in the paper",
    SPECTRAL: "Dawid–Skene with a uniform prior, ten iterations from the spectral method",
    ALG_2: "`BlindEnsemble()`: the paper's method, accelerated, started at the majority vote",
    ALG_2_FEW_SWEEPS: "the same, ended after ten plain sweeps from the majority vote",
    ALG_2_FIXED_PRIOR: "`BlindEnsemble()` with π = 1/K fixed",
    PLAIN_ALG_1: "blindfuse's Algorithm 1 without acceleration on explicit moments, at most 5,000 "
    "sweeps; one run only",
    NUMPY_ALG_1: "Algorithm 1 as printed in the paper, in NumPy, at most 1,000 sweeps; "
    "one run only",
    FUSE: "`fuse()` with its default options; not in the paper",
    ORACLE: "true confusion matrices and class prior",
}
"""Descriptions of the methods whose names do not explain them."""
