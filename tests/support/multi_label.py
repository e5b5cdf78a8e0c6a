"""Simulated multi-label responses, in families that could mislead a fusion."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from blindfuse.typing import Codes, Flags, Floats

Rates = tuple[Floats, Floats]
"""Probabilities ``[annotator, class]`` of naming a class that applies, and one that does not."""


class MultiLabel(NamedTuple):
    """``truth[item, class]``, and responses by row: ``items``, ``annotators``, ``members``."""

    truth: Flags
    items: Codes
    annotators: Codes
    members: Flags

    @property
    def sets(self) -> list[list[int]]:
        return [np.flatnonzero(row).tolist() for row in self.members]

    def majority(self) -> Flags:
        """Whether more than half of the responses contain each class ``[item, class]``."""
        counts = np.bincount(self.items)
        columns = [np.bincount(self.items, column) / counts for column in self.members.T]
        return np.stack(columns, axis=1) > 0.5


def simulate_sets(
    n_items: int = 500, n_annotators: int = 25, n_classes: int = 20, seed: int = 0
) -> MultiLabel:
    """Draw sets of 0 to 4 classes in correlated pairs, and five responses per item.

    Two classes of a pair occur together in 70 % of the cases. Annotators have a sensitivity and a
    false positive rate of their own, which vary a little from class to class.
    """
    rng = np.random.default_rng(seed)
    truth = paired_classes(rng, n_items, n_classes)
    shape = n_annotators, n_classes
    hits = rng.beta(6, 3, (n_annotators, 1)) + rng.normal(0, 0.08, shape)
    alarms = rng.beta(1.2, 14, (n_annotators, 1)) + rng.normal(0, 0.02, shape)
    return respond(rng, truth, (hits.clip(0.05, 0.98), alarms.clip(0.005)), 5)


def paired_classes(rng: np.random.Generator, n_items: int, n_classes: int) -> Flags:
    """Zero to two pairs of classes per item; both, the first or the second class of each."""
    truth = np.zeros((n_items, n_classes), dtype=bool)
    for row in truth:
        for pair in rng.choice(n_classes // 2, rng.integers(0, 3), replace=False):
            kind = rng.random()
            row[2 * pair] = kind < 0.85
            row[2 * pair + 1] = kind < 0.7 or kind >= 0.85
    return truth


def respond(rng: np.random.Generator, truth: Flags, rates: Rates, per_item: int) -> MultiLabel:
    """Responses of ``per_item`` random annotators to each item."""
    hits, alarms = rates
    items = np.repeat(np.arange(len(truth)), per_item)
    annotators = np.concatenate(
        [rng.choice(len(hits), per_item, replace=False) for _ in range(len(truth))]
    )
    chances = np.where(truth[items], hits[annotators], alarms[annotators])
    return MultiLabel(truth, items, annotators, rng.random(chances.shape) < chances)


def draw_rates(rng: np.random.Generator, n_annotators: int, n_classes: int) -> Rates:
    shape = n_annotators, n_classes
    hits = rng.beta(6, 3, (n_annotators, 1)) + rng.normal(0, 0.08, shape)
    alarms = rng.beta(1.2, 14, (n_annotators, 1)) + rng.normal(0, 0.02, shape)
    return hits.clip(0.03, 0.98), alarms.clip(0.003, 0.97)


def many_classes(rng: np.random.Generator) -> MultiLabel:
    return respond(rng, rng.random((120, 40)) < 0.06, draw_rates(rng, 12, 40), 5)


def rare_classes(rng: np.random.Generator) -> MultiLabel:
    truth = rng.random((300, 8)) < 0.01
    truth[:, 0] = rng.random(300) < 0.3
    return respond(rng, truth, draw_rates(rng, 15, 8), 5)


def one_sided(rng: np.random.Generator) -> MultiLabel:
    """Every annotator knows half of the classes, and hardly ever names the others."""
    hits, alarms = draw_rates(rng, 15, 10)
    known = rng.random(hits.shape) < 0.5
    rates = np.where(known, hits, 0.02), np.where(known, alarms, 0.01)
    return respond(rng, rng.random((300, 10)) < 0.2, rates, 6)


def everything_or_nothing(rng: np.random.Generator) -> MultiLabel:
    """Three annotators name every class, and three none."""
    hits, alarms = draw_rates(rng, 15, 8)
    hits[:3] = alarms[:3] = 1.0
    hits[3:6] = alarms[3:6] = 0.0
    return respond(rng, rng.random((300, 8)) < 0.2, (hits, alarms), 5)


def correlated_pairs(rng: np.random.Generator) -> MultiLabel:
    return respond(rng, paired_classes(rng, 300, 12), draw_rates(rng, 20, 12), 5)


def two_annotators(rng: np.random.Generator) -> MultiLabel:
    return respond(rng, rng.random((200, 8)) < 0.25, draw_rates(rng, 2, 8), 2)


def tiny(rng: np.random.Generator) -> MultiLabel:
    return respond(rng, rng.random((5, 4)) < 0.4, draw_rates(rng, 3, 4), 3)


def copied(rng: np.random.Generator) -> MultiLabel:
    """Four of ten annotators repeat what one poor annotator says."""
    drawn = respond(rng, rng.random((300, 8)) < 0.25, draw_rates(rng, 10, 8), 6)
    chances = np.where(drawn.truth, 0.6, 0.15)
    source = rng.random(chances.shape) < chances
    copies = drawn.annotators < 4
    drawn.members[copies] = source[drawn.items[copies]]
    return drawn


def hard_items(rng: np.random.Generator) -> MultiLabel:
    """On three in ten items, a third of the decisions about all classes are reversed."""
    drawn = respond(rng, rng.random((300, 8)) < 0.25, draw_rates(rng, 12, 8), 5)
    is_hard = (rng.random(300) < 0.3)[drawn.items]
    drawn.members[is_hard[:, None] & (rng.random(drawn.members.shape) < 0.35)] ^= True
    return drawn


def exclusive(rng: np.random.Generator) -> MultiLabel:
    """One class per item, or none."""
    truth = np.eye(7, 6, dtype=bool)[rng.integers(0, 7, 300)]
    return respond(rng, truth, draw_rates(rng, 12, 6), 5)


def none_of_these(rng: np.random.Generator) -> MultiLabel:
    """Correlated classes; the last one is named if no other is, which false alarms make rare."""
    severity = rng.normal(0, 0.7, (500, 1)) * rng.choice([-1, 1], 14) + rng.normal(
        0, 0.7, (500, 14)
    )
    truth, number = severity > np.linspace(0.5, 2.3, 14), rng.integers(3, 9, 500)
    threshold = rng.normal(0, 0.35, (8, 1)) + rng.normal(0, 0.25, (8, 14))
    drawn = respond(rng, truth, (ndtr(1.2 - threshold), ndtr(-1.4 - threshold)), 8)
    drawn = keep(drawn, np.arange(4000) % 8 < number[drawn.items])
    truth, members = (np.column_stack([each, ~each.any(axis=1)]) for each in (truth, drawn.members))
    return MultiLabel(truth, drawn.items, drawn.annotators, members)


def adversarial(rng: np.random.Generator) -> MultiLabel:
    hits, alarms = draw_rates(rng, 15, 8)
    hits[:3], alarms[:3] = 0.1, 0.5
    return respond(rng, rng.random((300, 8)) < 0.3, (hits, alarms), 5)


def confused(rng: np.random.Generator) -> MultiLabel:
    """Where the first class applies, the second is often named as well, wrongly."""
    drawn = respond(rng, rng.random((300, 8)) < 0.25, draw_rates(rng, 12, 8), 5)
    drawn.members[(rng.random(len(drawn.members)) < 0.4) & drawn.truth[drawn.items, 0], 1] = True
    return drawn


def sparse(rng: np.random.Generator) -> MultiLabel:
    """Eight responses per annotator, three per item."""
    return respond(rng, rng.random((400, 8)) < 0.2, draw_rates(rng, 150, 8), 3)


def few_responses(rng: np.random.Generator) -> MultiLabel:
    """Two or three responses per item."""
    drawn = respond(rng, rng.random((400, 8)) < 0.2, draw_rates(rng, 12, 8), 3)
    return keep(drawn, ~((np.arange(1200) % 3 == 2) & (rng.random(400) < 0.5)[drawn.items]))


def one_bad_annotator(rng: np.random.Generator) -> MultiLabel:
    """One of five annotators, who responds to every item, names classes at random."""
    hits, alarms = draw_rates(rng, 5, 8)
    hits[0] = alarms[0] = 0.5
    return respond(rng, rng.random((300, 8)) < 0.2, (hits, alarms), 5)


def harder_quarter(rng: np.random.Generator) -> MultiLabel:
    """On a quarter of the items, annotators find a class half as often and name twice as many."""
    truth, (hits, alarms) = rng.random((400, 8)) < 0.2, draw_rates(rng, 12, 8)
    hard = rng.random(400) < 0.25
    easy, other = (
        respond(rng, truth, (hits, alarms), 5),
        respond(rng, truth, (hits / 2, 2 * alarms), 5),
    )
    is_hard = hard[easy.items]
    annotators = np.where(is_hard, other.annotators, easy.annotators)
    return MultiLabel(
        truth, easy.items, annotators, np.where(is_hard[:, None], other.members, easy.members)
    )


def abstaining(rng: np.random.Generator) -> MultiLabel:
    """Annotators leave the set empty where they are not sure, each on a share of the items."""
    drawn = respond(rng, rng.random((300, 8)) < 0.25, draw_rates(rng, 12, 8), 5)
    drawn.members[rng.random(1500) < rng.uniform(0, 0.6, 12)[drawn.annotators]] = False
    return drawn


def radiologists(rng: np.random.Generator) -> MultiLabel:
    """Fourteen findings in 1 to 15 % of the images, three to five of eight readers per image.

    A finding is more or less visible to all readers, who differ in how soon they report it.
    """
    n_items, n_readers, prevalence = 500, 8, np.geomspace(0.01, 0.15, 14)
    truth = rng.random((n_items, 14)) < prevalence
    visible = np.where(truth, 2.2, 0.0) + 0.7 * rng.standard_normal(truth.shape)
    threshold = 1.6 + rng.normal(0, 0.4, (n_readers, 1)) + rng.normal(0, 0.25, (n_readers, 14))
    drawn = respond(rng, truth, (np.ones_like(threshold), np.zeros_like(threshold)), 5)
    noise = 0.7 * rng.standard_normal(drawn.members.shape)
    drawn.members[:] = visible[drawn.items] + noise > threshold[drawn.annotators]
    return keep(drawn, np.arange(5 * n_items) % 5 < rng.integers(3, 6, n_items)[drawn.items])


def keep(drawn: MultiLabel, rows: Flags) -> MultiLabel:
    """The same with some of the responses."""
    return MultiLabel(drawn.truth, drawn.items[rows], drawn.annotators[rows], drawn.members[rows])


FAMILIES: dict[str, Callable[[np.random.Generator], MultiLabel]] = {
    family.__name__: family
    for family in (
        *(many_classes, rare_classes, one_sided, everything_or_nothing, correlated_pairs),
        *(two_annotators, tiny, copied, hard_items, exclusive, none_of_these, adversarial),
        *(
            confused,
            sparse,
            few_responses,
            one_bad_annotator,
            harder_quarter,
            abstaining,
            radiologists,
        ),
    )
}


def mean_f1(predicted: Flags, truth: Flags) -> float:
    """Return the mean over classes of F1."""
    hits = (predicted & truth).sum(axis=0)
    return float(np.mean(2 * hits / np.maximum(predicted.sum(axis=0) + truth.sum(axis=0), 1)))
