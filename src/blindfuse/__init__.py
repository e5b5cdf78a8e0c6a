"""blindfuse: fuse the labels of many classifiers, annotators or judges without ground truth.

Names are imported when they are first used, so that ``import blindfuse`` is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blindfuse.errors import (
        BadLabels,
        BadModel,
        BadParameter,
        BlindfuseError,
        NotConverged,
        NotIdentifiable,
    )
    from blindfuse.estimators.blind_ensemble import BlindEnsemble
    from blindfuse.model import Model
    from blindfuse.moments import MomentCounts, Moments
    from blindfuse.responses import Responses
    from blindfuse.simulation import Simulation, simulate

__version__ = "0.1.0"

_HOMES = {
    "BadLabels": "errors",
    "BadModel": "errors",
    "BadParameter": "errors",
    "BlindEnsemble": "estimators.blind_ensemble",
    "BlindfuseError": "errors",
    "Model": "model",
    "MomentCounts": "moments",
    "Moments": "moments",
    "NotConverged": "errors",
    "NotIdentifiable": "errors",
    "Responses": "responses",
    "Simulation": "simulation",
    "simulate": "simulation",
}

__all__ = [
    "BadLabels",
    "BadModel",
    "BadParameter",
    "BlindEnsemble",
    "BlindfuseError",
    "Model",
    "MomentCounts",
    "Moments",
    "NotConverged",
    "NotIdentifiable",
    "Responses",
    "Simulation",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'blindfuse' has no attribute {name!r}")
    value = getattr(import_module(f"blindfuse.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
