"""Every method on the same answers, side by side."""

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.beliefs import most_likely
from blindfuse.errors import BadParameter, BlindfuseError, NotConverged, RankTooLow, meant
from blindfuse.estimators.base import Estimator, to_fit
from blindfuse.estimators.bayesian_dawid_skene import BayesianDawidSkene
from blindfuse.estimators.blind_ensemble import BlindEnsemble
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.eigen_ratio import EigenRatio
from blindfuse.estimators.glad import GLAD
from blindfuse.estimators.gold import gold_codes
from blindfuse.estimators.item_kinds import ItemKinds
from blindfuse.estimators.kos import KOS
from blindfuse.estimators.mace import MACE
from blindfuse.estimators.majority_vote import MajorityVote
from blindfuse.estimators.mixed_items import MixedItems
from blindfuse.estimators.mmsr import MMSR
from blindfuse.estimators.one_coin import OneCoin
from blindfuse.estimators.spectral import Spectral
from blindfuse.estimators.spectral_meta_learner import SpectralMetaLearner
from blindfuse.estimators.triangular_estimation import TriangularEstimation
from blindfuse.estimators.wawa import Wawa
from blindfuse.estimators.zero_based_skill import ZeroBasedSkill
from blindfuse.fusing import Fusion, fuse
from blindfuse.metrics import error_rate
from blindfuse.threads import quiet_blas

Floats = NDArray[np.float64]

METHODS: dict[str, Callable[[], Estimator]] = {
    "MajorityVote": MajorityVote,
    "Wawa": Wawa,
    "ZeroBasedSkill": ZeroBasedSkill,
    "BlindEnsemble": BlindEnsemble,
    "DawidSkene": DawidSkene,
    "DawidSkene after BlindEnsemble": lambda: DawidSkene(start="blind"),
    "DawidSkene after Spectral": lambda: DawidSkene(start="spectral"),
    "Spectral": Spectral,
    "OneCoin": OneCoin,
    "BayesianDawidSkene": BayesianDawidSkene,
    "ItemKinds": ItemKinds,
    "MixedItems": MixedItems,
    "GLAD": GLAD,
    "MACE": MACE,
    "MMSR": MMSR,
    "KOS": KOS,
    "KOS, ordered": lambda: KOS(ordered=True),
    "EigenRatio": EigenRatio,
    "TriangularEstimation": TriangularEstimation,
    "SpectralMetaLearner": SpectralMetaLearner,
}
"""Every method that needs no truth, by the name that users see."""

_THREE = "three annotators who share items"
NEEDS = {
    "BlindEnsemble": _THREE,
    "DawidSkene after BlindEnsemble": _THREE,
    "DawidSkene after Spectral": _THREE,
    "Spectral": _THREE,
    "MMSR": _THREE,
    "KOS, ordered": "ordered classes",
    "EigenRatio": f"two classes, {_THREE}",
    "TriangularEstimation": f"two classes, {_THREE}",
    "SpectralMetaLearner": f"two classes, {_THREE}",
}
"""What a method needs beside answers."""


def method_named(name: str) -> str:
    """The method in METHODS that is meant, whatever the case, spaces, hyphens and commas."""
    known = {_plain(one): one for one in METHODS}
    if _plain(name) not in known:
        raise BadParameter(f"There is no method {name!r}: {meant(name, METHODS)}")
    return known[_plain(name)]


def _plain(name: str) -> str:
    return re.sub(r"[\s,_-]", "", name).casefold()


@dataclass(frozen=True)
class Compared:
    """What one method made of the answers.

    ``error`` is its expected error rate on the items of known truth, None without a truth;
    ``differs`` the share of items that it labels otherwise than ``fuse``; ``failed`` says why it
    has neither, or is None. ``seconds`` are None for a fusion that was there before.
    """

    method: str
    error: float | None
    differs: float | None
    seconds: float | None
    failed: str | None


def compare(
    responses: Any,
    truth: Mapping[Any, Any] | None = None,
    methods: Mapping[str, Callable[[], Estimator]] = METHODS,
    *,
    fused: Fusion | None = None,
    report: Callable[[str], None] = lambda name: None,
) -> list[Compared]:
    """``fuse`` and every method on these answers; with ``truth``, ``{item: label}``, their errors.

    ``fused`` is what ``fuse`` made of them, if that is known already; ``report`` is told the name
    of each method before it runs.
    """
    table = to_fit(responses)
    positions, codes = gold_codes(table, truth or {})
    report("fuse")
    began = perf_counter()
    fusion = fused or fuse(table)
    seconds = None if fused else perf_counter() - began
    labels = most_likely(fusion.posteriors)

    def error(posteriors: Floats) -> float | None:
        return error_rate(posteriors[positions], codes) if len(positions) else None

    found = [Compared("fuse", error(fusion.posteriors), 0.0, seconds, None)]
    for name, make in methods.items():
        report(name)
        began = perf_counter()
        try:
            with quiet_blas(), warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConverged)
                warnings.simplefilter("ignore", RankTooLow)
                posteriors = make().fit(table).posteriors_
        except BlindfuseError as reason:
            found.append(Compared(name, None, None, perf_counter() - began, str(reason)))
            continue
        seconds = perf_counter() - began
        differs = float(np.mean(most_likely(posteriors) != labels))
        found.append(Compared(name, error(posteriors), differs, seconds, None))
    return found
