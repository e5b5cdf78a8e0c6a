"""What each part of the rule of fuse contributes: labels with one part removed or replaced.

The evidence of a table is computed once. Every row combines it again, with the package's own
functions, after one part was taken out.
"""

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from blindfuse import NotConverged
from blindfuse.fusion.evidence import Evidence
from blindfuse.fusion.rule import MAJORITY_VOTE, choose_model
from blindfuse.model.posteriors import vote_posteriors
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT
from experiments.calibration_tables import Table, tables_with_truth
from measured_tables import (
    PairedErrors,
    add_to_cache,
    cache_path,
    cases_of,
    compare_errors,
    read_cache,
)
from report import Check, Section, public_data

Floats = NDArray[np.float64]
Rule = Callable[[Evidence], Floats]

VARIANT_SEED = 0
MIN_GAIN = 0.05
"""Points that a part must gain on average over families, unless it keeps a table within its
limit."""
FITTED = "fitted", "pairs", "dependence"
"""What Evidence computes from the fitted model."""


def whole_rule(evidence: Evidence, **replaced: Any) -> Floats:
    """Posteriors by the rule, with replaced parameters of its model unless it is the vote."""
    method, model, _ = choose_model(evidence)
    if method != MAJORITY_VOTE:
        model = replace(model, **replaced)
    return model.combine(evidence.responses, *model.parts(evidence.responses))


def without_one_iteration(evidence: Evidence) -> Floats:
    """q is the posterior of EM, where there is one."""
    _, model, _ = choose_model(evidence)
    near = evidence.one_iteration.model_
    if not evidence.is_modelled:
        return whole_rule(evidence)
    return whole_rule(evidence, others=tuple(one for one in model.others if one is not near))


def without_em(evidence: Evidence) -> Floats:
    """q is the posterior of one iteration."""
    _, model, _ = choose_model(evidence)
    near, responses = evidence.one_iteration.model_, evidence.responses
    if not any(one is near for one in model.others):
        return whole_rule(evidence)
    by_model, _ = model.parts(responses)
    return model.combine(responses, by_model, near.posteriors(responses))


def with_reach(reach: float) -> Rule:
    """Models may move a label by another number of standard deviations."""
    return lambda evidence: whole_rule(evidence, reach=reach)


def patched(target: str, value: Any) -> Rule:
    """The rule with a function of the package replaced."""

    def apply(evidence: Evidence) -> Floats:
        with patch(f"blindfuse.{target}", value):
            return whole_rule(evidence)

    return apply


def with_weight(weight: Callable[[Evidence], float]) -> Rule:
    """The rule with another w."""
    return patched("fusion.rule.dependence_weight", lambda evidence: (weight(evidence), ""))


def changed(evidence: Evidence, **computed: Any) -> Evidence:
    """The evidence with other computed parts, and without what depends on the fitted model."""
    other = copy(evidence)
    for name in FITTED:
        vars(other).pop(name, None)
    vars(other).update(computed)
    return other


def without_mace(evidence: Evidence) -> Floats:
    """One-sided sources have confusion matrices like all others."""
    if not evidence.is_one_sided:
        return whole_rule(evidence)
    return whole_rule(changed(evidence, one_sided_share=0.0))


def em_from_vote(evidence: Evidence) -> Floats:
    """EM starts from the majority vote."""
    return _refitted(evidence, start="mv")


def fixed_shrinkage(evidence: Evidence) -> Floats:
    """Confusion matrices have three pseudo-counts per class, distributed like all responses."""
    if not evidence.is_modelled:
        return whole_rule(evidence)
    start = getattr(evidence.fitted, "start", "mv")
    near = evidence.fit_dawid_skene(max_iter=1, shrinkage=DEFAULT_PSEUDO_COUNT)
    other = changed(evidence, one_iteration=near, fitted=evidence.fitted)
    return _refitted(other, start=start, shrinkage=DEFAULT_PSEUDO_COUNT)


def _refitted(evidence: Evidence, **parameters: Any) -> Floats:
    """The rule with Dawid–Skene fitted in another way, where that is the model."""
    if not evidence.is_modelled or evidence.is_one_sided:
        return whole_rule(evidence)
    return whole_rule(changed(evidence, fitted=evidence.fit_dawid_skene(**parameters)))


def step_weight(evidence: Evidence) -> float:
    """w jumps from 0 to 1 at two standard errors."""
    return float(evidence.second_subtype.z > 2)


