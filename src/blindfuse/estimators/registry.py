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
    from blindfuse.estimators.baselines.kos import KOS
    from blindfuse.estimators.baselines.pairs import (
        MMSR,
        EigenRatio,
        SpectralMetaLearner,
        TriangularEstimation,
    )
    from blindfuse.estimators.baselines.spectral import Spectral
    from blindfuse.estimators.baselines.with_truth import Oracle, SingleBest
    from blindfuse.estimators.blind_ensemble import BlindEnsemble
    from blindfuse.estimators.dawid_skene import MACE, BayesianDawidSkene, DawidSkene, OneCoin
    from blindfuse.estimators.glad import GLAD
    from blindfuse.estimators.latent_subtypes import LatentSubtypes
    from blindfuse.estimators.ordinal_dawid_skene import OrdinalDawidSkene
    from blindfuse.estimators.voting import MajorityVote, Wawa, ZeroBasedSkill

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


_ONE_PASS = "one pass over the responses"
_EM = "responses × classes per iteration"
_PAIRS = "one pass over the responses and annotators² pairs"
_MOMENTS = "annotators³ × classes⁴ or responses × classes² per sweep, whichever is less"
_TWO_CLASSES = f"two classes and {_OVERLAP}"

ENTRIES = (
    Method("MajorityVote", "voting", _ONE_PASS, symbols=True),
    Method("Wawa", "voting", "two passes over the responses"),
    Method("ZeroBasedSkill", "voting", f"{_ONE_PASS} per iteration"),
    Method("BlindEnsemble", "blind_ensemble", _MOMENTS, _OVERLAP, symbols=True),
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
    Method("Spectral", "baselines.spectral", "responses × classes³", _OVERLAP),
    Method("OneCoin", "dawid_skene", _EM),
    Method("OrdinalDawidSkene", "ordinal_dawid_skene", _EM, "ordered classes"),
    Method("BayesianDawidSkene", "dawid_skene", _EM, symbols=True),
    Method(
        "LatentSubtypes",
        "latent_subtypes",
        "responses × classes × subtypes per iteration",
        symbols=True,
    ),
    Method("GLAD", "glad", _EM),
    Method("MACE", "dawid_skene", _EM),
    Method("MMSR", "baselines.pairs", _PAIRS, _OVERLAP),
    Method("KOS", "baselines.kos", _EM),
    Method("KOS", "baselines.kos", _EM, "ordered classes", ", ordered", {"ordered": True}),
    Method("EigenRatio", "baselines.pairs", _PAIRS, _TWO_CLASSES),
    Method("TriangularEstimation", "baselines.pairs", _PAIRS, _TWO_CLASSES),
    Method("SpectralMetaLearner", "baselines.pairs", _PAIRS, _TWO_CLASSES),
    Method(
        "Oracle",
        "baselines.with_truth",
        _ONE_PASS,
        "the truth",
        needs_truth=True,
        symbols=True,
    ),
    Method("SingleBest", "baselines.with_truth", _ONE_PASS, "the truth", needs_truth=True),
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
