"""Untrusted names in the output."""

import json

import numpy as np
import polars as pl
import pytest

from tests.support.cli import run, succeed

pytestmark = pytest.mark.usefixtures("folder")


HOSTILE_NAMES = [
    "[bold]x[/bold]",
    "a\nb",
    'say "hi"',
    "\x1b[31mred\x1b[0m",
    "bell\x07",
    "rtl\u202e",
    "é,;",
]


def test_names_are_escaped_on_the_screen_and_kept_in_files() -> None:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        [
            (item, annotator, HOSTILE_NAMES[rng.integers(3)])
            for item in HOSTILE_NAMES
            for annotator in HOSTILE_NAMES
        ],
        schema=["item", "annotator", "label"],
        orient="row",
    )
    frame.write_csv("hostile.csv")
    for arguments in (
        ["fuse", "hostile.csv", "-o", "fused.csv"],
        ["annotators", "hostile.csv"],
        ["next", "hostile.csv", "--budget", "5"],
        ["compare", "hostile.csv", "--method", "wawa"],
        ["fuse", "hostile.csv", "--item", "\x1b[31mx"],
    ):
        result = run(*arguments)
        output = result.stdout + result.stderr
        assert not set(output) & set("\x1b\x07\u202e"), arguments
    assert "[bold]x[/bold]" in succeed("annotators", "hostile.csv").stdout
    assert pl.read_csv("fused.csv")["item"].to_list() == HOSTILE_NAMES
    document = json.loads(succeed("fuse", "hostile.csv", "--json").stdout)
    assert [row["item"] for row in document["items"]] == HOSTILE_NAMES
