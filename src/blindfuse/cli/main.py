"""The group of all commands, their errors and their exit codes.

Exit codes:

- 0: success.
- 2: the input is invalid, or the system refuses (disk full, out of memory). One line on standard
  error says what to do.
- 130: interrupted.
- 143, 129: terminated, or the terminal was closed (SIGTERM, SIGHUP); no partial files are left.
- 141: the reader of standard output has closed the pipe.
- 1: a result is below a limit such as --fail-below; or a bug, with a traceback.
"""

import errno
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from blindfuse import __version__
from blindfuse.cli.outputs import REMEDY, BelowLimit
from blindfuse.errors import BlindfuseError, suggest

COMMANDS = {
    "fuse": "Fuse responses into one label per item and rate the annotators.",
    "predict": "Label new items with a saved model.",
    "annotators": "Rate the annotators and find correlated errors.",
    "compare": "Compare all methods on the same responses.",
    "cluster": "Fuse clusterings of the same items into one partition.",
    "rank": "Rank items by pairwise comparisons and rate the judges.",
    "audit": "Choose items to check by hand and measure the error on them.",
    "next": "Choose which items to label next, and by whom.",
    "simulate": "Simulate responses with known true labels.",
    "demo": "Fuse the labels of weak classifiers for breast tumours.",
    "methods": "List the methods that --method accepts.",
    "warmup": "Compile the kernels now, so that later runs start faster.",
    "datasets": "List public crowdsourcing datasets with true labels.",
}
"""Every command with its short help, which is shown without importing the command."""
MODULES = {
    **dict.fromkeys(("annotators", "compare", "next"), "tables"),
    **dict.fromkeys(("demo", "simulate"), "examples"),
    **dict.fromkeys(("methods", "datasets"), "lists"),
    "cluster": "fuse",
}
"""The modules of commands that are not in a module of their own name."""

EXIT_BELOW, EXIT_INVALID, EXIT_INTERRUPTED, EXIT_BROKEN_PIPE = 1, 2, 130, 141


class Commands(click.Group):
    """A group of commands that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"blindfuse.cli.{MODULES.get(cmd_name, cmd_name)}")
        command = getattr(module, f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            is_file = Path(args[0]).is_file()
            hint = f"to fuse a file, pass 'blindfuse fuse {args[0]}'." if is_file else ""
            ctx.fail(f"Unknown command {args[0]!r}: {hint or suggest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BlindfuseError as error:
            command = self.get_command(ctx, str(ctx.invoked_subcommand))
            raise click.ClickException(_name_options(str(error), command)) from error
        except BrokenPipeError:
            _drop_output()
            raise click.exceptions.Exit(EXIT_BROKEN_PIPE) from None
        except (OSError, MemoryError) as error:
            message = describe_system_error(error)
            if message is None:
                raise
            _drop_output()
            raise click.ClickException(message) from error

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        try:
            code = super().main(args, **{**extra, "standalone_mode": False})
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(EXIT_INVALID)
        except click.ClickException as error:
            click.secho("blindfuse: ", err=True, nl=False, fg="red")
            click.echo(_one_line(error), err=True)
            sys.exit(EXIT_BELOW if isinstance(error, BelowLimit) else EXIT_INVALID)
        except click.Abort:
            sys.exit(EXIT_INTERRUPTED)
        except OSError as error:  # help or the version cannot be printed
            _drop_output()
            click.echo(f"blindfuse: {describe_system_error(error) or error}", err=True)
            sys.exit(EXIT_INVALID)
        sys.exit(code or 0)


def describe_system_error(error: OSError | MemoryError) -> str | None:
    """Return a message for an error that the system caused; None if the error is a bug."""
    if isinstance(error, MemoryError):
        return "Not enough memory. Free some, raise the limit, or fuse fewer items."
    if error.errno in (None, errno.ENOENT):
        return None
    path = "" if error.filename is None else f": {os.fsdecode(error.filename)}"
    return f"{error.strerror}{path}. {REMEDY}"


def _drop_output() -> None:
    """Redirect standard output if it cannot be flushed, so that the flush at exit succeeds."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_line(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    if isinstance(error, click.UsageError) and error.ctx is not None:
        message += f" Try '{error.ctx.command_path} --help'."
    return message


def _name_options(message: str, command: click.Command | None) -> str:
    """Replace parameters of the library, as in ``question='mood'``, by the command's options."""
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
For Tab completion, add this line to ~/.bashrc (for zsh: zsh_source, to ~/.zshrc):
  eval "$(_BLINDFUSE_COMPLETE=bash_source blindfuse)"
""",
)
@click.version_option(__version__, message="blindfuse %(version)s")
def blindfuse() -> None:
    """Fuse the responses of many annotators, classifiers or LLM judges without ground truth."""


def _terminate(number: int, frame: object) -> NoReturn:
    """End with an exception, so that temporary files are removed."""
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def main() -> NoReturn:
    """Run the command line interface."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # files would take the place of a closed stream
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, _terminate)
    for stream in (sys.stdout, sys.stderr):  # names may not be encodable in this terminal
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    blindfuse.main(prog_name="blindfuse")
