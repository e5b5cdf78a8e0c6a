"""``blindfuse warmup``: compile the kernels before the first run, for instance in an image."""

import warnings
from io import BytesIO
from time import perf_counter
from typing import TYPE_CHECKING

import click

from blindfuse.errors import BadFile, counted

if TYPE_CHECKING:
    from blindfuse import Responses


@click.command(
    epilog="""\b
Examples:
  blindfuse warmup
  NUMBA_CACHE_DIR=/opt/kernels blindfuse warmup
"""
)
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
def warmup_command(quiet: bool) -> None:
    """Compile what `blindfuse fuse` needs, and keep it on disk, so that no later run compiles.

    The machine code is kept in the folder of the package, or in NUMBA_CACHE_DIR if that is set, and
    works for all users of this machine type who can read the folder.
    """
    from blindfuse.cli.screen import Screen
    from blindfuse.kernels.compilation import kernel_folder, usage

    screen, started = Screen(quiet=quiet), perf_counter()
    with screen.progress() as step:
        for n_items in (300, 6_000):  # below and above the size from which more kernels are used
            step(f"compiling for tables of {n_items:,} items")
            _fuse_tables(n_items)
    if usage.problem:
        raise BadFile(usage.problem)
    compiled = usage.compiled
    count = f"Compiled {counted(compiled, 'kernel')}" if compiled else "Found all kernels"
    seconds = perf_counter() - started
    screen.show(f"{count} in {seconds:.0f} s; kept in {kernel_folder()}.")


def _fuse_tables(n_items: int) -> None:
    """Run what may be used on tables of this size: complete, incomplete, and read from a file.

    Methods for correlated errors and the diagnostics are among it.
    """
    from blindfuse import (
        BlindEnsemble,
        DawidSkene,
        LatentSubtypes,
        MajorityVote,
        NotConverged,
        fuse,
        read,
    )
    from blindfuse.cli.examples import response_columns
    from blindfuse.cli.outputs import table_bytes

    methods = [
        MajorityVote(),
        *(LatentSubtypes(subtypes=subtypes, max_iter=2) for subtypes in (2, 3)),
        *(BlindEnsemble(moments=form, tolerance=0.1) for form in ("labels", "counts")),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for missing in (0.0, 0.5):
            responses = _simulate(n_items, missing)
            fuse(responses).diagnostics.summary()
            for method in methods:
                method.fit(responses)
        DawidSkene(tolerance=0.1).fit(_simulate(40, missing=0.0, n_annotators=30))
        read(BytesIO(table_bytes(response_columns(responses), "csv")))


def _simulate(n_items: int, missing: float, n_annotators: int = 9) -> "Responses":
    import numpy as np

    from blindfuse import simulate

    rng = np.random.default_rng(0)
    return simulate(n_items, n_annotators, 3, rng, skill=0.5, missing=missing).responses
