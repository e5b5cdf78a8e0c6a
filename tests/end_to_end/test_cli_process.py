"""The command line as a process: pipes, interrupts, and how soon it answers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import SHARED, Crowds

BLINDFUSE = [sys.executable, "-m", "blindfuse"]
HEAVY = {"numpy", "polars", "numba", "scipy", "rich", "narwhals"}


def run(
    *words: str, input: str = "", folder: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*BLINDFUSE, *words], input=input, capture_output=True, text=True, cwd=folder, check=False
    )


def test_the_program_is_installed() -> None:
    program = Path(sys.executable).with_name("blindfuse")
    if not program.exists():
        pytest.skip("blindfuse is not installed beside this Python")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == run("--version").stdout
    assert said.stdout.startswith("blindfuse ")


@pytest.mark.parametrize("words", [[], ["fuse"], ["compare"], ["demo"]], ids=" ".join)
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\nfrom blindfuse.cli.main import blindfuse\n"
        f"try: blindfuse.main({[*words, '--help']!r})\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage:" in found.stdout
    assert not HEAVY & set(found.stderr.split())


def test_help_answers_at_once() -> None:
    def least(command: list[str]) -> float:
        seconds = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            seconds.append(time.perf_counter() - began)
        return min(seconds)

    assert least([*BLINDFUSE, "--help"]) < 10 * least([sys.executable, "-c", "pass"])


def test_one_process_feeds_another(tmp_path: Path) -> None:
    made = run("simulate", "--items", "60", "--truth", "t.csv", folder=tmp_path)
    fused = run("fuse", "-", "--gold", "t.csv", "-o", "-", input=made.stdout, folder=tmp_path)
    assert fused.returncode == 0
    assert fused.stdout.startswith("item,label,confidence")
    assert len(fused.stdout.splitlines()) == 61
    assert "Fused" in fused.stderr
    assert "\x1b" not in fused.stderr  # no progress and no colour where nobody watches


def test_exit_codes(tmp_path: Path) -> None:
    wrong = run("fuse", "nothing.csv", folder=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "blindfuse: nothing.csv is not found. Check the path.\n"
    assert run("fuse", "--nothing").returncode == 2
    assert run("methods", "--json").returncode == 0
    code = (
        "import blindfuse.readers.reading as reading\n"
        "from blindfuse.cli.main import main\n"
        "reading.sources = lambda paths: 1 / 0\n"
        "import sys; sys.argv = ['blindfuse', 'fuse', 'x.csv']\n"
        "main()"
    )
    bug = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert bug.returncode == 1
    assert "ZeroDivisionError" in bug.stderr
    assert "Traceback" in bug.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "--items", "100000"],
        ["methods"],
        ["annotators", "votes.csv", "-o", "-"],
        ["fuse", "votes.csv"],
    ],
    ids=lambda words: words[0],
)
def test_nobody_reads_the_rest(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(run("simulate", "--items", "50").stdout)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        found = subprocess.run(
            [*BLINDFUSE, *words],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    assert found.returncode == 141
    assert "Error" not in found.stderr
    assert "Traceback" not in found.stderr


def test_an_interrupt_leaves_no_file(tmp_path: Path) -> None:
    votes = ["simulate", "--items", "600000", "--annotators", "12", "-o", "votes.parquet"]
    assert run(*votes, folder=tmp_path).returncode == 0
    (tmp_path / "kept.csv").write_text("old")
    outputs = ["-o", "kept.csv", "--force", "--annotators", "a.csv", "--model", "m.npz"]
    with subprocess.Popen(
        [*BLINDFUSE, "fuse", "votes.parquet", *outputs],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        # A shell's background job ignores interrupts, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    ) as process:
        assert process.stderr is not None
        assert b"read as" in process.stderr.readline()  # the fit begins
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert b"Traceback" not in rest
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.csv", "votes.parquet"]
    assert (tmp_path / "kept.csv").read_text() == "old"


def processor_seconds(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def test_a_crowd_is_fused_in_little_more_than_the_libraries_take_to_load(
    crowds: Crowds, tmp_path: Path
) -> None:
    crowds["trec"]  # is there
    labels = SHARED / "crowd" / "trec" / "labels.csv.gz"
    fusing = [*BLINDFUSE, "fuse", str(labels), "-q", "--force", "-o", str(tmp_path / "fused.csv")]
    loading = [sys.executable, "-c", "import numba, polars, scipy.optimize, scipy.sparse.csgraph"]
    subprocess.run(fusing, check=True)  # compiles, where that was not done before
    ratio = min(processor_seconds(fusing) for _ in range(3)) / processor_seconds(loading)
    assert ratio < 6


def test_completion_knows_commands_and_options() -> None:
    def completed(*words: str) -> list[str]:
        asked = {
            **os.environ,
            "_BLINDFUSE_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["blindfuse", *words]),
            "COMP_CWORD": str(len(words)),
        }
        program = "from blindfuse.cli.main import main; main()"
        found = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=asked, check=True
        )
        return [line.partition(",")[2] for line in found.stdout.splitlines()]

    assert completed("an") == ["annotators"]
    assert {"--gold", "--method", "--ordered"} <= set(completed("fuse", "--"))
    assert completed("fuse", "--format", "lo") == ["long"]


def test_a_terminal_without_unicode_is_no_obstacle(tmp_path: Path) -> None:
    votes = "item,annotator,label\ni,ä,x\ni,b,y\ni,c,x\nj,ä,y\nj,b,y\n"
    (tmp_path / "votes.csv").write_text(votes, encoding="utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for words in (["annotators", "votes.csv"], ["fuse", "votes.csv", "--json"]):
        found = subprocess.run(
            [*BLINDFUSE, *words], capture_output=True, cwd=tmp_path, env=ascii_only, check=True
        )
        assert b"Traceback" not in found.stderr
    names = {row["annotator"] for row in json.loads(found.stdout)["annotators"]}
    assert names == {"ä", "b", "c"}
