"""``blindfuse fuse --numbers``: what it reads, notes and refuses."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from blindfuse import simulate_numbers
from tests.support.cli import refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def ratings(folder: Path) -> None:
    """Ratings on a scale around 50, in ratings.csv, with their truth in truth_values.csv."""
    drawn = simulate_numbers(200, 6, seed=0)
    table = drawn.numbers
    rows = {
        "item": [f"i{n}" for n in table.item_of_response()],
        "annotator": [f"a{m}" for m in table.codes],
        "score": (50 + 10 * table.values).round(1),
    }
    pl.DataFrame(rows).write_csv("ratings.csv")
    truth = {"item": [f"i{n}" for n in range(60)], "value": 50 + 10 * drawn.truth[:60]}
    pl.DataFrame(truth).write_csv("truth_values.csv")


def fused(change: pl.Expr, separator: str = ",") -> pl.DataFrame:
    """Fuse the ratings with changed texts, and return the output."""
    frame = pl.read_csv("ratings.csv").with_columns(pl.col("score").cast(pl.String))
    frame.with_columns(score=change).write_csv("changed.csv", separator=separator)
    options = ("--missing", "99,bad", "-o", "fused.csv", "--force")
    succeed("fuse", "changed.csv", "--numbers", *options)
    return pl.read_csv("fused.csv")


def test_gold_values_calibrate() -> None:
    succeed("fuse", "ratings.csv", "--numbers", "--gold", "truth_values.csv", "-o", "fused.csv")
    both = pl.read_csv("fused.csv").join(pl.read_csv("truth_values.csv"), on="item")
    np.testing.assert_allclose(both["estimate"], both["value"], atol=1e-6)


def test_wide_tables_are_read_and_minus_one_is_a_number() -> None:
    Path("wide.csv").write_text("item,ann,bob,cyd\nx,-1,-2,-1\ny,3,,4\nz,5,5,6\n")
    result = succeed("fuse", "wide.csv", "--numbers", "-o", "-")
    frame = pl.read_csv(result.stdout.encode())
    assert frame["ratings"].to_list() == [3, 2, 3]
    assert frame["estimate"][0] < 0


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("item,annotator,score\nx,a,1\ny,a,high\n", (), "row 2 (line 3 below a header): 'high'"),
        ("item,annotator,score\nx,a,\ny,a,nan\n", (), "contains no numbers"),
        ("item,annotator,score\nx,a,1\n,a,2\n", (), "row 2 has a value but no item"),
        ("item,annotator,score\nx,a,1\n", ("--gold", "truth.csv"), "is not a number"),
    ],
)
def test_what_is_refused(text: str, options: tuple[str, ...], message: str) -> None:
    Path("bad.csv").write_text(text)
    assert message in refuse("fuse", "bad.csv", "--numbers", *options)


def test_repeated_ratings_are_averaged_whatever_their_order() -> None:
    rows = ["x,a,1", "x,a,4", "x,b,2", "y,a,3", "y,b,5"]
    outputs = []
    for name, ordered in (("one.csv", rows), ("two.csv", rows[::-1])):
        Path(name).write_text("\n".join(["item,annotator,score", *ordered]))
        result = succeed("fuse", name, "--numbers", "-o", "-")
        assert "1 repeated rating: the mean per item and annotator counts" in result.stderr
        outputs.append(sorted(result.stdout.splitlines()))
    assert outputs[0] == outputs[1]
    last = succeed("fuse", "one.csv", "--numbers", "--repeats", "last")
    assert "the last per item and annotator counts" in last.stderr
    assert "more than once" in refuse("fuse", "one.csv", "--numbers", "--repeats", "error")


def test_decimal_commas_are_read() -> None:
    plain = fused(pl.col("score"))
    assert fused(pl.col("score").str.replace(r"\.", ","), ";").equals(plain)
    output = succeed("fuse", "changed.csv", "--numbers").stderr
    assert "values read with a decimal comma: 2,5 is 2.5" in output


@pytest.mark.parametrize("word", ["NA", "", "#REF!", "########", "Parse Error", "bad", "99.0"])
def test_what_is_missing_among_labels_is_missing_among_numbers(word: str) -> None:
    score, every_fifth = pl.col("score"), pl.int_range(pl.len()) % 5 == 0
    without = fused(pl.when(every_fifth).then(None).otherwise(score))
    assert fused(pl.when(every_fifth).then(pl.lit(word)).otherwise(score)).equals(without)
    scored = succeed("fuse", "changed.csv", "--scores", "--missing", "99,bad")
    assert "treated as missing" in scored.stderr


@pytest.mark.parametrize("word", ["50%", "3/5", "1,500", "inf", "good", "1e400"])
def test_other_texts_are_refused_with_the_option_to_set(word: str) -> None:
    pl.read_csv("ratings.csv").with_columns(score=pl.lit(word)).write_csv("changed.csv")
    for option in ("--numbers", "--scores"):
        message = refuse("fuse", "changed.csv", option)
        assert f"'{word}' cannot be read as a finite number" in message
        assert "--missing" in message
