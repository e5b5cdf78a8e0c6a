"""Options about files, columns, names and labels reach the reader."""

import gzip
import json
import re
import shlex
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

from blindfuse import fuse, read
from blindfuse.cli.fuse import fuse_command
from blindfuse.readers import partitions
from blindfuse.readers.reading import READERS
from blindfuse.responses.rows import Repeats
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


@pytest.mark.parametrize(
    "suspects", [["refused"], ["n/a, see note", "refused", 'n/a ("x"), later', "can't tell"]]
)
def test_the_advice_about_missing_labels_can_be_pasted(suspects: list[str]) -> None:
    labels = ["yes", "no", *suspects]
    rows = [(n, m, labels[(n + m * (n % 3)) % len(labels)]) for n in range(60) for m in range(5)]
    frame = pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row")
    frame.write_csv("suspects.csv")
    notes = succeed("fuse", "suspects.csv").stderr
    (advice,) = re.findall(r"missing responses, pass (.+) \(missing=", notes)
    pasted = succeed("fuse", "suspects.csv", *shlex.split(advice))
    assert "If they mark" not in pasted.stderr
    assert "in 2 classes" in pasted.stdout


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


def test_classes_keep_the_users_order_and_may_be_unreported() -> None:
    options = ("--classes", 'dog, cat,cow,"a, b"')
    header = succeed("fuse", "votes.csv", *options, "-o", "-").stdout.splitlines()[0]
    assert header.endswith(',p_dog,p_cat,p_cow,"p_a, b"')
    assert "'dog'" in refuse("fuse", "votes.csv", "--classes", "cat,cow")


def test_choices_are_those_of_the_package() -> None:
    choices = {each.name: getattr(each.type, "choices", None) for each in fuse_command.params}
    assert choices["format"] == tuple(READERS)
    assert choices["repeats"] == get_args(Repeats)


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "PARTITION_BYTES", 5_000)


def change_votes(**columns: pl.Expr) -> None:
    pl.read_csv("votes.csv", infer_schema=False).with_columns(**columns).write_csv("votes.csv")


@pytest.mark.parametrize("way", ["--whole", "--partitioned"])
@pytest.mark.parametrize(
    ("options", "arguments", "note"),
    [
        ([], {}, "labels treated as missing: 'NA'"),
        (["--keep-na"], {"keep_na": True}, "--fold-case"),
        (["--fold-case"], {"fold_case": True}, "most frequent spelling"),
        (["--missing", "CAT,COW"], {"missing": ["CAT", "COW"]}, "'CAT', 'COW'"),
        (["--repeats", "last"], {"repeats": "last"}, "labels treated as missing"),
        (["--question", "animal"], {"question": "animal"}, "read as"),
    ],
)
def test_options_are_those_of_read(
    way: str, options: list[str], arguments: dict[str, object], note: str
) -> None:
    """Some labels are NA, some in capitals, some repeated, and there is another question."""
    label, place = pl.col("label"), pl.int_range(pl.len()) % 7
    spelled = pl.when(place == 3).then(label.str.to_uppercase()).otherwise(label)
    change_votes(label=pl.when(place == 0).then(pl.lit("NA")).otherwise(spelled))
    if "--question" in options:
        votes = pl.read_csv("votes.csv", infer_schema=False).with_columns(question=pl.lit("animal"))
        sizes = votes.with_columns(question=pl.lit("size"), label=pl.lit("big"))
        pl.concat([votes, sizes]).write_csv("votes.csv")
        assert "several questions" in refuse("fuse", "votes.csv", way)
    elif "--repeats" in options:
        votes = pl.read_csv("votes.csv", infer_schema=False)
        pl.concat([votes, votes[::5].with_columns(label=pl.lit("cow"))]).write_csv("votes.csv")
        assert "more than once" in refuse("fuse", "votes.csv", way, "--repeats", "error")
    result = succeed("fuse", "votes.csv", way, *options, "-o", "fused.csv")
    expected = fuse(read("votes.csv", **arguments).responses)  # type: ignore[call-overload]
    labels = dict(zip(expected.items.tolist(), expected.labels.tolist(), strict=True))
    frame = pl.read_csv("fused.csv", infer_schema=False)
    assert dict(zip(frame["item"], frame["label"], strict=True)) == labels
    assert note in result.output


FORMULAS = {"cat": "=1+1", "cow": "-1", "dog": "@x"}


@pytest.mark.parametrize("extension", ["csv", "tsv", "csv.gz"])
def test_formulas_are_written_as_text_only_for_spreadsheets(extension: str) -> None:
    change_votes(label=pl.col("label").replace(FORMULAS), annotator="+" + pl.col("annotator"))
    separator = "\t" if extension == "tsv" else ","
    for options, prefix in (((), ""), (("--spreadsheet",), "'")):
        files = ("-o", f"fused.{extension}", "--annotators", "annotators.csv", "--force")
        succeed("fuse", "votes.csv", *files, *options)
        fused = pl.read_csv(Path(f"fused.{extension}"), infer_schema=False, separator=separator)
        assert set(fused["label"]) == {prefix + word for word in FORMULAS.values()}
        assert fused.columns[-3:] == ["p_-1", "p_=1+1", "p_@x"]
        annotators = pl.read_csv("annotators.csv", infer_schema=False)["annotator"]
        assert set(annotators.str.slice(0, 1 + len(prefix))) == {f"{prefix}+"}
        piped = succeed("fuse", "votes.csv", "-o", "-", *options).stdout
        assert (",'-1," in piped) == (prefix == "'")
    assert "--spreadsheet" in refuse("fuse", "votes.csv", "-o", "fused.parquet", "--spreadsheet")
