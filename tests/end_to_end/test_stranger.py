"""The path of somebody who comes with a clone and a file, by the clock."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"


def seconds(command: list[str], **options: object) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, **options)  # type: ignore[call-overload]
    return time.perf_counter() - began


@pytest.mark.slow
def test_from_a_fresh_clone_to_a_report(tmp_path: Path) -> None:
    """With the packages in pip's cache."""
    if not (ROOT / ".git").exists():
        pytest.skip("This is no clone.")
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tmp_path / "clone")], check=True)
    assert seconds(["make", "demo"], cwd=tmp_path / "clone") < 90
    assert (tmp_path / "clone" / "demo.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_a_crowd_of_88_385_labels_to_its_report(tmp_path: Path) -> None:
    """Once kernels are compiled and the scripts of the report are bundled."""
    labels = DATA / "crowd" / "trec" / "labels.csv.gz"
    if not labels.exists():
        pytest.skip("There is no folder of shared datasets.")
    fuse = [str(Path(sys.executable).parent / "blindfuse"), "fuse", str(labels), "--force"]
    command = [*fuse, "-o", "fused.csv", "--report", "report.html"]
    took = [seconds(command, cwd=tmp_path, env=os.environ) for _ in range(3)]
    assert min(took[1:]) < 6


COMMAND = "from blindfuse.cli.main import main; main()"


@pytest.mark.parametrize("home", [None, pytest.param("/nonexistent", marks=pytest.mark.slow)])
def test_commands_without_a_home_and_with_sources_that_cannot_be_written(
    home: str | None, tmp_path: Path
) -> None:
    """In an empty environment; root gives up the right to write against permissions."""
    sources, folder, python = tmp_path / "sources", tmp_path / "work", [sys.executable, "-c"]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("setpriv, which drops rights of root, is not installed")
        python = ["setpriv", "--bounding-set", "-dac_override,-fowner", *python]
    shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (sources, *sources.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.mkdir()
    environment = {"PYTHONPATH": os.pathsep.join([str(sources), *sys.path[1:]])}
    environment |= {"PATH": os.environ["PATH"], **({"HOME": home} if home else {})}
    for command in ("simulate --items 60 -o v.csv", "demo --report demo.html"):
        options: dict[str, Any] = {"cwd": folder, "env": environment, "text": True}
        arguments = [*python, COMMAND, *command.split()]
        done = subprocess.run(arguments, capture_output=True, check=False, **options)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert (folder / "demo.html").read_text().startswith("<!DOCTYPE html>")
    assert not [*sources.rglob("__pycache__")]
