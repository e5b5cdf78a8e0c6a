"""``blindfuse warmup``: compile the kernels before the first run, for instance in an image."""

import warnings
from io import BytesIO
from time import perf_counter
from typing import TYPE_CHECKING

import click

from blindfuse.errors import BadFile

if TYPE_CHECKING:
    from blindfuse import Responses

LARGE_ITEMS, SMALL_ITEMS, ANNOTATORS = 6_000, 300, 9
"""Tables above and below the size from which more kernels are used."""


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
    from blindfuse.kernels import cache

    screen, started = Screen(quiet=quiet), perf_counter()
    with screen.progress() as step:
        for size, run in (("small", _fuse_small_tables), ("large", _fuse_large_tables)):
            step(f"compiling for {size} tables")
            run()
    if cache.usage.problem:
        raise BadFile(cache.usage.problem)
    count = f"Compiled {cache.usage.compiled:,}" if cache.usage.compiled else "Found all"
    seconds = perf_counter() - started
    screen.show(f"{count} kernels in {seconds:.0f} s; they are kept in {cache.usage.folder}.")


def _fuse_small_tables() -> None:
    """Run what may be used on a table that is too small for kernels of its own."""
    from blindfuse import BlindEnsemble, DawidSkene

    responses = _simulate(SMALL_ITEMS, missing=0.4)
    _fuse(responses)
    BlindEnsemble(moments="labels", tolerance=0.1).fit(responses)
    BlindEnsemble(moments="counts", tolerance=0.1).fit(responses)
    DawidSkene(tolerance=0.1).fit(_simulate(40, missing=0.0, n_annotators=30))


def _fuse_large_tables() -> None:
    """Run what may be used on a large table: incomplete, complete, and read from a file."""
    from blindfuse import read
    from blindfuse.cli.examples import response_columns
    from blindfuse.cli.outputs import table_bytes

    incomplete = _simulate(LARGE_ITEMS, missing=0.5)
    _fuse(incomplete)
    _fuse(_simulate(LARGE_ITEMS, missing=0.0))
    read(BytesIO(table_bytes(response_columns(incomplete), "csv")))


def _fuse(responses: "Responses") -> None:
    """Fuse the responses, by methods for correlated errors too, and compute the diagnostics."""
    from blindfuse import LatentSubtypes, MajorityVote, NotConverged, fuse

    fuse(responses).diagnostics.summary()
    MajorityVote().fit(responses)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for subtypes in (2, 3):
            LatentSubtypes(subtypes=subtypes, max_iter=2).fit(responses)


def _simulate(n_items: int, missing: float, n_annotators: int = ANNOTATORS) -> "Responses":
    import numpy as np

    from blindfuse import simulate

    rng = np.random.default_rng(0)
    return simulate(n_items, n_annotators, 3, rng, skill=0.5, missing=missing).responses
