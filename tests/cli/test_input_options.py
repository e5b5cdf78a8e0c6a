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
    assert "items in gold.csv that have no responses were skipped: 'unlabelled'" in result.stderr
    Path("other.csv").write_text("item,label\nx,cat\n")
    assert "No item in other.csv has responses" in refuse(
        "fuse", "votes.csv", "--gold", "other.csv"
    )
    Path("class.csv").write_text("item,label\ni1,bird\n")
    message = refuse("fuse", "votes.csv", "--gold", "class.csv")
    assert "'bird'" in message
    assert message.endswith("Add them to --classes.")


def test_lists_of_names_may_be_repeated() -> None:
    together = succeed("fuse", "votes.csv", "--missing", "cow,owl", "-o", "-")
    apart = succeed("fuse", "votes.csv", "--missing", "cow", "--missing", "owl", "-o", "-")
    assert apart.stdout == together.stdout
    assert "no label is 'owl', given as missing" in apart.stderr
    assert "p_cow" not in apart.stdout
    names = ("--classes", "dog", "--classes", "cow,cat")
    header = succeed("fuse", "votes.csv", *names, "-o", "-").stdout.splitlines()[0]
    assert header.endswith("p_dog,p_cow,p_cat")


def test_gold_and_checked_labels_take_the_spelling_of_the_classes() -> None:
    gold = write_gold()
    rows = "".join(f"{item},{label.title()}\n" for item, label in gold.items())
    Path("titles.csv").write_text(f"item,label\n{rows}")
    for option in ("--gold", "--checked"):
        expected = succeed("fuse", "votes.csv", option, "gold.csv", "--json").stdout
        assert succeed("fuse", "votes.csv", option, "titles.csv", "--json").stdout == expected


def test_labels_in_other_spellings_than_the_classes_are_refused_with_the_option() -> None:
    options = ("fuse", "votes.csv", "--classes", "Cat,Cow,Dog")
    assert refuse(*options).endswith("with --fold-case.")
    succeed(*options, "--fold-case")
    message = refuse("fuse", "votes.csv", "--classes", "Cat,Cow,Owl")
    assert "Labels 'dog', 'cat', 'cow'" in message
    assert "Add them to --classes, mark them as missing, or read other spellings" in message


def test_a_long_table_of_numbers_is_refused_with_the_options_that_name_its_columns() -> None:
    rows = Path("votes.csv").read_text().splitlines()[1:]
    codes = {"cat": "0", "cow": "1", "dog": "2"}
    cells = [row.split(",") for row in rows]
    text = "".join(f"{item[1:]} {who[1:]} {codes[label]}\n" for item, who, label in cells)
    Path("votes.txt").write_text(text)
    message = refuse("fuse", "votes.txt")
    assert "as in --item '0', --annotator '1', --label '2'" in message
    options = ("--item", "0", "--annotator", "1", "--label", "2")
    assert "300 items" in succeed("fuse", "votes.txt", *options).stdout
