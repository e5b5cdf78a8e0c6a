"""Run the examples of documentation pages, and show their output as the pages do.

    python tools/doc_examples.py README.md docs/index.md

rewrites what the pages show under their examples where it differs from what is printed now.
Fenced blocks are examples by their language: the commands after ``$`` in ``console`` are followed
by what they print, ``python`` may be followed by a ``text`` block with what it prints, and
``pycon`` has its output inside. ``…`` stands for anything.
"""

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LANGUAGES = {"python", "pycon", "console", "text"}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
COLUMNS = "80"

_BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\d+\.\d\d$")
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.MULTILINE)


@dataclass(frozen=True)
class Output:
    """What an example shows at ``span`` of the page, and what it printed.

    ``template`` is where the page puts new output: ``{}`` itself, or a block around it.
    """

    example: str
    span: tuple[int, int]
    shown: str
    printed: str
    template: str = "{}\n"

    @property
    def is_shown(self) -> bool:
        """Whether the page shows anything where something was printed."""
        return bool(self.shown.strip() or not self.printed.strip())

    @property
    def matches(self) -> bool:
        """Whether the page shows what was printed, up to white space and ``…``, or nothing."""
        shown = self.shown.replace("…", "...")
        return not shown or doctest.OutputChecker().check_output(shown, self.printed, FLAGS)

    @property
    def renewed(self) -> str:
        """The output as the page should show it."""
        lines = [line.rstrip() for line in self.printed.strip("\n").splitlines()]
        text = "\n".join(_without_times(lines))
        return self.template.format(text) if text else ""


def _without_times(lines: list[str]) -> list[str]:
    """The lines with ``…`` for the times in a last column "seconds", which differ in every run."""
    if not any(line.endswith(" seconds") for line in lines):
        return lines
    return [_TIME.sub("…", line) for line in lines]


def blocks(text: str) -> list[re.Match[str]]:
    """Every fenced block: its language and its content."""
    return list(_BLOCK.finditer(text))


def run_page(text: str, name: str) -> Iterator[Output]:
    """Run the examples of a page in order, in the working directory; Python shares its names."""
    names: dict[str, Any] = {"__name__": name}
    found = blocks(text)
    for block, following in zip(found, [*found[1:], None], strict=True):
        language, content = block.groups()
        if language == "console":
            yield from _run_console(block)
        elif language == "pycon":
            _run_doctest(content, name, names)
        elif language == "python":
            printed = _run_python(content, name, names)
            if following and text[block.end() : following.start(2)].split() == ["```text"]:
                yield Output(content, following.span(2), following[2], printed)
            else:
                end = block.end(), block.end()
                yield Output(content, end, "", printed, "\n\n```text\n{}\n```")


def _run_console(block: re.Match[str]) -> Iterator[Output]:
    start, content = block.start(2), block[2]
    commands = list(_COMMAND.finditer(content))
    ends = [command.start() for command in commands[1:]] + [len(content)]
    for command, end in zip(commands, ends, strict=True):
        span = start + command.end(), start + end
        yield Output(command[1], span, content[command.end() : end], run_command(command[1]))


def run_command(command: str) -> str:
    """What a command prints to both streams; an error if it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PATH": path, "COLUMNS": COLUMNS},
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"{command}\nfailed:\n{done.stdout}")
    return done.stdout


def _run_python(code: str, name: str, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), names)
    return printed.getvalue()


def _run_doctest(code: str, name: str, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(code, names, name, name, 0)
    test.globs = names  # the parser takes a copy
    doctest.DebugRunner(optionflags=FLAGS).run(test, clear_globs=False)


def refreshed(text: str, name: str) -> str:
    """The page with the output of its examples renewed where it differs."""
    outputs = list(run_page(text, name))
    for output in reversed(outputs):
        if not (output.matches and output.is_shown):
            start, end = output.span
            text = text[:start] + output.renewed + text[end:]
    return text


def main(pages: list[str]) -> None:
    """Renew the output that the pages show."""
    for page in map(Path, pages):
        page, home = page.resolve(), os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = refreshed(page.read_text(encoding="utf-8"), page.name)
            os.chdir(home)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
