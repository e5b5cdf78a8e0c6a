"""Fusions for the tests of the report, and for those in a browser."""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from blindfuse import Fusion, Model, Responses, check_on_gold, compare, fuse, simulate
from blindfuse.fusion.evidence import Evidence
from blindfuse.model.fused_model import FusedModel
from blindfuse.report.blocks import Page
from blindfuse.report.checks import Checks
from blindfuse.report.rendering import gather_page
from experiments.trained_classifiers import train_and_label

HOSTILE = (
    "<script>window.pwned = 1</script>",
    "</script><img src=x onerror='window.pwned = 1'>",
    '"><svg onload="window.pwned = 1">',
    "{{ 7 * 7 }}{% raw %}",
    "datum.x; window.pwned = 1",
    "javascript:window.pwned=1",
    "\u202eright to left\u202c and ‏back",
    "line\nbreak\ttab\x00null\x1bescape",
    "🙂 emoji 日本語",
    "long " + "x" * 5000,
    "   ",
    "<!-- comment & entity &amp; -->",
)
"""Names that would do harm or break the page if they were not treated as text."""


def page_of(result: Any, **checks: Any) -> Page:
    """The contents of the page of a result."""
    return gather_page(result, "A title", (), Checks(**checks))


def find_block(page: Page, section: str, kind: type[Any]) -> Any:
    """The first block of this type in a section."""
    (found,) = (each for each in page.sections if each.name == section)
    return next(block for block in found.blocks if type(block) is kind)


def embedded_data(page: str) -> Any:
    """The data that the page's script reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


@cache
def crowd(seed: int = 0, n: int = 900, m: int = 40, k: int = 3, missing: float = 0.8) -> Fusion:
    """Three annotators copy each other, and the last one guesses; items are URLs."""
    rng = np.random.default_rng(seed)
    drawn = simulate(
        n, m, k, rng, missing=missing, dependent_groups=[(0, 1, 2)], copy_probability=0.8
    )
    matrix = np.array(drawn.responses.matrix())
    matrix[:, -1] = rng.integers(k, size=n)
    classes = ("cat", "dog", "horse", "other", "none")[:k]
    return fuse(
        Responses.from_matrix(
            np.where(matrix < 0, None, np.array(classes, dtype=object)[matrix]),
            items=[f"https://example.org/pictures/{number:05}.jpg" for number in range(n)],
            annotators=[f"worker {number:02}" for number in range(m)],
            classes=classes,
        )
    )


@cache
def hostile() -> Fusion:
    """A fusion whose items, annotators and classes all have hostile names."""
    drawn = simulate(120, len(HOSTILE), 4, np.random.default_rng(1), skill=0.4)
    classes = HOSTILE[:4]
    return fuse(
        Responses.from_matrix(
            np.array(classes, dtype=object)[drawn.responses.matrix()],
            items=[f"{HOSTILE[number % len(HOSTILE)]}{number:03}" for number in range(120)],
            annotators=HOSTILE,
            classes=classes,
        )
    )


@cache
def digits() -> tuple[Fusion, dict[str, Any]]:
    """Fifteen classifiers on scikit-learn's digits, with a comparison and 300 gold labels."""
    pixels, truth = load_digits(return_X_y=True)
    responses = train_and_label(pixels, truth, 100, np.random.default_rng(0))
    fusion = fuse(responses)
    chosen = np.random.default_rng(1).choice(len(truth), 300, replace=False)
    gold = {int(item): int(truth[item]) for item in chosen}
    return fusion, {
        "title": "Fifteen classifiers on handwritten digits",
        "compared": compare(responses, gold),
        "gold": check_on_gold(fusion, gold),
    }


def large_fusion(
    n: int, m: int, k: int, responses_per_item: int, name: Callable[[int], str]
) -> Fusion:
    """A crowd with named items, annotators and classes, labelled by its own true model.

    That saves the time that fitting takes.
    """
    missing = 1 - responses_per_item / m
    drawn = simulate(n, m, k, np.random.default_rng(0), missing=missing, skill=0.5)
    items, annotators, classes = ([name(number) for number in range(size)] for size in (n, m, k))
    _, codes, symbols = drawn.responses.by_item
    names: dict[str, Any] = {"items": items, "annotators": annotators, "classes": classes}
    table = Responses.from_codes(drawn.responses.item_of_response(), codes, symbols, **names)
    model = Model(drawn.model.confusions, drawn.model.prior, table.annotators, table.classes)
    posteriors = model.posteriors(table)
    return Fusion(
        *(table, model.name_labels(posteriors), posteriors, "Given", "It was given."),
        *(FusedModel.of(model), None, np.linspace(-9.0, -1.0, 5), Evidence(table), np.arange(m)),
    )
