"""The command line as a process: pipes, interrupts and speed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED, Crowds
from tests.support.cli import succeed

BLINDFUSE = [sys.executable, "-m", "blindfuse"]
HEAVY_MODULES = {"numpy", "polars", "numba", "scipy", "rich", "narwhals"}


def run(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a command."""
    options = {"capture_output": True, "text": True, "check": False, **options}
    return subprocess.run([*BLINDFUSE, *arguments], **options)


def run_code(code: str) -> "subprocess.CompletedProcess[str]":
    """Run Python code."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with votes.csv."""
    monkeypatch.chdir(tmp_path)
    succeed("simulate", "--items", 50, "-o", "votes.csv")
    return tmp_path


def test_the_program_is_installed() -> None:
    program = Path(sys.executable).with_name("blindfuse")
    if not program.exists():
        pytest.skip("blindfuse is not installed beside this Python")
    installed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert installed.stdout == run("--version").stdout
    assert installed.stdout.startswith("blindfuse ")


@pytest.mark.parametrize("command", ["", "fuse", "compare", "demo", "simulate"])
def test_help_loads_no_heavy_module(command: str) -> None:
    code = (
        "import sys\nfrom blindfuse.cli.main import blindfuse\n"
        f"try: blindfuse.main({[*command.split(), '--help']!r})\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    process = run_code(code)
    assert "Usage:" in process.stdout
    assert not HEAVY_MODULES & set(process.stderr.split())


def test_one_command_pipes_into_another(folder: Path) -> None:
    simulated = run("simulate", "--items", "60", "--truth", "t.csv")
    fused = run("fuse", "-", "--gold", "t.csv", "-o", "-", input=simulated.stdout)
    assert fused.returncode == 0
    assert fused.stdout.startswith("item,label,confidence")
    assert len(fused.stdout.splitlines()) == 61
    assert "Fused" in fused.stderr
    assert "\x1b" not in fused.stderr  # no progress and no colour without a terminal


def test_exit_codes(folder: Path) -> None:
    invalid = run("fuse", "missing.tsv")
    assert (invalid.returncode, invalid.stdout) == (2, "")
    assert invalid.stderr.startswith("blindfuse: missing.tsv is not found: there ")
    assert invalid.stderr.count("\n") == 1
    assert run("fuse", "--nothing").returncode == 2
    assert run("methods", "--json").returncode == 0
    code = (
        "import blindfuse.readers.reading as reading\n"
        "from blindfuse.cli.main import main\n"
        "reading.find_sources = lambda paths: 1 / 0\n"
        "import sys; sys.argv = ['blindfuse', 'fuse', 'x.csv']\n"
        "main()"
    )
    bug = run_code(code)
    assert bug.returncode == 1
    assert "ZeroDivisionError" in bug.stderr
    assert "Traceback" in bug.stderr


@pytest.mark.parametrize(
    "command",
    ["simulate --items 100000", "methods", "fuse votes.csv -o -"],
)
@pytest.mark.usefixtures("folder")
def test_a_closed_pipe_ends_the_command_quietly(command: str) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as pipe:
        streams = {"stdout": pipe, "stderr": subprocess.PIPE, "capture_output": False}
        process = run(*command.split(), **streams)
    assert process.returncode == 141
    assert "Error" not in process.stderr
    assert "Traceback" not in process.stderr


@pytest.fixture(scope="module")
def many_votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "votes.parquet"
    succeed("simulate", "--items", 600_000, "--annotators", 12, "-o", path)
    return path


def _listen_to_signals() -> None:
    """A background job of a shell ignores interrupts, one of nohup hangups; so would children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("number", "code", "way"),
    [
        (signal.SIGINT, 130, "--whole"),
        (signal.SIGINT, 130, "--partitioned"),
        (signal.SIGTERM, 143, "--whole"),
        (signal.SIGHUP, 129, "--partitioned"),
    ],
)
def test_a_signal_leaves_no_file(
    number: int, code: int, way: str, many_votes: Path, tmp_path: Path
) -> None:
    (tmp_path / "kept.csv").write_text("old")
    outputs = ["-o", "kept.csv", "--force", "--annotators", "a.csv", "--model", "m.npz"]
    with subprocess.Popen(
        [*BLINDFUSE, "fuse", str(many_votes), way, *outputs],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        preexec_fn=_listen_to_signals,
    ) as process:
        assert process.stderr is not None
        assert b"read as" in process.stderr.readline()  # the fit begins
        process.send_signal(number)
        rest = process.stderr.read()
    assert process.returncode == code
    assert b"Traceback" not in rest
    assert [path.name for path in tmp_path.iterdir()] == ["kept.csv"]
    assert (tmp_path / "kept.csv").read_text() == "old"


WRITING = """
import os, signal, sys
from blindfuse.cli import outputs
from blindfuse.cli.main import main

outputs.table_bytes = lambda *_: os.kill(os.getpid(), signal.SIGTERM)
sys.argv = "blindfuse fuse votes.csv -q --force -o fused.csv --model m.npz".split()
main()
"""


def test_a_signal_while_files_are_written_leaves_no_partial_file(folder: Path) -> None:
    (folder / "fused.csv").write_text("old")
    assert run_code(WRITING).returncode == 143
    assert sorted(path.name for path in folder.iterdir()) == ["fused.csv", "votes.csv"]
    assert (folder / "fused.csv").read_text() == "old"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_matter(closed: str, folder: Path) -> None:
    for command, code in (
        (["fuse", "votes.csv", "-q", "-o", "fused.csv"], 0),
        (["fuse", "nothing.csv"], 2),
    ):
        shell = ["sh", "-c", f'"$@" {closed}', "sh", *BLINDFUSE, *command]
        assert subprocess.run(shell, capture_output=True, check=False).returncode == code
    assert (folder / "fused.csv").read_text().startswith("item,label,")


def test_file_names_that_are_not_utf_8(folder: Path) -> None:
    """Bytes in the name of a file are not changed, and shown as escapes."""
    odd = os.fsdecode(b"\xff\xfe")
    names = [f"{odd}.{extension}" for extension in ("csv", "html", "jsonl.gz", "npz")]
    (folder / "votes.csv").rename(f"votes{odd}.csv")
    fused, report, annotators, model = names
    options = ["-o", fused, "--report", report, "--annotators", annotators, "--model", model]
    process = run("fuse", f"votes{odd}.csv", *options)
    assert process.returncode == 0, process.stderr
    assert {os.fsencode(name) for name in names} < {
        os.fsencode(path.name) for path in folder.iterdir()
    }
    process = run("fuse", f"votes{odd}.csv", "-q", "-o", f"{odd}.parquet")
    assert process.returncode == 0, process.stderr
    missing = run("fuse", f"none{odd}.csv")
    assert missing.returncode == 2
    assert missing.stderr.startswith("blindfuse: none")


def cpu_seconds(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def test_fusing_a_dataset_takes_little_longer_than_loading_the_libraries(
    crowds: Crowds, tmp_path: Path
) -> None:
    crowds["trec"]  # skips the test if the dataset is missing
    labels = SHARED / "crowd" / "trec" / "labels.csv.gz"
    fusing = [*BLINDFUSE, "fuse", str(labels), "-q", "--force", "-o", str(tmp_path / "fused.csv")]
    loading = [sys.executable, "-c", "import numba, polars, scipy.optimize, scipy.sparse.csgraph"]
    subprocess.run(fusing, check=True)  # compiles the kernels if necessary
    ratio = min(cpu_seconds(fusing) for _ in range(2)) / cpu_seconds(loading)
    assert ratio < 6


def test_tab_completion_of_commands_and_options() -> None:
    def complete(*words: str) -> list[str]:
        environment = {
            **os.environ,
            "_BLINDFUSE_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["blindfuse", *words]),
            "COMP_CWORD": str(len(words)),
        }
        return [line.partition(",")[2] for line in run(env=environment).stdout.splitlines()]

    assert complete("an") == ["annotators"]
    assert {"--gold", "--method", "--ordered"} <= set(complete("fuse", "--"))
    assert complete("fuse", "--format", "lo") == ["long"]


def test_names_that_the_terminal_cannot_encode_are_escaped(tmp_path: Path) -> None:
    votes = "item,annotator,label\ni,ä,x\ni,b,y\ni,c,x\nj,ä,y\nj,b,y\n"
    (tmp_path / "votes.csv").write_text(votes, encoding="utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for command in (["annotators", "votes.csv"], ["fuse", "votes.csv", "--json"]):
        process = run(*command, cwd=tmp_path, env=ascii_only)
        assert process.returncode == 0
        assert "Traceback" not in process.stderr
    names = {row["annotator"] for row in json.loads(process.stdout)["annotators"]}
    assert names == {"ä", "b", "c"}
