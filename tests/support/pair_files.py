"""Files of comparisons as people have them: the same comparisons in several layouts."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from blindfuse import Comparisons
from tests.support.tried_files import contents

ITEMS = ["gpt", "claude", "llama", "qwen", "phi"]
Outcomes = dict[tuple[str, ...], float]
"""How often a judge preferred one item to another: ``{(judge, item, other): number}``."""


class Battle(NamedTuple):
    """A comparison: ``share`` is 1 if the left item won, 0 if the right one did, ½ for a tie."""

    left: str
    right: str
    share: float
    judge: str
    prompt: str

    @property
    def named(self) -> str:
        """The name of the winner, or a tie."""
        return {1.0: self.left, 0.0: self.right, 0.5: "tie"}[self.share]

    def word(self, left: str, right: str, tie: str) -> str:
        """The word for the outcome."""
        return {1.0: left, 0.0: right, 0.5: tie}[self.share]


def _draw(n: int = 160) -> list[Battle]:
    rng, strengths = np.random.default_rng(3), [1.2, 0.8, 0.0, -0.6, -1.4]
    battles = []
    for at in range(n):
        i, j = rng.choice(len(ITEMS), 2, replace=False).tolist()
        wins = rng.random() < 1 / (1 + np.exp(strengths[j] - strengths[i]))
        share = 0.5 if rng.random() < 0.2 else float(wins)
        battles.append(Battle(ITEMS[i], ITEMS[j], share, f"judge {at % 4}", f"q{at % 20}"))
    return battles


BATTLES = _draw()
CHAT = [{"role": "user", "content": "Which is better?"}, {"role": "assistant", "content": "This"}]


def long_text(name: str) -> str:
    return f"I am {name}. " + "A long answer, with commas\nand lines. " * 20


def _arena(b: Battle) -> dict[str, Any]:
    winner = b.word("model_a", "model_b", "tie (bothbad)" if b.prompt == "q1" else "tie")
    row = {"model_a": b.left, "model_b": b.right, "winner": winner, "judge": b.judge}
    return {"question_id": b.prompt, **row, "turn": 1, "tstamp": 1.7e9, "language": "English"}


def _mt_bench(b: Battle) -> dict[str, Any]:
    row = _arena(b)
    return {**row, "conversation_a": json.dumps(CHAT), "conversation_b": json.dumps(CHAT)}


def _listed(b: Battle, names: str, text: Callable[[str], str] = str) -> dict[str, Any]:
    first, second = names.split()
    sides = (b.left, b.right) if b.share == 1 else (b.right, b.left)
    return {first: text(sides[0]), second: text(sides[1]), "annotator": b.judge}


LAYOUTS: dict[str, Callable[[Battle], dict[str, Any]]] = {
    "Chatbot Arena": _arena,
    "Chatbot Arena by user": lambda b: {
        **{"user" if name == "judge" else name: value for name, value in _arena(b).items()}
    },
    "MT-bench": _mt_bench,
    "names": lambda b: {"left": b.left, "right": b.right, "winner": b.named, "rater": b.judge},
    "sides": lambda b: {
        "item_1": b.left,
        "item_2": b.right,
        "judge": b.judge,
        "preference": b.word("Left", "Right", "both good"),
    },
    "verdicts": lambda b: {
        "response_a": b.left,
        "response_b": b.right,
        "judge": b.judge,
        "verdict": b.word("[[A]]", "[[B]]", "[[C]]"),
    },
    "numbers": lambda b: {
        "system_a": b.left,
        "system_b": b.right,
        "outcome": b.share,
        "worker_id": b.judge,
    },
    "LMSYS: a column per outcome": lambda b: {
        "id": 1,
        "model_a": b.left,
        "model_b": b.right,
        "response_a": "x",
        "response_b": "y",
        "winner_model_a": int(b.share == 1),
        "winner_model_b": int(b.share == 0),
        "winner_tie": int(b.share == 0.5),
        "judge": b.judge,
    },
    "winners and losers": lambda b: _listed(b, "winner loser"),
    "chosen and rejected": lambda b: _listed(b, "chosen rejected"),
    "texts": lambda b: _listed(b, "chosen rejected", long_text),
    "models of texts": lambda b: {
        "prompt": "p",
        "chosen": long_text("x"),
        "rejected": long_text("y"),
        **_listed(b, "chosen-model rejected-model"),
    },
}
"""How a row looks, by who writes such files."""
WITHOUT_TIES = ("winners and losers", "chosen and rejected", "texts", "models of texts")
ENDINGS = ("csv", "jsonl", "json", "parquet")


def battles_of(layout: str) -> list[Battle]:
    """The comparisons that a layout can hold."""
    return [b for b in BATTLES if b.share != 0.5 or layout not in WITHOUT_TIES]


def rows_of(layout: str) -> list[dict[str, Any]]:
    return [LAYOUTS[layout](battle) for battle in battles_of(layout)]


def content(layout: str, ending: str) -> bytes:
    """The comparisons as a file."""
    rows = rows_of(layout)
    return contents(f"x.{ending}", pl.DataFrame(rows) if ending == "parquet" else rows)


def outcomes(table: Comparisons) -> Outcomes:
    """How often each judge preferred one item to another, by their names; ties are half each."""

    def cells() -> Iterator[tuple[tuple[str, ...], float]]:
        cells = table.rows
        columns = cells.judge, cells.left, cells.right, cells.counts
        for k, i, j, counts in zip(*columns, strict=True):
            judge, left, right = table.annotators[k], table.items[i], table.items[j]
            yield (judge, left, right), float(counts[0] + counts[1] / 2)
            yield (judge, right, left), float(counts[2] + counts[1] / 2)

    return _sums(cells())


def expected_outcomes(
    layout: str, text: Callable[[str], str] = str
) -> dict[tuple[str, ...], float]:
    """As ``outcomes``, from the comparisons themselves."""
    return _sums(
        cell
        for b in battles_of(layout)
        for cell in (
            ((b.judge, text(b.left), text(b.right)), b.share),
            ((b.judge, text(b.right), text(b.left)), 1 - b.share),
        )
    )


def _sums(cells: Iterator[tuple[tuple[str, ...], float]]) -> Outcomes:
    total: Outcomes = {}
    for key, value in cells:
        total[key] = total.get(key, 0.0) + value
    return {key: value for key, value in total.items() if value}
