"""Damaged files of every format are read or refused with a message, within a time limit."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from blindfuse import BlindfuseError, read, read_gold
from blindfuse.cli.main import blindfuse as program
from tests.support.damaged_files import FILES, damage

MAX_SECONDS = 20
"""Time limit for a damaged file of a few kilobytes."""

every_file = pytest.mark.parametrize("name", FILES)


def seeds(few: int, many: int) -> pytest.MarkDecorator:
    slow = pytest.param(range(few, many), marks=pytest.mark.slow)
    return pytest.mark.parametrize("seeds", [range(few), slow], ids=["few", "many"])


@contextmanager
def time_limit() -> Iterator[None]:
    def give_up(*_: Any) -> None:
        raise AssertionError(f"not done after {MAX_SECONDS} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(MAX_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@every_file
@seeds(25, 1500)
def test_damaged_files_are_read_or_refused(name: str, seeds: range, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    assert read(path).responses.n_responses > 0
    for seed in seeds:
        path.write_bytes(damage(FILES[name], seed))
        for read_file in (read, read_gold):
            with time_limit():
                try:
                    read_file(path)
                except BlindfuseError as refused:
                    assert str(refused).endswith((".", "?")), (seed, refused)  # noqa: PT017


@every_file
@seeds(3, 100)
def test_the_command_line_reads_or_refuses_damaged_files(
    name: str, seeds: range, tmp_path: Path
) -> None:
    path, fused = tmp_path / name, tmp_path / "fused.csv"
    for seed in seeds:
        path.write_bytes(damage(FILES[name], seed))
        with time_limit():
            result = CliRunner().invoke(program, ["fuse", str(path), "--force", "-o", str(fused)])
        assert result.exit_code in (0, 2), (seed, result.exception)
        assert fused.exists() == (result.exit_code == 0)
        fused.unlink(missing_ok=True)
