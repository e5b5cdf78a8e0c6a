"""Signals that end the program, so that temporary files are removed.

While LLVM compiles a kernel it calls Python, and an exception that a signal raises there is lost.
The signal is then sent again, and errors of the kernel that was not compiled are not reported.
"""

import os
import signal
import sys
from threading import Timer
from typing import Any, NoReturn

EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143

RESEND_SECONDS = 0.05

lost: list[int] = []
"""Exit codes of signals whose exceptions were lost."""


def handle_signals() -> None:
    """End the program with an exception on SIGTERM, and send lost signals again."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = resend_lost


def _terminate(number: int, frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)
    sys.exit(EXIT_TERMINATED)


def resend_lost(unraisable: Any) -> None:
    """Send the signal again whose exception was lost; report other lost exceptions."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        lost.append(EXIT_INTERRUPTED)
        number = signal.SIGINT
    elif isinstance(unraisable.exc_value, SystemExit):
        lost.append(EXIT_TERMINATED)
        number = signal.SIGTERM
        signal.signal(number, _terminate)
    else:
        sys.__unraisablehook__(unraisable)
        return
    timer = Timer(RESEND_SECONDS, os.kill, [os.getpid(), number])
    timer.daemon = True
    timer.start()
