"""The file that a model is saved in."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindfuse import BadModel, Model
from tests.model.cases import example_model


@pytest.mark.parametrize("names", [["a", "ü", "007"], [1, 2, 3], [True, False, 7]])
def test_a_saved_model_is_read_back(tmp_path: Path, names: list[Any]) -> None:
    model = example_model(m=3)
    named = Model(model.confusions, model.prior, np.array(names, dtype=object), model.classes)
    named.save(tmp_path / "model.npz")
    loaded = Model.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.confusions, model.confusions)
    np.testing.assert_array_equal(loaded.prior, model.prior)
    assert [(type(name), name) for name in loaded.annotators.tolist()] == [
        (type(name), name) for name in names
    ]
    assert loaded.classes.tolist() == model.classes.tolist()


def test_saving_leaves_no_other_file(tmp_path: Path) -> None:
    example_model().save(tmp_path / "model")
    example_model(1).save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    np.testing.assert_array_equal(
        Model.load(tmp_path / "model").confusions, example_model(1).confusions
    )


def test_a_failed_save_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example_model().save(tmp_path / "model.npz")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="no space"):
        example_model(1).save(tmp_path / "model.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]
    np.testing.assert_array_equal(Model.load(tmp_path / "model.npz").prior, example_model().prior)


def test_no_array_is_pickled(tmp_path: Path) -> None:
    example_model().save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as file:
        assert {file[name].dtype.kind for name in file.files} == {"U", "f"}


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    example_model().save(tmp_path / "model.npz")
    whole = (tmp_path / "model.npz").read_bytes()
    for size in range(0, len(whole), 37):
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(BadModel, match=r"damaged|does not contain a blindfuse model"):
            Model.load(tmp_path / "cut")


def test_a_file_with_a_flipped_bit_is_refused_or_read_correctly(tmp_path: Path) -> None:
    example_model().save(tmp_path / "model.npz")
    whole = (tmp_path / "model.npz").read_bytes()
    for at in range(0, len(whole), 11):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        (tmp_path / "bad").write_bytes(damaged)
        try:
            loaded = Model.load(tmp_path / "bad")
        except BadModel:
            continue
        np.testing.assert_array_equal(loaded.confusions, example_model().confusions)
        np.testing.assert_array_equal(loaded.prior, example_model().prior)


def test_a_later_version_is_refused_by_number(tmp_path: Path) -> None:
    header = json.dumps({"format": "blindfuse model", "version": 99})
    np.savez(tmp_path / "later.npz", header=np.array(header))
    with pytest.raises(BadModel, match="version 99"):
        Model.load(tmp_path / "later.npz")


@pytest.mark.parametrize("name", ["absent", "empty", "text", "pickle", "archive", "cut archive"])
def test_other_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "foreign"
    if name == "pickle":
        with path.open("wb") as file:
            np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    elif name == "archive":
        with path.open("wb") as file:
            np.savez(file, x=np.arange(3))
    elif name != "absent":
        path.write_bytes({"empty": b"", "text": b"hello", "cut archive": b"PK\x03\x04"}[name])
    with pytest.raises(BadModel, match=r"foreign (does not exist|does not contain a blindfuse)"):
        Model.load(path)
