"""Control of callgrind from inside the program that it runs.

Valgrind recognises a request by an instruction sequence without effect on a real machine: four
rotations of a register that add up to a full rotation. Only the instructions between ``START`` and
``STOP`` are counted, so that imports do not matter.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

_CALLGRIND = ord("C") << 24 | ord("T") << 16
DUMP_AS, START, STOP = (_CALLGRIND + number for number in (3, 4, 5))

binding.initialize_native_asmparser()  # Numba does not initialise it
_REQUEST = "rolq $$3, %rdi; rolq $$13, %rdi; rolq $$61, %rdi; rolq $$51, %rdi; xchgq %rbx, %rbx"


@intrinsic
def _request(typing_context: Any, address: Any) -> Any:
    """Pass the six words at ``address`` (a request and its arguments) to valgrind."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        registers = "={rdx},{rax},{rdx},~{memory},~{cc}"
        kind = ir.FunctionType(word, [word, word])
        return builder.asm(kind, _REQUEST, registers, [arguments[0], word(0)], side_effect=True)

    return types.uint64(types.uint64), generate


@numba.njit(cache=True)
def _ask(address: Any) -> Any:
    return _request(address)  # type: ignore[call-arg]


def _send(request: int, argument: int = 0) -> None:
    words = np.array([request, argument, 0, 0, 0, 0], np.uint64)
    _ask(np.uint64(words.ctypes.data))


def count(name: str, work: Callable[[], object]) -> None:
    """Run the work; under callgrind, write its number of instructions to a file under this name."""
    title = np.frombuffer(name.encode() + b"\0", np.uint8)
    _send(START)
    work()
    _send(STOP)
    _send(DUMP_AS, title.ctypes.data)
