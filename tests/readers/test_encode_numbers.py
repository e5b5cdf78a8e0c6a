"""``read`` with ``kind="numbers"`` and ``kind="scores"``."""

import pytest

from blindfuse import BadFile, BadParameter, read
from tests.support.reader_files import stream

RATINGS = "item,annotator,score,gold\na,x,1.5,1\na,y,NA,1\nb,x,error,\nb,y,3,\nb,y,5,\n"


def test_numbers_are_ratings_with_gold_values() -> None:
    found = read(stream(RATINGS), kind="numbers")
    assert found.responses.values.tolist() == [1.5, 4.0]
    assert found.responses.items.tolist() == ["a", "b"]
    assert found.gold == {"a": 1.0}
    assert "1 value treated as missing: error" in " ".join(found.notes).replace("'", "")


def test_scores_have_levels_between_classes() -> None:
    rows = [f"q{n},{who},{(n + len(who)) % 5}" for n in range(20) for who in ("x", "yy", "zzz")]
    text = "\n".join(["item,annotator,score", *rows])
    found = read(stream(text), kind="scores", classes=["bad", "good"])
    assert found.responses.classes.tolist() == ["bad", "good"]
    assert found.responses.n_symbols == 5


def test_other_texts_and_kinds_are_refused() -> None:
    with pytest.raises(BadFile, match=r"row 1 .*'good' cannot be read as a finite number"):
        read(stream("item,annotator,score\na,x,good\n"), kind="numbers")
    with pytest.raises(BadParameter, match="kind='ratings' must be one of 'labels'"):
        read(stream(RATINGS), kind="ratings")  # type: ignore[call-overload]
