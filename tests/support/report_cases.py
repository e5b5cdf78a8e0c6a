"""Fusions that the tests of the report, and those in the browser, make pages of."""

from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from blindfuse import Fusion, Responses, check_on_gold, compare, fuse, simulate
from experiments.ensembles import answers

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
"""Names that would do harm, or break the page, if they were taken for anything but text."""


@cache
def crowd(seed: int = 0, n: int = 900, m: int = 40, k: int = 3, missing: float = 0.8) -> Fusion:
    """Annotators of whom three copy each other and the last one guesses; items are addresses."""
    rng = np.random.default_rng(seed)
    drawn = simulate(n, m, k, rng, missing=missing, cliques=[(0, 1, 2)], copying=0.8)
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
    """Names of items, annotators and classes are all hostile."""
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
    """Fifteen classifiers on scikit-learn's digits, with methods compared and 300 gold labels."""
    pixels, truth = load_digits(return_X_y=True)
    responses = answers(pixels, truth, 100, np.random.default_rng(0))
    fusion = fuse(responses)
    chosen = np.random.default_rng(1).choice(len(truth), 300, replace=False)
    gold = {int(item): int(truth[item]) for item in chosen}
    return fusion, {
        "title": "Fifteen classifiers on handwritten digits",
        "compared": compare(responses, gold),
        "gold": check_on_gold(fusion, gold),
    }
