"""The path of somebody who comes with a clone and a file, by the clock."""

import os
import subprocess
import sys
import time
from pathlib import Path

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
