"""`blindfuse methods`."""

import json

import pytest

from blindfuse.estimators.registry import METHODS
from tests.support.cli import succeed

pytestmark = pytest.mark.usefixtures("folder")


def test_all_methods_are_listed_with_needs_and_cost() -> None:
    rows = json.loads(succeed("methods", "--json").stdout)["methods"]
    assert [row["method"] for row in rows] == ["fuse", *METHODS]
    assert all(row["description"] and "``" not in row["description"] for row in rows)
    assert [row["needs"] for row in rows[1:]] == [method.needs for method in METHODS.values()]
    assert [row["cost"] for row in rows[1:]] == [method.cost for method in METHODS.values()]
    text = " ".join(succeed("methods").stdout.split())
    assert "SpectralMetaLearner" in text
    assert "Needs two classes and three annotators who share items." in text
    assert "Cost: one pass over the responses." in text
