"""Run commands in this process, on the files that the fixture ``folder`` of tests/cli writes."""

import polars as pl
from click.testing import CliRunner, Result

from blindfuse import Responses, read, read_gold
from blindfuse.cli.main import blindfuse as program


def run(*arguments: object, input: bytes | None = None) -> Result:
    """Run a command."""
    return CliRunner().invoke(program, [str(argument) for argument in arguments], input=input)


def succeed(*arguments: object, input: bytes | None = None) -> Result:
    """Run a command that must succeed."""
    result = run(*arguments, input=input)
    assert result.exit_code == 0, result.output
    return result


def refuse(*arguments: object, input: bytes | None = None) -> str:
    """Run a command that must fail, and return its error message of one line."""
    result = run(*arguments, input=input)
    lines = [line for line in result.stderr.splitlines() if not line.startswith("·")]
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(lines) == 1
    assert lines[0].startswith("blindfuse: ")
    return lines[0]


def read_votes() -> Responses:
    """Read votes.csv."""
    return read("votes.csv").responses


def write_gold(count: int = 40) -> dict[str, str]:
    """Write the first labels of truth.csv to gold.csv, and return them."""
    gold = dict(list(read_gold("truth.csv").items())[:count])
    pl.DataFrame({"item": list(gold), "label": list(gold.values())}).write_csv("gold.csv")
    return gold
