"""Untrusted names in the output, and its grammar."""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.support.cli import read_votes, run, succeed

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


TINY_COMMANDS = """
fuse votes.csv --force -o p.csv --model m.npz --report r.html
fuse votes.csv --gold gold.csv
fuse votes.csv --checked gold.csv
fuse votes.csv --partitioned -o p.csv --force
predict m.npz votes.csv
annotators votes.csv
compare votes.csv --truth gold.csv
next votes.csv --budget 3
audit votes.csv --budget 1
audit votes.csv --checked gold.csv
cluster votes.csv
fuse ratings.csv --numbers
fuse ratings.csv --scores
fuse sets.csv --multi-label
"""


def write_table(name: str, items: int, annotators: int, labels: str) -> None:
    cells = list(product(range(items), range(annotators)))
    rows = [f"i{n},a{m},{labels.split()[(n + m) % 2]}\n" for n, m in cells]
    Path(name).write_text("item,annotator,label\n" + "".join(rows))


@pytest.mark.parametrize(("items", "annotators"), [*product((1, 2, 5), (1, 2, 3))])
def test_one_of_something_is_not_written_as_several(items: int, annotators: int) -> None:
    write_table("votes.csv", items, annotators, "yes no")
    write_table("ratings.csv", items, annotators, "1 2")
    write_table("sets.csv", items, annotators, "a|b a")
    Path("gold.csv").write_text("item,label\ni0,yes\nother,no\n")
    texts = {"a table": repr(read_votes())}
    for command in TINY_COMMANDS.strip().splitlines():
        result = run(*command.split())
        assert result.exit_code in (0, 2), (command, result.exception)
        texts[command] = " ".join(result.output.split())
    several = r"(?<![\w.,–-])(?<!of )1 (?!(?:is|class)\b)(?:[a-z]+ )?[a-z]+s\b"
    for command, text in texts.items():
        plurals = re.findall(several, text)
        assert plurals == [], command
