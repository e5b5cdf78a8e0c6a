"""Signals that arrive while compiled code calls Python, where exceptions are lost."""

import subprocess
import sys

import pytest

CALL = """
import ctypes, signal, time
from blindfuse.cli import main

def interrupted():
    signal.raise_signal(signal.{name})
    for _ in range(10):
        pass  # the signal is handled here

def command(*args, **options):
    ctypes.CFUNCTYPE(None)(interrupted)()
    {then}

main.blindfuse.invoke = command
signal.signal(signal.SIGINT, signal.default_int_handler)
main.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
@pytest.mark.parametrize("then", ["time.sleep(9)", "raise RuntimeError('no compiled object yet')"])
def test_a_signal_within_a_callback_ends_the_program(name: str, code: int, then: str) -> None:
    script = CALL.format(name=name, then=then)
    ended = subprocess.run(
        [sys.executable, "-c", script, "methods"], capture_output=True, text=True, timeout=40
    )
    assert ended.returncode == code
    assert "Traceback" not in ended.stderr
    assert "ignored" not in ended.stderr


def test_other_errors_within_a_callback_are_reported() -> None:
    script = CALL.format(name="SIGTERM", then="").replace("signal.raise_signal", "print(1 / 0)  #")
    ended = subprocess.run(
        [sys.executable, "-c", script, "methods"], capture_output=True, text=True
    )
    assert ended.returncode == 0
    assert "ZeroDivisionError" in ended.stderr
