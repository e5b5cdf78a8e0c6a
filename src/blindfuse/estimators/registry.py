"""The registry of methods, which the package, `compare`, the CLI, the tests and the docs read.

Files to touch for a new method: its module in this folder, this file (an import for type checkers,
``__all__`` and one entry of ``ENTRIES``),
and its test.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from blindfuse.errors import BadParameter, suggest

if TYPE_CHECKING:
    from blindfuse.estimators.base import Estimator
    from blindfuse.estimators.bayesian_dawid_skene import BayesianDawidSkene
    from blindfuse.estimators.blind_ensemble import BlindEnsemble
    from blindfuse.estimators.dawid_skene import DawidSkene
    from blindfuse.estimators.eigen_ratio import EigenRatio
    from blindfuse.estimators.glad import GLAD
    from blindfuse.estimators.kos import KOS
    from blindfuse.estimators.latent_subtypes import LatentSubtypes
    from blindfuse.estimators.mace import MACE
    from blindfuse.estimators.majority_vote import MajorityVote
    from blindfuse.estimators.mixed_membership import MixedMembership
    from blindfuse.estimators.mmsr import MMSR
    from blindfuse.estimators.one_coin import OneCoin
    from blindfuse.estimators.oracle import Oracle
    from blindfuse.estimators.ordinal_dawid_skene import OrdinalDawidSkene
    from blindfuse.estimators.single_best import SingleBest
    from blindfuse.estimators.spectral import Spectral
    from blindfuse.estimators.spectral_meta_learner import SpectralMetaLearner
    from blindfuse.estimators.triangular_estimation import TriangularEstimation
    from blindfuse.estimators.wawa import Wawa
    from blindfuse.estimators.zero_based_skill import ZeroBasedSkill

__all__ = [
    "GLAD",
    "KOS",
    "MACE",
    "MMSR",
    "BayesianDawidSkene",
    "BlindEnsemble",
    "DawidSkene",
    "EigenRatio",
    "LatentSubtypes",
    "MajorityVote",
    "MixedMembership",
    "OneCoin",
    "Oracle",
    "OrdinalDawidSkene",
    "SingleBest",
    "Spectral",
    "SpectralMetaLearner",
    "TriangularEstimation",
    "Wawa",
    "ZeroBasedSkill",
]
"""The estimator classes, which ``blindfuse`` exports."""

_OVERLAP = "three annotators who share items"


@dataclass(frozen=True)
class Method:
    """An estimator class with parameters, under the name that users see.

    ``estimator`` is the class in ``blindfuse.estimators.<module>``, and ``parameters`` are those
    that differ from its defaults; ``suffix`` completes the name of such a variant. ``needs`` says
    what the data must have, and ``cost`` how the work grows with the table. A method with
    ``needs_truth`` is for evaluation only. ``symbols`` says that annotators may report symbols that
    are not classes, such as scores.
    """

    estimator: str
    module: str
    cost: str
    needs: str | None = None
    suffix: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    needs_truth: bool = False
    symbols: bool = False

    @property
    def name(self) -> str:
        return self.estimator + self.suffix

    def __call__(self, **parameters: Any) -> "Estimator":
        """Return a new estimator, not yet fitted."""
        cls = getattr(import_module(f"blindfuse.estimators.{self.module}"), self.estimator)
        estimator: Estimator = cls(**{**self.parameters, **parameters})
        return estimator


_EM = "responses × classes per iteration"
_PAIRS = "one pass over the responses and annotators² pairs"

ENTRIES = (
    Method("MajorityVote", "majority_vote", "one pass over the responses", symbols=True),
    Method("Wawa", "wawa", "two passes over the responses"),
    Method("ZeroBasedSkill", "zero_based_skill", "one pass over the responses per iteration"),
    Method(
        "BlindEnsemble",
        "blind_ensemble",
        "annotators³ × classes⁴ or responses × classes² per sweep, whichever is less",
        _OVERLAP,
        symbols=True,
    ),
    Method("DawidSkene", "dawid_skene", _EM, symbols=True),
    Method(
        "DawidSkene",
        "dawid_skene",
        "that of BlindEnsemble and of DawidSkene",
        _OVERLAP,
        " after BlindEnsemble",
        {"start": "blind"},
        symbols=True,
    ),
    Method(
        "DawidSkene",
        "dawid_skene",
        "that of Spectral and of DawidSkene",
        _OVERLAP,
        " after Spectral",
        {"start": "spectral"},
    ),
    Method("Spectral", "spectral", "responses × classes³", _OVERLAP),
    Method("OneCoin", "one_coin", _EM),
    Method("OrdinalDawidSkene", "ordinal_dawid_skene", _EM, "ordered classes"),
    Method("BayesianDawidSkene", "bayesian_dawid_skene", _EM, symbols=True),
    Method(
        "LatentSubtypes",
        "latent_subtypes",
        "responses × classes × subtypes per iteration",
        symbols=True,
    ),
    Method("MixedMembership", "mixed_membership", _EM),
    Method("GLAD", "glad", _EM),
    Method("MACE", "mace", _EM),
    Method("MMSR", "mmsr", _PAIRS, _OVERLAP),
    Method("KOS", "kos", "responses × classes per iteration"),
    Method(
        "KOS",
        "kos",
        "responses × classes per iteration",
        "ordered classes",
        ", ordered",
        {"ordered": True},
    ),
    Method("EigenRatio", "eigen_ratio", _PAIRS, f"two classes and {_OVERLAP}"),
    Method("TriangularEstimation", "triangular_estimation", _PAIRS, f"two classes and {_OVERLAP}"),
    Method("SpectralMetaLearner", "spectral_meta_learner", _PAIRS, f"two classes and {_OVERLAP}"),
    Method(
        "Oracle",
        "oracle",
        "one pass over the responses",
        "the truth",
        needs_truth=True,
        symbols=True,
    ),
    Method(
        "SingleBest", "single_best", "one pass over the responses", "the truth", needs_truth=True
    ),
)
"""Every method, in the order in which users see them."""

METHODS = {method.name: method for method in ENTRIES if not method.needs_truth}
"""Every method that does not need the truth, by the name that users see."""

SYMBOL_METHODS = tuple(dict.fromkeys(method.estimator for method in ENTRIES if method.symbols))
"""Estimator classes that take symbols that are not classes."""

ESTIMATOR_MODULES = {method.estimator: f"estimators.{method.module}" for method in ENTRIES}
"""The module of every estimator class, for the package's lazy imports."""


def find_method(name: str) -> str:
    """Return the name in METHODS, ignoring case, spaces, hyphens, commas and underscores."""
    known = {_normalized(method): method for method in METHODS}
    if _normalized(name) not in known:
        raise BadParameter(f"There is no method {name!r}: {suggest(name, METHODS)}")
    return known[_normalized(name)]


def _normalized(name: str) -> str:
    return re.sub(r"[\s,_-]", "", name).casefold()
