"""Crowds and checked labels for the tests of audits."""

from typing import Any

import numpy as np

from blindfuse import AuditPlan, Fusion, Simulation, fuse, plan_audit, simulate
from blindfuse.typing import Codes


def crowd(n_items: int = 800, n_classes: int = 3, seed: int = 0, **options: Any) -> Simulation:
    """Seven annotators, conditionally independent."""
    options = {"skill": 0.25, "missing": 0.4, **options}
    return simulate(n_items, 7, n_classes, np.random.default_rng(seed), **options)


def labels_of(plan: AuditPlan, truth: Codes) -> dict[Any, Any]:
    """The correct labels of the items of a plan."""
    return dict(zip(plan.items.tolist(), truth[plan.positions].tolist(), strict=True))


def planned(drawn: Simulation, budget: int, seed: int = 0) -> tuple[Fusion, AuditPlan, Any]:
    """The arguments of ``audit``."""
    fusion = fuse(drawn.responses)
    plan = plan_audit(fusion, budget, seed=seed)
    return fusion, plan, labels_of(plan, drawn.truth)
