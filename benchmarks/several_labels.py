"""Several labels per item: F1 beside class-by-class majority and crowd-kit's BinaryRelevance,
families of simulated responses beside the majority, and single choices beside ``fuse``."""

import warnings

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote
from crowdkit.aggregation.multilabel import BinaryRelevance
from numpy.typing import NDArray

from blindfuse import fuse_sets
from report import Check, Section
from tests.support.multi_label import (
    FAMILIES,
    MultiLabel,
    mean_f1,
    simulate_sets,
)

SEEDS = range(5)
FAMILY_SEEDS = range(5)


def simulated() -> Section:
    """20 classes in correlated pairs, sets of 0 to 4, five responses per item."""
    section = Section(
        "Several labels per item: mean F1 over 20 classes",
        ["seed", "fuse_sets", "majority", "BinaryRelevance, vote", "BinaryRelevance, Dawid–Skene"],
        note="500 items, 25 annotators, 5 responses per item, sets of 0 to 4 in correlated pairs.",
    )
    leads = []
    for seed in SEEDS:
        drawn = simulate_sets(seed=seed)
        classes = list(range(drawn.truth.shape[1]))
        fusion = fuse_sets(drawn.items, drawn.annotators, drawn.sets, classes=classes)
        found = [
            fusion.chosen,
            drawn.majority(),
            _binary_relevance(drawn, MajorityVote()),
            _binary_relevance(drawn, DawidSkene(n_iter=100)),
        ]
        scores = [mean_f1(one, drawn.truth) for one in found]
        leads.append(scores[0] - max(scores[1:]))
        section.rows.append([str(seed), *(f"{score:.4f}" for score in scores)])
    section.checks = [Check("smallest lead of fuse_sets", min(leads), 0.0, at_most=False)]
    return section


def families() -> Section:
    """Families of responses that could mislead a fusion, beside class-by-class majority."""
    section = Section(
        f"Several labels per item: {len(FAMILIES)} families beside class-by-class majority",
        [
            *("family", "F1", "majority’s F1", "wrong sets %", "majority’s wrong sets %"),
            *("wrong decisions %", "expected", "correct sets %", "expected"),
        ],
        note=f"Means of {len(FAMILY_SEEDS)} seeds; expected figures with mean limits.",
    )
    f1, wrong_sets, inside = [], [], []
    for name, draw in FAMILIES.items():
        rows = [_compare_family(draw(np.random.default_rng(seed))) for seed in FAMILY_SEEDS]
        v = np.nanmean(rows, axis=0)
        section.rows.append(
            [
                *(name.replace("_", " "), f"{v[0]:.3f}", f"{v[1]:.3f}"),
                *(f"{100 * x:.1f}" for x in v[2:5]),
                _percent(v[5:8]),
                f"{100 * (1 - v[2]):.1f}",
                _percent(v[8:11]),
            ]
        )
        f1.append(v[0] - v[1])
        wrong_sets.append(100 * (v[2] - v[3]))
        inside.append(v[6] <= v[4] <= v[7] and v[9] <= 1 - v[2] <= v[10])
    section.checks = [
        Check("smallest lead of a family in F1", min(f1), -0.005, at_most=False),
        Check("largest excess of a family in wrong sets, points", max(wrong_sets), 0.0),
        Check("families outside the stated intervals", inside.count(False), 0),
    ]
    return section


def _compare_family(drawn: MultiLabel) -> tuple[float, ...]:
    """F1, wrong sets (each beside the majority's), wrong decisions, and what was expected."""
    classes = list(range(drawn.truth.shape[1]))
    fusion = fuse_sets(drawn.items, drawn.annotators, drawn.sets, classes=classes)
    majority, nothing = drawn.majority(), (np.nan, np.nan, np.nan)
    error, sets = fusion.expected_error, fusion.correct_sets
    return (
        mean_f1(fusion.chosen, drawn.truth),
        mean_f1(majority, drawn.truth),
        float((fusion.chosen != drawn.truth).any(axis=1).mean()),
        float((majority != drawn.truth).any(axis=1).mean()),
        float((fusion.chosen != drawn.truth).mean()),
        *((error.value, error.low, error.high) if error is not None else nothing),
        *(sets or nothing),
    )


def _percent(shares: NDArray[np.float64]) -> str:
    value, low, high = 100 * shares
    return f"{value:.1f} ({low:.1f} to {high:.1f})"


def _binary_relevance(drawn: MultiLabel, aggregator: object) -> NDArray[np.bool_]:
    frame = pd.DataFrame({"task": drawn.items, "worker": drawn.annotators, "label": drawn.sets})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = BinaryRelevance(aggregator).fit_predict(frame)
    found = np.zeros_like(drawn.truth)
    for item, members in labels.items():
        found[item, np.asarray(members, dtype=int)] = True
    return found
