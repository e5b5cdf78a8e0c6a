"""Random arrays through every loader and constructor: an error or a result, never a crash."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindfuse import BadLabels, BadModel, BlindfuseError, DawidSkene, Responses
from blindfuse.model.arrays import load_arrays, save_arrays

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("first", "count"), [(0, 2_400), pytest.param(2_400, 100_000, marks=pytest.mark.slow)]
)
def test_no_array_crashes_the_process(first: int, count: int) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "tests.support.fuzzed_arrays", str(first), str(count)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, f"{process.returncode}: {process.stderr[-3000:]}"
    assert count / 5 < int(process.stdout) < count / 1.2


CODES: dict[str, Any] = {"items": range(3), "annotators": range(2), "classes": range(2)}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0, 1, 2], [0, 1], [0, 1, 1]), "must have the same length, but have 3, 2 and 3 entries"),
        (([0, 1], [0, 1], [0] * 10_000), "must have the same length"),
        (([0, 3], [0, 1], [0, 1]), "There is no item 3"),
        (([0, -1], [0, 1], [0, 1]), "There is no item -1"),
        (([0, 1], [0, 2], [0, 1]), "There is no annotator 2"),
        (([0, 1], [0, 1], [0, 2]), "There is no symbol 2"),
        (([0.0, 1.0], [0, 1], [0, 1]), "item_codes must be a one-dimensional array of integers"),
        (([[0, 1]], [[0, 1]], [[0, 1]]), "item_codes must be a one-dimensional array"),
    ],
)
def test_codes_are_checked(columns: tuple[Any, ...], message: str) -> None:
    with pytest.raises(BadLabels, match=message):
        Responses.from_codes(*map(np.array, columns), **CODES)


def test_codes_of_any_integer_type_are_accepted() -> None:
    expected = Responses.from_codes(*np.array([[0, 1, 2], [0, 1, 1], [0, 1, -1]]), **CODES)
    for dtype in ("i1", "i2", "i4", "i8", ">i4", ">i8"):
        wide = np.array([[0, 1, 2], [0, 1, 1], [0, 1, -1]]).astype(dtype).repeat(2, axis=1)[:, ::2]
        found = Responses.from_codes(*wide, **CODES)
        for one, other in zip(found.by_item, expected.by_item, strict=True):
            assert one.tolist() == other.tolist()
            assert one.dtype == other.dtype
            assert one.flags.c_contiguous


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("codes", lambda array: array - 100, "not 4 compressed rows"),
        ("codes", lambda array: array + 100, "not 4 compressed rows"),
        ("symbols", lambda array: array - 1, "not 4 compressed rows"),
        ("starts", lambda array: array + 1, "starts must ascend from 0"),
        ("starts", lambda array: array[::-1], "starts must ascend from 0"),
        ("codes", lambda array: array[::-1], "not 4 compressed rows"),
        ("symbols", lambda array: array[1:], "not 4 compressed rows"),
        ("symbols", lambda array: array * 0.5, "one-dimensional array of integers"),
        ("sizes", lambda array: array * np.nan, "sizes must be finite"),
        ("sizes", lambda array: -array, "sizes must be finite and at least 0"),
    ],
)
def test_a_crafted_state_is_refused(
    name: str, change: Callable[[Any], Any], message: str, tmp_path: Path
) -> None:
    votes = [[0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, -1]]
    path, format = tmp_path / "state.npz", "blindfuse state of DawidSkene"
    DawidSkene(tolerance=0.1).partial_fit(votes).save_state(path)
    header, arrays = load_arrays(path, format)
    save_arrays(path, format, header, {**arrays, name: change(arrays[name])})
    with pytest.raises(BlindfuseError, match=message):
        DawidSkene().load_state(path)


def test_a_bomb_and_a_lie_about_a_size_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = tmp_path / "bomb.npz"
    np.savez_compressed(bomb, header=np.array("{}"), codes=np.zeros(3 << 27, dtype=np.int8))
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(BadModel, match=r"unpacks to 402,.* set BLINDFUSE_MAX_UNPACKED_BYTES"):
        load_arrays(bomb, "blindfuse model")
    monkeypatch.setenv("BLINDFUSE_MAX_UNPACKED_BYTES", "1000000000")
    with pytest.raises(BadModel, match="None version None"):
        load_arrays(bomb, "blindfuse model")
    monkeypatch.setenv("BLINDFUSE_MAX_UNPACKED_BYTES", "many")
    with pytest.raises(BlindfuseError, match="must be a number of bytes"):
        load_arrays(bomb, "blindfuse model")
    monkeypatch.delenv("BLINDFUSE_MAX_UNPACKED_BYTES")
    np.savez(bomb, header=np.array("{}"), codes=np.zeros(10))
    shape = b"'shape': (10,), "
    assert bomb.read_bytes().count(shape) == 1
    bomb.write_bytes(bomb.read_bytes().replace(shape, b"'shape':(10**9,)"))
    with pytest.raises(BadModel, match="damaged"):
        load_arrays(bomb, "blindfuse model")
