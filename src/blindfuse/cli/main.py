"""The group of all commands, and how every one of them ends.

Exit codes: 0 done, 2 the input is wrong or the machine refuses (one line on standard error), 130
interrupted, 141 nobody reads the output any more. Anything else is a bug, which exits with 1 and a
traceback.
"""

import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from blindfuse import __version__
from blindfuse.cli.system import in_words, refuse_tight_memory
from blindfuse.errors import BlindfuseError, meant

COMMANDS = {
    "fuse": "One label an item from the answers of many, and who is how good.",
    "predict": "Label new items by a model that fuse has saved.",
    "annotators": "Who is how good, who guesses, who errs together.",
    "compare": "Every method on the same answers, side by side.",
    "next": "Which items to send out again, and to whom.",
    "simulate": "Answers of made-up annotators, with their truth.",
    "demo": "See it work: 15 classifiers look at handwritten digits.",
    "methods": "The methods that --method takes.",
    "datasets": "Public crowds with a known truth, to try methods on.",
}
"""Every command with its short help, which is shown without importing the command."""

WRONG_INPUT, INTERRUPTED, UNREAD = 2, 130, 141


class Commands(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"blindfuse.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r}: {meant(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            refuse_tight_memory(ctx.invoked_subcommand)
            return super().invoke(ctx)
        except BlindfuseError as error:
            command = self.get_command(ctx, str(ctx.invoked_subcommand))
            raise click.ClickException(_as_options(str(error), command)) from error
        except BrokenPipeError:
            _drop_output()
            raise click.exceptions.Exit(UNREAD) from None
        except (OSError, MemoryError, ImportError, RuntimeError) as error:
            words = in_words(error)
            if words is None:
                raise
            _drop_output()
            raise click.ClickException(words) from error

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        try:
            code = super().main(args, **{**extra, "standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(WRONG_INPUT)
        except click.ClickException as error:
            click.secho("blindfuse: ", err=True, nl=False, fg="red")
            click.echo(_in_one_line(error), err=True)
            sys.exit(WRONG_INPUT)
        except click.Abort:
            sys.exit(INTERRUPTED)
        sys.exit(code or 0)


def _drop_output() -> None:
    """Let the last flush of standard output succeed where what is in it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_one_line(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    if isinstance(error, click.UsageError) and error.ctx is not None:
        message += f" Try '{error.ctx.command_path} --help'."
    return message


def _as_options(message: str, command: click.Command | None) -> str:
    """A message with parameters, as in ``question='mood'``, for one who types ``--question``."""
    for parameter in command.params if command else ():
        option = max(parameter.opts, key=len)
        if option.startswith("--"):
            message = re.sub(rf"(?<![\w-]){parameter.name}=(?=[\s,.]|$)", option, message)
            message = re.sub(rf"(?<![\w-]){parameter.name}=(?=\S)", f"{option} ", message)
    return message


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Start here:
  blindfuse demo
  blindfuse fuse votes.csv -o fused.csv --report report.html

\b
Completion of commands and options, for bash (or zsh, fish) in its startup file:
  eval "$(_BLINDFUSE_COMPLETE=bash_source blindfuse)"
""",
)
@click.version_option(__version__, message="blindfuse %(version)s")
def blindfuse() -> None:
    """Fuse the labels of many annotators, classifiers or LLM judges without ground truth."""


def main() -> NoReturn:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):  # no name may stop us in a terminal without Unicode
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    blindfuse.main(prog_name="blindfuse")
