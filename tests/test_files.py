"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from blindfuse.files import beside, write_whole


def test_all_take_their_names_together(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("old")
    with beside(one, other) as places:
        for place in places:
            place.write_text(f"new {place.parent == tmp_path}")
        assert (one.read_text(), other.exists()) == ("old", False)
    assert one.read_text() == other.read_text() == "new True"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_nothing_is_left_of_a_failure(tmp_path: Path, error: type[BaseException]) -> None:
    one = tmp_path / "one"
    one.write_text("old")

    def fail() -> None:
        with beside(one, tmp_path / "other") as [first, _]:
            first.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert one.read_text() == "old"


def test_what_a_killed_process_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    target = tmp_path / "a[1].csv"
    left, new, other = (tmp_path / f".{name}" for name in ("a[1].csv.1", "a[1].csv.2", "a1.csv.3"))
    mine = tmp_path / ".a[1].csv.bak"
    for path in (left, new, other, mine):
        path.write_text("half")
    for path in (left, other, mine):
        os.utime(path, (0, 0))
    write_whole(target, b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in (target, new, other, mine)
    }
