"""``python -m experiments``."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from experiments import scale
from experiments.__main__ import command

ROOT = Path(__file__).parents[2]


def test_a_run_can_be_repeated_and_writes_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "QUICK", replace(scale.SMOKE, max_items=100))
    arguments = ["figure2", "theorem2", "--quick", "--runs", "2", "--out", str(tmp_path)]
    estimate = CliRunner().invoke(command, [*arguments, "--estimate"])
    assert estimate.exit_code == 0
    assert "0 of" in estimate.output
    assert not (tmp_path / "reproduction.md").exists()
    first = CliRunner().invoke(command, arguments)
    assert first.exit_code == 0, first.output
    assert "checks passed" in first.output
    second = CliRunner().invoke(command, arguments)
    done = len((tmp_path / "results" / "results.jsonl").read_text().splitlines())
    assert f"{done} of {done} tasks are done." in second.output
    page = (tmp_path / "reproduction.md").read_text()
    assert "## Figure 2" in page
    for figure in re.findall(r"\((figures/\S+)\)", page):
        assert (tmp_path / figure).read_text().startswith("<svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "figures",
        "reproduction.md",
        "results",
    ]


def test_an_unknown_name_is_one_line_and_exit_code_2() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "experiments", "tabel1"], cwd=ROOT, capture_output=True, text=True
    )
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr == (
        "python -m experiments: There is no experiment 'tabel1': did you mean 'table1'?\n"
    )


def test_missing_scikit_learn_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    result = CliRunner().invoke(command, ["table1", "--quick"])
    assert result.exit_code == 2
    assert "need scikit-learn" in result.stderr
    assert "pip install -e '.[experiments]'" in result.stderr


def test_the_help_shows_how_to_call_the_program() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "experiments", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert process.returncode == 0
    assert process.stdout.startswith("Usage: python -m experiments [OPTIONS] [NAME]...")
