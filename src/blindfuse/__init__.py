"""blindfuse: fuse the labels of many classifiers, annotators or judges without ground truth.

Names are imported when they are first used, so that ``import blindfuse`` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from blindfuse.estimators.registry import ESTIMATOR_MODULES

if TYPE_CHECKING:
    from blindfuse.auditing.audit import AuditResult as AuditResult
    from blindfuse.auditing.audit import audit as audit
    from blindfuse.auditing.plan import AuditPlan as AuditPlan
    from blindfuse.auditing.plan import plan_audit as plan_audit
    from blindfuse.comparisons.audit_pairs import PairAudit as PairAudit
    from blindfuse.comparisons.audit_pairs import audit_pairs as audit_pairs
    from blindfuse.comparisons.next_pairs import PairRequests as PairRequests
    from blindfuse.comparisons.next_pairs import next_pairs as next_pairs
    from blindfuse.comparisons.ranking import Ranking as Ranking
    from blindfuse.comparisons.ranking import fuse_pairs as fuse_pairs
    from blindfuse.comparisons.table import Comparisons as Comparisons
    from blindfuse.diagnostics.diagnose import Diagnostics as Diagnostics
    from blindfuse.diagnostics.diagnose import diagnose as diagnose
    from blindfuse.errors import BadFile as BadFile
    from blindfuse.errors import BadLabels as BadLabels
    from blindfuse.errors import BadModel as BadModel
    from blindfuse.errors import BadParameter as BadParameter
    from blindfuse.errors import BlindfuseError as BlindfuseError
    from blindfuse.errors import DownloadFailed as DownloadFailed
    from blindfuse.errors import NotConverged as NotConverged
    from blindfuse.errors import NotIdentifiable as NotIdentifiable
    from blindfuse.errors import RankTooLow as RankTooLow
    from blindfuse.estimators.registry import *  # noqa: F403
    from blindfuse.fusion.compare import Comparison as Comparison
    from blindfuse.fusion.compare import GoldCheck as GoldCheck
    from blindfuse.fusion.compare import check_on_gold as check_on_gold
    from blindfuse.fusion.compare import compare as compare
    from blindfuse.fusion.fuse import Fusion as Fusion
    from blindfuse.fusion.fuse import fuse as fuse
    from blindfuse.fusion.fuse_clusters import ClusterFusion as ClusterFusion
    from blindfuse.fusion.fuse_clusters import fuse_clusters as fuse_clusters
    from blindfuse.fusion.fuse_stream import FusedChunk as FusedChunk
    from blindfuse.fusion.fuse_stream import FusedStream as FusedStream
    from blindfuse.fusion.fuse_stream import fuse_stream as fuse_stream
    from blindfuse.fusion.next_labels import LabelRequests as LabelRequests
    from blindfuse.fusion.next_labels import next_labels as next_labels
    from blindfuse.model.model import Model as Model
    from blindfuse.moments.counts import MomentCounts as MomentCounts
    from blindfuse.moments.moments import Moments as Moments
    from blindfuse.numbers.fuse_numbers import fuse_numbers as fuse_numbers
    from blindfuse.numbers.number_fusion import NumberFusion as NumberFusion
    from blindfuse.numbers.simulation import NumberSimulation as NumberSimulation
    from blindfuse.numbers.simulation import simulate_numbers as simulate_numbers
    from blindfuse.numbers.table import Numbers as Numbers
    from blindfuse.readers.gold import read_gold as read_gold
    from blindfuse.readers.reader import Read as Read
    from blindfuse.readers.reading import read as read
    from blindfuse.report.rendering import report_html as report_html
    from blindfuse.report.rendering import write_report as write_report
    from blindfuse.responses.response_sets import ResponseSets as ResponseSets
    from blindfuse.responses.responses import Responses as Responses
    from blindfuse.sets.fuse_sets import fuse_sets as fuse_sets
    from blindfuse.sets.set_fusion import SetFusion as SetFusion
    from blindfuse.simulation import Simulation as Simulation
    from blindfuse.simulation import simulate as simulate
    from blindfuse.simulation import simulate_scores as simulate_scores

__version__ = "0.3.0"

_MODULES = {
    **ESTIMATOR_MODULES,
    "AuditPlan": "auditing.plan",
    "AuditResult": "auditing.audit",
    "BadFile": "errors",
    "BadLabels": "errors",
    "BadModel": "errors",
    "BadParameter": "errors",
    "BlindfuseError": "errors",
    "ClusterFusion": "fusion.fuse_clusters",
    "Comparison": "fusion.compare",
    "Comparisons": "comparisons.table",
    "Diagnostics": "diagnostics.diagnose",
    "DownloadFailed": "errors",
    "FusedChunk": "fusion.fuse_stream",
    "FusedStream": "fusion.fuse_stream",
    "Fusion": "fusion.fuse",
    "GoldCheck": "fusion.compare",
    "LabelRequests": "fusion.next_labels",
    "Model": "model.model",
    "MomentCounts": "moments.counts",
    "Moments": "moments.moments",
    "NotConverged": "errors",
    "NotIdentifiable": "errors",
    "NumberFusion": "numbers.number_fusion",
    "NumberSimulation": "numbers.simulation",
    "Numbers": "numbers.table",
    "RankTooLow": "errors",
    "PairAudit": "comparisons.audit_pairs",
    "PairRequests": "comparisons.next_pairs",
    "Ranking": "comparisons.ranking",
    "Read": "readers.reader",
    "ResponseSets": "responses.response_sets",
    "Responses": "responses.responses",
    "SetFusion": "sets.set_fusion",
    "Simulation": "simulation",
    "audit": "auditing.audit",
    "audit_pairs": "comparisons.audit_pairs",
    "check_on_gold": "fusion.compare",
    "compare": "fusion.compare",
    "diagnose": "diagnostics.diagnose",
    "fuse": "fusion.fuse",
    "fuse_clusters": "fusion.fuse_clusters",
    "fuse_numbers": "numbers.fuse_numbers",
    "fuse_pairs": "comparisons.ranking",
    "fuse_sets": "sets.fuse_sets",
    "fuse_stream": "fusion.fuse_stream",
    "next_labels": "fusion.next_labels",
    "next_pairs": "comparisons.next_pairs",
    "plan_audit": "auditing.plan",
    "read": "readers.reading",
    "read_gold": "readers.gold",
    "report_html": "report.rendering",
    "simulate": "simulation",
    "simulate_numbers": "numbers.simulation",
    "simulate_scores": "simulation",
    "write_report": "report.rendering",
}
"""The module of every public name."""

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'blindfuse' has no attribute {name!r}")
    value = getattr(import_module(f"blindfuse.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