PARTS: dict[str, Rule] = {
    "the rule": whole_rule,
    "q without one EM iteration": without_one_iteration,
    "q without EM": without_em,
    "reach 0": with_reach(0.0),
    "reach 1.5": with_reach(1.5),
    "w always 0": with_weight(lambda evidence: 0.0),
    "w always 1": with_weight(lambda evidence: 1.0),
    "w a step at z = 2": with_weight(step_weight),
    "without MACE for one-sided sources": without_mace,
    "EM from the vote": em_from_vote,
    "n' without ρ": lambda evidence: whole_rule(evidence, correlation=0.0),
    "three pseudo-counts, no learned prior": fixed_shrinkage,
    "without the test of information": patched("fusion.rule.Evidence.is_informative", True),
}
"""The rule, and the rule with one part removed or replaced."""


@dataclass(frozen=True)
class Ablated:
    """Errors of the vote and of each of PARTS on a table or variant."""

    name: str
    variant: str
    family: str
    errors: dict[str, PairedErrors]


def ablate_tables(tables: list[Table], variant_seed: int | None) -> list[Ablated]:
    """Errors of all parts on the tables or their variants, unless they were measured before."""
    path = cache_path("ablation")
    done = {key: [_read(one) for one in found] for key, found in read_cache(path).items()}
    for table in tables:
        key = f"{table.name} | {variant_seed}"
        if key not in done:
            done[key] = _ablate(table, variant_seed)
            add_to_cache(path, key, [asdict(one) for one in done[key]])
    return [one for table in tables for one in done[f"{table.name} | {variant_seed}"]]


def _read(stored: dict[str, Any]) -> Ablated:
    errors = {part: PairedErrors(**one) for part, one in stored.pop("errors").items()}
    return Ablated(**stored, errors=errors)


def _ablate(table: Table, variant_seed: int | None) -> list[Ablated]:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for case in cases_of(table, variant_seed):
            votes = vote_posteriors(case.evidence.responses)
            errors = {
                part: compare_errors(votes, rule(case.evidence), case.truth)
                for part, rule in PARTS.items()
            }
            found.append(Ablated(case.name, case.variant, case.family, errors))
    return found


def parts() -> Section:
    """Gain over the vote with each part removed, by family, on whole tables and on variants."""
    section = Section("Ablation: gain over the majority vote with one part removed, points", [])
    folder = public_data()
    tables = list(tables_with_truth(folder))
    groups = [ablate_tables(tables, seed) for seed in (None, VARIANT_SEED)]
    families = list(dict.fromkeys(one.family for one in groups[0]))
    section.header = ["part", *families, "mean of families", "above the limit", "worst", "where"]
    for part in PARTS:
        section.rows.append([part, *_row(part, families, groups)])
        if part != "the rule":
            section.checks.append(_check(part, families, groups))
    section.note = (
        f"{len(groups[0])} whole tables / {len(groups[1])} variants. Above the limit: tables on "
        "which the error is above the vote's by more than 0.3 points and two standard errors; "
        "worst: the largest difference. The checks say what a part gains on average over families "
        "and over whole tables and variants. A part that gains less needs another reason, such as "
        "tables that it keeps within their limit. Shapes are two tables with a weight of a sixth, "
        "so differences of a few hundredths of a point may come from them alone."
    )
    return section


def _row(part: str, families: list[str], groups: list[list[Ablated]]) -> list[str]:
    gains = [_gains(part, families, group) for group in groups]
    pairs = [*zip(*gains, strict=True), tuple(map(fmean, gains))]
    cells = [f"{whole:.2f} / {variants:.2f}" for whole, variants in pairs]
    above = [sum(one.errors[part].is_above for one in group) for group in groups]
    worst = [max(group, key=lambda one: one.errors[part].difference) for group in groups]
    differences = " / ".join(f"{one.errors[part].difference:+.1f}" for one in worst)
    where = " / ".join(filter(None, (worst[0].name, f"{worst[1].name}, {worst[1].variant}")))
    return [*cells, f"{above[0]} / {above[1]}", differences, where]


def _gains(part: str, families: list[str], group: list[Ablated]) -> list[float]:
    """The mean gain over the vote of each family, in points."""
    return [
        fmean(-one.errors[part].difference for one in group if one.family == family)
        for family in families
    ]


def _check(part: str, families: list[str], groups: list[list[Ablated]]) -> Check:
    lost = fmean(
        fmean(_gains("the rule", families, group)) - fmean(_gains(part, families, group))
        for group in groups
    )
    return Check(f"{part}: points lost", lost, MIN_GAIN, at_most=False)
