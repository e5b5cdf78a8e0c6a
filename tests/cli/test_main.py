"""The group of commands: help, errors and exit codes."""

import re
from pathlib import Path

import pytest

from blindfuse.cli.main import COMMANDS
from tests.support.cli import refuse, run, succeed

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fuse", "vote.csv"], "did you mean 'votes.csv'?"),
        (["fuse", "votes.csv", "--item", "itm"], "votes.csv has no column 'itm': did you mean"),
        (["fuse", "votes.csv", "--method", "dawidskeen"], "did you mean 'DawidSkene'?"),
        (["fuse", "votes.csv", "--question", "mood"], "'question'"),
        (["fuse", "votes.csv", "--format", "lng"], "'long'"),
        (["fuse", "votes.csv", "--itm", "x"], "--item"),
        (["fuse", "votes.csv", "--prior-model", "nothing"], "'nothing' does not exist"),
        (["fuse", "votes.csv", "--threads", "0"], "--threads"),
        (
            ["fuse", "votes.csv", "-o", "-", "--json"],
            "--json and -o - both write to standard output",
        ),
        (
            ["fuse", "votes.csv", "-o", "a.csv", "--annotators", "a.csv"],
            "Two outputs are the same file: 'a.csv', 'a.csv'",
        ),
        (["fuse", "votes.csv", "--seed", "-1"], "--seed"),
        (["simulate", "--seed", "-1"], "--seed"),
        (["fuse"], "Missing argument 'FILE…'"),
        (["fuze", "votes.csv"], "did you mean 'fuse'?"),
        (["votes.csv"], "pass 'blindfuse fuse votes.csv'"),
        (["--nothing"], "--nothing"),
    ],
)
def test_an_error_is_one_line_with_a_remedy(arguments: list[str], message: str) -> None:
    assert message in refuse(*arguments)


def test_error_messages_name_options_instead_of_parameters() -> None:
    Path("two.csv").write_text("task,unit,worker,label\n1,2,a,x\n1,2,b,y\n")
    message = refuse("fuse", "two.csv")
    assert "Pass --item, as in --item 'task'." in message


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blindfuse.fusion.fuse.diagnose", lambda *_, **__: 1 / 0)
    result = run("fuse", "votes.csv")
    assert result.exit_code == 1
    assert isinstance(result.exception, ZeroDivisionError)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str) -> None:
    text = succeed(name, "--help").stdout
    assert "Examples:" in text
    assert max(map(len, text.splitlines())) <= 80
    for example in re.findall(r"^ +blindfuse (\w+)", text, re.MULTILINE):
        assert example in COMMANDS


def test_the_help_lists_the_commands_and_tab_completion() -> None:
    text = succeed("--help").stdout
    for name, short in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(short)}$", text, re.MULTILINE)
    assert "_BLINDFUSE_COMPLETE=bash_source blindfuse" in text
    assert run().exit_code == 2
    assert "Commands:" in run().stderr
