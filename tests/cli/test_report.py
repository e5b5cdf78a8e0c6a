"""The report of a fusion."""

from typing import Any

import pytest

import blindfuse
from blindfuse import read
from blindfuse.cli import fusing
from blindfuse.estimators.registry import METHODS
from tests.support.cli import read_votes, succeed, write_gold

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(
    ("all_up_to", "fast_up_to", "compared"),
    [(-1, 0, ["fuse", *fusing.FAST_METHODS]), (-1, -1, []), (0, 0, ["fuse", *METHODS])],
)
def test_a_report_compares_the_methods_that_are_fast_enough(
    monkeypatch: pytest.MonkeyPatch, all_up_to: int, fast_up_to: int, compared: list[str]
) -> None:
    n_responses = read_votes().n_responses
    arguments: dict[str, Any] = {}

    def report_html(fusion: Any, **options: Any) -> str:
        arguments.update(options)
        return "x"

    monkeypatch.setattr(blindfuse, "report_html", report_html, raising=False)
    monkeypatch.setattr(fusing, "MAX_RESPONSES_ALL_METHODS", n_responses + all_up_to)
    monkeypatch.setattr(fusing, "MAX_RESPONSES_FAST_METHODS", n_responses + fast_up_to)
    gold = write_gold()
    succeed("fuse", "votes.csv", "--report", "r.html", "--gold", "gold.csv")
    assert arguments["title"] == "votes.csv"
    assert arguments["notes"] == read("votes.csv").notes
    assert [row.method for row in arguments["compared"]] == compared
    assert arguments["gold"].items == len(gold)
    if compared:  # the fusion without gold labels is reused
        assert arguments["compared"][0].seconds is None
        assert arguments["compared"][0].error == arguments["gold"].error.value
