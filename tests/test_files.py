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


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755, 0o444])
def test_an_existing_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    one, new, reference = (tmp_path / name for name in ("one", "new", "reference"))
    one.write_text("old")
    one.chmod(mode)
    for path in (one, new):
        write_atomically(path, b"new")
    reference.write_text("")
    assert one.stat().st_mode & 0o7777 == mode
    assert new.stat().st_mode == reference.stat().st_mode
    assert one.read_text() == "new"


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path: Path, exists: bool) -> None:
    folder, link, chain = tmp_path / "folder", tmp_path / "link", tmp_path / "chain"
    folder.mkdir()
    link.symlink_to("folder/target")
    chain.symlink_to("link")
    if exists:
        (folder / "target").write_text("old")
    write_atomically(chain, b"new")
    assert chain.is_symlink()
    assert link.is_symlink()
    assert not (folder / "target").is_symlink()
    assert (folder / "target").read_text() == "new"
    assert {path.name for path in tmp_path.rglob("*")} == {"folder", "target", "link", "chain"}


@pytest.mark.parametrize("length", [1, 239, 240, 241, 255])
def test_temporary_names_are_never_too_long(tmp_path: Path, length: int) -> None:
    target = tmp_path / ("x" * length)
    with atomic_paths(target) as [temporary]:
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


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
