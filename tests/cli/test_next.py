"""`blindfuse next`."""

import json

import numpy as np
import polars as pl
import pytest

from blindfuse import fuse, next_labels
from tests.support.cli import read_votes, refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")


def test_requests_are_those_of_next_labels() -> None:
    options = ("--budget", "30", "--max-per-annotator", "6")
    result = succeed("next", "votes.csv", *options, "-o", "requests.csv")
    expected = next_labels(fuse(read_votes()), 30, max_per_annotator=6)
    frame = pl.read_csv("requests.csv")
    assert frame["item"].to_list() == expected.items.tolist()
    assert frame["annotator"].to_list() == expected.annotators.tolist()
    np.testing.assert_allclose(frame["gain"], expected.gains, atol=5.1e-7)
    assert "10 more rows" in result.stdout
    assert "--budget 0 must be an integer of at least 1" in refuse(
        "next", "votes.csv", "--budget", "0"
    )
    requested = json.loads(succeed("next", "votes.csv", "--json").stdout)["requests"]
    assert len(requested) == 100


def test_no_request_is_made_if_everyone_has_labelled_everything() -> None:
    succeed("simulate", "-o", "all.csv", "--items", "50", "--annotators", "4")
    assert "No request would be informative" in succeed("next", "all.csv", "--budget", "5").stdout
