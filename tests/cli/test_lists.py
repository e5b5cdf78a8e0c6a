"""`blindfuse methods` and `datasets`."""

import json
from pathlib import Path

import pytest

from blindfuse.estimators.registry import METHODS
from tests.support.cli import refuse, succeed

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


def test_datasets_of_the_folder_or_for_download_are_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BLINDFUSE_DATA", raising=False)
    monkeypatch.setenv("BLINDFUSE_CACHE", str(folder / "cache"))
    downloads = json.loads(succeed("datasets", "--json").stdout)["datasets"]
    assert {"bird", "rte", "trec"} <= {row["name"] for row in downloads}
    assert {row["file"] for row in downloads} == {"not downloaded yet"}
    assert "nowhere is not a folder" in refuse("datasets", "--data", "nowhere")
    (folder / "crowd" / "mine").mkdir(parents=True)
    (folder / "crowd" / "mine" / "labels.csv.gz").touch()
    assert "mine" in succeed("datasets", "--data", folder).stdout
    monkeypatch.setenv("BLINDFUSE_DATA", str(folder))
    assert json.loads(succeed("datasets", "--json").stdout)["datasets"][0]["name"] == "mine"
