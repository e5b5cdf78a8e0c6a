"""Reading files: columns, formats and gold labels."""

import gzip
import json
from pathlib import Path

import pytest

from tests.support.cli import refuse, succeed, write_gold

pytestmark = pytest.mark.usefixtures("folder")


def test_standard_input_gzip_and_patterns_are_read() -> None:
    data = Path("votes.csv").read_bytes()
    expected = succeed("fuse", "votes.csv", "-o", "-").stdout
    assert succeed("fuse", "-", "-o", "-", input=data).stdout == expected
    Path("votes.csv.gz").write_bytes(gzip.compress(data))
    assert succeed("fuse", "votes.csv.gz", "-o", "-").stdout == expected
    header, *rows = data.decode().splitlines(keepends=True)
    Path("part1.csv").write_text(header + "".join(rows[:500]))
    Path("part2.csv").write_text(header + "".join(rows[500:]))
    assert succeed("fuse", "part*.csv", "-o", "-").stdout == expected
    assert succeed("fuse", "part1.csv", "part2.csv", "-o", "-").stdout == expected


def test_columns_and_formats_can_be_named() -> None:
    text = Path("votes.csv").read_text().replace("item,annotator,label", "x,y,z", 1)
    Path("odd.csv").write_text(text)
    options = ("--item", "x", "--annotator", "y", "--label", "z")
    expected = succeed("fuse", "votes.csv", "-o", "-").stdout
    assert succeed("fuse", "odd.csv", *options, "-o", "-").stdout == expected
    Path("wide.csv").write_text("id,ann,bob,eve\n1,x,y,y\n2,x,x,y\n3,y,y,x\n")
    wide = ("--format", "wide", "--annotator", "ann", "--annotator", "eve")
    document = json.loads(succeed("annotators", "wide.csv", *wide, "--json").stdout)
    assert {row["annotator"] for row in document["annotators"]} == {"ann", "eve"}


def test_gold_items_without_responses_are_skipped_with_a_note() -> None:
    write_gold()
    with Path("gold.csv").open("a") as file:
        file.write("unlabelled,cat\n")
    result = succeed("fuse", "votes.csv", "--gold", "gold.csv", "--json")
    assert json.loads(result.stdout)["gold"]["items"] == 40
    assert "1 gold items without responses were skipped: 'unlabelled'" in result.stderr
    Path("other.csv").write_text("item,label\nx,cat\n")
    assert "No item in other.csv has responses" in refuse(
        "fuse", "votes.csv", "--gold", "other.csv"
    )
    Path("class.csv").write_text("item,label\ni1,bird\n")
    message = refuse("fuse", "votes.csv", "--gold", "class.csv")
    assert "'bird'" in message
    assert message.endswith("Add them to --classes.")
