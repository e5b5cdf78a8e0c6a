"""Every table with a known truth: public ones by family, and classifier ensembles.

The ensembles are those of Section V-B and of eleven other classifiers. No classifier is trained on
the rows that it labels. Trained ensembles are kept in the dataset cache (BLINDFUSE_CACHE).
"""

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blindfuse import Responses
from blindfuse.datasets import load
from experiments.trained_classifiers import ENSEMBLES, SUBSETS, Ensemble, label_dataset

Floats = NDArray[np.float64]

ROWS = 20_000
"""Rows that each ensemble labels; half of the dataset where it has fewer than twice as many."""
SEEDS = range(3)
FAMILIES = {"api_": "APIs", "ws_": "weak supervision", "judges_": "LLM juries"}
"""Family of a public table by the beginning of its name; all others are crowds."""


@dataclass(frozen=True, eq=False)
class Table:
    """Responses with the true classes ``truth[item]`` as class codes, −1 where unknown."""

    name: str
    family: str
    responses: Responses
    truth: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table that is loaded, or trained, when it is needed."""

    name: str
    family: str
    load: Callable[[], tuple[Responses, NDArray[np.intp]]]

    def __call__(self) -> Table:
        return Table(self.name, self.family, *self.load())


def all_tables() -> list[NamedTable]:
    """The tables of the folder BLINDFUSE_DATA, family by family, then the trained ensembles."""
    return [*public_and_stored_tables(), *_trained_ensembles()]


def public_and_stored_tables() -> list[NamedTable]:
    """The tables of the folder BLINDFUSE_DATA, family by family, without trained ensembles."""
    return [*_public_tables(), *_stored_ensembles()]


def data_folder() -> Path:
    return Path(os.environ["BLINDFUSE_DATA"])


def _public_tables() -> Iterator[NamedTable]:
    names = sorted(path.parent.name for path in data_folder().glob("crowd/*/labels.csv.gz"))
    for family in ("crowds", *FAMILIES.values()):
        for name in names:
            if _family(name) == family:
                yield NamedTable(name, family, partial(_load_crowd, name))


def _family(name: str) -> str:
    return next((family for start, family in FAMILIES.items() if name.startswith(start)), "crowds")


def _load_crowd(name: str) -> tuple[Responses, NDArray[np.intp]]:
    crowd = load(name, data_folder())
    return crowd.responses, crowd.truth


def _stored_ensembles() -> Iterator[NamedTable]:
    for path in sorted(data_folder().glob("ensembles/*.npz")):
        yield NamedTable(path.stem, "ensembles", partial(_load_ensemble, path))


def _load_ensemble(path: Path) -> tuple[Responses, NDArray[np.intp]]:
    with np.load(path, allow_pickle=False) as stored:
        responses = Responses.from_matrix(stored["answers"])
        return responses, np.searchsorted(responses.classes, stored["truth"])


def _trained_ensembles() -> Iterator[NamedTable]:
    for name in SUBSETS:
        for ensemble in ENSEMBLES:
            for seed in SEEDS:
                label = partial(_label, name, seed, ensemble)
                yield NamedTable(f"{name}, {ensemble}, seed {seed}", "ensembles", label)


def _label(name: str, seed: int, ensemble: Ensemble) -> tuple[Responses, NDArray[np.intp]]:
    with warnings.catch_warnings():
        # Weak classifiers need not converge, nor do constant features matter.
        warnings.simplefilter("ignore")
        crowd = label_dataset(name, seed, ROWS, data_folder(), ensemble, unseen=True)
    return crowd.responses, crowd.truth
