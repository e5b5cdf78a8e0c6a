"""Several labels per item: F1 beside class-by-class majority and crowd-kit's BinaryRelevance,
families of simulated responses beside the majority, and single choices beside ``fuse``."""

import warnings

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote
from crowdkit.aggregation.multilabel import BinaryRelevance
from numpy.typing import NDArray

from blindfuse import fuse, fuse_sets, simulate
from report import Check, Section
from tests.support.multi_label import (
    FAMILIES,
    MultiLabel,
    excess_error,
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
            *("family", "wrong decisions", "majority", "excess in standard errors, largest"),
            *("expected", "F1", "majority’s F1", "whole sets correct", "stated"),
        ],
        note=(
            f"Means of {len(FAMILY_SEEDS)} seeds. Wrong decisions are shares of items × classes. "
            "The excess is the error minus that of the majority, relative to its standard error "
            "over items."
        ),
    )
    largest, mean_excess = [], []
    for name, draw in FAMILIES.items():
        rows = [_compare_family(draw(np.random.default_rng(seed))) for seed in FAMILY_SEEDS]
        values = np.array(rows)
        excess = values[:, 2]
        wrong, majority, _, *others = values.mean(axis=0)
        section.rows.append(
            [
                *(
                    name.replace("_", " "),
                    f"{wrong:.4f}",
                    f"{majority:.4f}",
                    f"{excess.max():+.1f}",
                ),
                *(f"{value:.3f}" for value in others),
            ]
        )
        largest.append(float(excess.max()))
        mean_excess.append(float(excess.mean()) * np.sqrt(len(FAMILY_SEEDS)))
    section.checks = [
        Check("largest excess of one table, in standard errors", max(largest), 3.0),
        Check("largest mean excess of a family, in standard errors", max(mean_excess), 3.0),
    ]
    return section


def _compare_family(drawn: MultiLabel) -> tuple[float, ...]:
    classes = list(range(drawn.truth.shape[1]))
    fusion = fuse_sets(drawn.items, drawn.annotators, drawn.sets, classes=classes)
    majority = drawn.majority()
    excess, error = excess_error(fusion.chosen, drawn)
    return (
        float((fusion.chosen != drawn.truth).mean()),
        float((majority != drawn.truth).mean()),
        excess / error if error else 0.0,
        fusion.expected_error,
        mean_f1(fusion.chosen, drawn.truth),
        mean_f1(majority, drawn.truth),
        float((fusion.chosen == drawn.truth).all(axis=1).mean()),
        float(fusion.confidence.mean()),
    )


def single_choices() -> Section:
    """Responses of one class each: the labels of ``fuse``."""
    section = Section(
        "Several labels per item: single choices beside fuse",
        ["items", "annotators", "classes", "labels that differ from fuse"],
    )
    differing = 0
    for shape in ((300, 8, 2), (500, 12, 5), (1000, 30, 10)):
        table = simulate(*shape, np.random.default_rng(0), skill=0.4, missing=0.4).responses
        codes = table.by_item.symbols.tolist()
        columns = table.item_of_response(), table.by_item.codes
        fusion = fuse_sets(*columns, [[code] for code in codes], classes=list(range(shape[2])))
        labels = np.array([members[0] for members in fusion.sets])
        count = int(np.count_nonzero(labels != fuse(table).labels))
        section.rows.append([*(f"{size:,}" for size in shape), f"{count:,}"])
        differing += count
    section.checks = [Check("labels that differ from those of fuse", differing, 0)]
    return section


def _binary_relevance(drawn: MultiLabel, aggregator: object) -> NDArray[np.bool_]:
    frame = pd.DataFrame({"task": drawn.items, "worker": drawn.annotators, "label": drawn.sets})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = BinaryRelevance(aggregator).fit_predict(frame)
    found = np.zeros_like(drawn.truth)
    for item, members in labels.items():
        found[item, np.asarray(members, dtype=int)] = True
    return found
