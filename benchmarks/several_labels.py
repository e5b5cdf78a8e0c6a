"""Several labels per item: F1 beside class-by-class majority and crowd-kit's BinaryRelevance."""

import warnings

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote
from crowdkit.aggregation.multilabel import BinaryRelevance
from numpy.typing import NDArray

from blindfuse import fuse_sets
from report import Check, Section
from tests.support.multi_label import MultiLabel, mean_f1, simulate_sets

SEEDS = range(5)


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
            fusion.posteriors > 0.5,
            drawn.majority(),
            _binary_relevance(drawn, MajorityVote()),
            _binary_relevance(drawn, DawidSkene(n_iter=100)),
        ]
        scores = [mean_f1(one, drawn.truth) for one in found]
        leads.append(scores[0] - max(scores[1:]))
        section.rows.append([str(seed), *(f"{score:.4f}" for score in scores)])
    section.checks = [Check("smallest lead of fuse_sets", min(leads), 0.0, at_most=False)]
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
