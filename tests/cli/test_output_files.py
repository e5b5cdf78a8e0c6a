"""Output files: checked first, then written completely or not at all."""

import os
from pathlib import Path

import numpy as np
import pytest

from blindfuse.readers import reading
from tests.support.cli import refuse, succeed

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kept.csv", "exists already. Pass --force"),
        ("fused.xlsx", "must end in one of 'csv'"),
        ("fused", "must end in one of 'csv'"),
        ("fused.parquet.gz", "must end in one of"),
        ("nowhere/fused.csv", "the folder nowhere does not exist"),
        ("folder.csv", "is not a regular file"),
    ],
)
def test_output_paths_are_checked_before_reading(
    name: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("kept.csv").write_text("mine")
    Path("folder.csv").mkdir()
    monkeypatch.setattr(reading, "find_sources", None)  # reading would fail otherwise
    assert message in refuse("fuse", "votes.csv", "-o", name)
    assert Path("kept.csv").read_text() == "mine"


def test_a_read_only_folder_is_refused_before_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("locked").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != "locked")
    assert "locked is read-only" in refuse("fuse", "votes.csv", "-o", "locked/fused.csv")


def test_force_overwrites_wherever_it_is_placed() -> None:
    for options in (["--force", "-o", "fused.csv"], ["-o", "fused.csv", "--force"]):
        Path("fused.csv").write_text("old")
        succeed("fuse", "votes.csv", *options)
        assert Path("fused.csv").read_text().startswith("item,label")


def test_a_full_disk_leaves_every_file_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("fused.csv").write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    options = ("-o", "fused.csv", "--model", "m.npz", "--force")
    assert "No space left on device" in refuse("fuse", "votes.csv", *options)
    assert Path("fused.csv").read_text() == "old"
    assert not Path("m.npz").exists()


@pytest.mark.parametrize("other", ["./fused.csv", "sub/../fused.csv", "link.csv", "hard.csv"])
@pytest.mark.parametrize("exists", [False, True])
def test_two_outputs_that_are_one_file_are_refused_before_reading(
    other: str, exists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sub").mkdir()
    Path("link.csv").symlink_to("fused.csv")
    if exists or other == "hard.csv":
        Path("fused.csv").write_text("old")
        Path("hard.csv").hardlink_to("fused.csv")
    monkeypatch.setattr(reading, "find_sources", None)  # reading would fail otherwise
    arguments = ("-o", "fused.csv", "--annotators", other, "--force")
    assert "Two outputs are the same file" in refuse("fuse", "votes.csv", *arguments)
    arguments = ("-o", other, "--truth", "fused.csv", "--force")
    assert "Two outputs are the same file" in refuse("simulate", *arguments)


@pytest.mark.parametrize("length", [200, 245, 249, 251])
@pytest.mark.parametrize("letter", ["x", "é"])
def test_long_names_can_be_written(length: int, letter: str) -> None:
    name = letter * (length // len(letter.encode())) + ".csv"
    for _ in range(2):
        succeed("fuse", "votes.csv", "-o", name, "--force")
        assert Path(name).read_text().startswith("item,label")


def test_names_that_are_too_long_for_the_file_system_are_refused() -> None:
    assert "File name too long" in refuse("fuse", "votes.csv", "-o", "x" * 252 + ".csv")


@pytest.mark.parametrize("name", ["votes.csv", "./votes.csv", "link.csv"])
def test_an_input_is_not_overwritten(name: str) -> None:
    Path("link.csv").symlink_to("votes.csv")
    before = Path("votes.csv").read_bytes()
    for command in (("fuse",), ("audit", "--budget", "2"), ("next", "--budget", "2")):
        message = refuse(*command, "votes.csv", "-o", name, "--force")
        assert "would be overwritten by the output. Choose another name" in message
    Path("gold.csv").write_text("item,label\n0,0\n")
    message = refuse("fuse", "votes.csv", "--gold", "gold.csv", "-o", "gold.csv", "--force")
    assert "gold.csv is read, and would be overwritten" in message
    assert Path("votes.csv").read_bytes() == before
