"""Atomic writing of files."""

import os
from pathlib import Path

import pytest

from blindfuse.files import atomic_paths, write_atomically


def test_all_targets_are_replaced_together(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("old")
    with atomic_paths(one, other) as temporary:
        for path in temporary:
            path.write_text(f"new {path.parent == tmp_path}")
        assert (one.read_text(), other.exists()) == ("old", False)
    assert one.read_text() == other.read_text() == "new True"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_failure_leaves_the_targets_unchanged_and_no_temporary_files(
    tmp_path: Path, error: type[BaseException]
) -> None:
    one = tmp_path / "one"
    one.write_text("old")

    def fail() -> None:
        with atomic_paths(one, tmp_path / "other") as [first, _]:
            first.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert one.read_text() == "old"


def test_stale_temporary_files_are_removed(tmp_path: Path) -> None:
    target = tmp_path / "a[1].csv"
    stale, new, other = (tmp_path / f".{name}" for name in ("a[1].csv.1", "a[1].csv.2", "a1.csv.3"))
    unrelated = tmp_path / ".a[1].csv.bak"
    for path in (stale, new, other, unrelated):
        path.write_text("half")
    for path in (stale, other, unrelated):
        os.utime(path, (0, 0))
    write_atomically(target, b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in (target, new, other, unrelated)
    }
