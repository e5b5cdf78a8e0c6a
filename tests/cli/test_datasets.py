"""`blindfuse datasets`."""

import json
from pathlib import Path

import pytest

from tests.support.cli import refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")


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
