"""Damaged files of every format: they are read, or refused in one sentence, and soon."""

import io
import json
import signal
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from blindfuse import BadFile, BlindfuseError, Model, read, read_gold, simulate
from blindfuse.cli.main import blindfuse as program
from blindfuse.readers import sources
from tests.readers.test_formats import hit
from tests.support.damaged_files import FILES, WIDE, as_archive, as_table, damaged

SECONDS = 20
"""No damaged file of a few kilobytes may take longer."""

often = pytest.mark.parametrize(
    "seeds", [range(25), pytest.param(range(25, 1500), marks=pytest.mark.slow)], ids=["few", "many"]
)
every_file = pytest.mark.parametrize("name", FILES)


@contextmanager
def in_time() -> Iterator[None]:
    def give_up(*_: Any) -> None:
        raise AssertionError(f"not done after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@every_file
def test_the_files_are_right_before_they_are_damaged(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    assert read(tmp_path / name).responses.n_responses > 0


@every_file
@often
def test_readers(name: str, seeds: range, tmp_path: Path) -> None:
    path = tmp_path / name
    for seed in seeds:
        path.write_bytes(damaged(FILES[name], seed))
        for reads in (read, read_gold):
            with in_time():
                try:
                    reads(path)
                except BlindfuseError as refused:
                    assert str(refused).endswith((".", "?")), (seed, refused)  # noqa: PT017


@every_file
@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 100), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_the_command_line(name: str, seeds: range, tmp_path: Path) -> None:
    path, fused = tmp_path / name, tmp_path / "fused.csv"
    for seed in seeds:
        path.write_bytes(damaged(FILES[name], seed))
        with in_time():
            result = CliRunner().invoke(program, ["fuse", str(path), "--force", "-o", str(fused)])
        assert result.exit_code in (0, 2), (seed, result.exception)
        assert fused.exists() == (result.exit_code == 0)
        fused.unlink(missing_ok=True)


@often
def test_models(seeds: range, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    simulate(5, 3, 2, np.random.default_rng(0)).model.save(path)
    whole = path.read_bytes()
    for seed in seeds:
        path.write_bytes(damaged(whole, seed))
        with in_time():
            try:
                found = Model.load(path)
            except BlindfuseError:
                continue
        np.testing.assert_allclose(found.confusions.sum(axis=1), 1)


# What such files have shown


@pytest.mark.parametrize("key", ["item", "annotator", "label"])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("in_lines", [False, True])
def test_half_a_letter_is_no_text(key: str, late: bool, in_lines: bool) -> None:
    """JSON may escape half of a surrogate pair, which no text can hold."""
    rows = [{"item": f"i{n}", "annotator": "a", "label": "x"} for n in range(2000)]
    rows[1500 if late else 0][key] = "\ud800"
    text = "\n".join(map(json.dumps, rows)) if in_lines else json.dumps(rows)
    with pytest.raises(BadFile, match="surrogates not allowed"):
        read(io.BytesIO(text.encode()))


def test_a_letter_of_two_halves_is_text() -> None:
    rows = [{"item": "\U0001f600", "annotator": "a", "label": label} for label in "xy"]
    text = "\n".join(map(json.dumps, rows))
    assert "\\ud83d\\ude00" in text
    assert read(io.BytesIO(text.encode())).responses.items.tolist() == ["\U0001f600"]


def test_an_archive_whose_directory_points_before_its_start() -> None:
    whole = as_archive({"a.csv": WIDE})
    with pytest.raises(BadFile, match="damaged zip archive"):
        read(io.BytesIO(whole[:4] + whole[60:]))


def test_archives_within_archives_are_not_unpacked() -> None:
    inner = as_archive({"a.csv": WIDE})
    with pytest.raises(BadFile, match=r"b\.csv is an archive within an archive"):
        read(io.BytesIO(as_archive({"b.csv": inner})))


def test_what_is_packed_twice_has_one_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten members of a megabyte each, all zeros, are small in gzip and smaller in zip."""
    import gzip

    packed = gzip.compress(b"item,a,b\n" + b"0,0,0\n" * 200_000)
    archive = as_archive({f"{n}.csv.gz": packed for n in range(10)})
    monkeypatch.setattr(sources, "ROOMY", 1 << 22)
    monkeypatch.setattr(sources, "RATIO", 1)
    with pytest.raises(BadFile, match="unpacks to more than"):
        read(io.BytesIO(archive))
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        assert len(members.namelist()) == 10


def task_answers(*documents: str, **more: str) -> bytes:
    return as_table([hit(1, f"A{n}", taskAnswers=one, **more) for n, one in enumerate(documents)])


def test_answers_of_mturk_in_json_are_text_as_it_was_written() -> None:
    documents = [json.dumps([{"q": {"label": label}}]) for label in ("день", 'a "b" c', None)]
    found = read(io.BytesIO(task_answers(*documents)))
    assert found.responses.classes.tolist() == ['a "b" c', "день"]
    assert found.responses.n_responses == 2


@pytest.mark.parametrize("text", [r'[{"q": "\ud800"}]', "[" * 100_000])
def test_answers_of_mturk_that_are_no_text(text: str) -> None:
    with pytest.raises(BadFile, match="is no JSON of answers"):
        read(io.BytesIO(task_answers(text)))


def test_answers_of_mturk_that_come_in_two_columns() -> None:
    with pytest.raises(BadFile, match=r"columns of the same name: 'Answer\.q'"):
        read(io.BytesIO(task_answers('[{"q": "x"}]', q="y")))
