"""blindfuse: fuse the labels of many classifiers, annotators or judges without ground truth.

Names are imported when they are first used, so that ``import blindfuse`` is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blindfuse.checking import GoldCheck, check_on_gold
    from blindfuse.chunks import FusedChunk, FusedStream, fuse_stream
    from blindfuse.comparing import Compared, compare
    from blindfuse.diagnostics import Diagnostics, diagnose
    from blindfuse.errors import (
        BadFile,
        BadLabels,
        BadModel,
        BadParameter,
        BlindfuseError,
        DownloadFailed,
        NotConverged,
        NotIdentifiable,
        RankTooLow,
    )
    from blindfuse.estimators.bayesian_dawid_skene import BayesianDawidSkene
    from blindfuse.estimators.blind_ensemble import BlindEnsemble
    from blindfuse.estimators.dawid_skene import DawidSkene
    from blindfuse.estimators.eigen_ratio import EigenRatio
    from blindfuse.estimators.glad import GLAD
    from blindfuse.estimators.item_kinds import ItemKinds
    from blindfuse.estimators.kos import KOS
    from blindfuse.estimators.mace import MACE
    from blindfuse.estimators.majority_vote import MajorityVote
    from blindfuse.estimators.mixed_items import MixedItems
    from blindfuse.estimators.mmsr import MMSR
    from blindfuse.estimators.one_coin import OneCoin
    from blindfuse.estimators.oracle import Oracle
    from blindfuse.estimators.single_best import SingleBest
    from blindfuse.estimators.spectral import Spectral
    from blindfuse.estimators.spectral_meta_learner import SpectralMetaLearner
    from blindfuse.estimators.triangular_estimation import TriangularEstimation
    from blindfuse.estimators.wawa import Wawa
    from blindfuse.estimators.zero_based_skill import ZeroBasedSkill
    from blindfuse.fusing import Fusion, fuse
    from blindfuse.model import Model
    from blindfuse.moments import MomentCounts, Moments
    from blindfuse.planning import Requests, next_labels
    from blindfuse.readers.gold import read_gold
    from blindfuse.readers.reading import Read, read
    from blindfuse.report.writing import report_html, write_report
    from blindfuse.responses import Responses
    from blindfuse.simulation import Simulation, simulate

__version__ = "0.1.0"

_HOMES = {
    "BadFile": "errors",
    "BadLabels": "errors",
    "BadModel": "errors",
    "BadParameter": "errors",
    "BayesianDawidSkene": "estimators.bayesian_dawid_skene",
    "BlindEnsemble": "estimators.blind_ensemble",
    "BlindfuseError": "errors",
    "Compared": "comparing",
    "DawidSkene": "estimators.dawid_skene",
    "Diagnostics": "diagnostics",
    "DownloadFailed": "errors",
    "EigenRatio": "estimators.eigen_ratio",
    "FusedChunk": "chunks",
    "FusedStream": "chunks",
    "Fusion": "fusing",
    "GLAD": "estimators.glad",
    "GoldCheck": "checking",
    "ItemKinds": "estimators.item_kinds",
    "KOS": "estimators.kos",
    "MACE": "estimators.mace",
    "MMSR": "estimators.mmsr",
    "MajorityVote": "estimators.majority_vote",
    "MixedItems": "estimators.mixed_items",
    "Model": "model",
    "MomentCounts": "moments",
    "Moments": "moments",
    "NotConverged": "errors",
    "NotIdentifiable": "errors",
    "OneCoin": "estimators.one_coin",
    "Oracle": "estimators.oracle",
    "RankTooLow": "errors",
    "Read": "readers.reading",
    "Requests": "planning",
    "Responses": "responses",
    "Simulation": "simulation",
    "SingleBest": "estimators.single_best",
    "Spectral": "estimators.spectral",
    "SpectralMetaLearner": "estimators.spectral_meta_learner",
    "TriangularEstimation": "estimators.triangular_estimation",
    "Wawa": "estimators.wawa",
    "ZeroBasedSkill": "estimators.zero_based_skill",
    "check_on_gold": "checking",
    "compare": "comparing",
    "diagnose": "diagnostics",
    "fuse": "fusing",
    "fuse_stream": "chunks",
    "next_labels": "planning",
    "read": "readers.reading",
    "read_gold": "readers.gold",
    "report_html": "report.writing",
    "simulate": "simulation",
    "write_report": "report.writing",
}

__all__ = [
    "GLAD",
    "KOS",
    "MACE",
    "MMSR",
    "BadFile",
    "BadLabels",
    "BadModel",
    "BadParameter",
    "BayesianDawidSkene",
    "BlindEnsemble",
    "BlindfuseError",
    "Compared",
    "DawidSkene",
    "Diagnostics",
    "DownloadFailed",
    "EigenRatio",
    "FusedChunk",
    "FusedStream",
    "Fusion",
    "GoldCheck",
    "ItemKinds",
    "MajorityVote",
    "MixedItems",
    "Model",
    "MomentCounts",
    "Moments",
    "NotConverged",
    "NotIdentifiable",
    "OneCoin",
    "Oracle",
    "RankTooLow",
    "Read",
    "Requests",
    "Responses",
    "Simulation",
    "SingleBest",
    "Spectral",
    "SpectralMetaLearner",
    "TriangularEstimation",
    "Wawa",
    "ZeroBasedSkill",
    "check_on_gold",
    "compare",
    "diagnose",
    "fuse",
    "fuse_stream",
    "next_labels",
    "read",
    "read_gold",
    "report_html",
    "simulate",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'blindfuse' has no attribute {name!r}")
    value = getattr(import_module(f"blindfuse.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
