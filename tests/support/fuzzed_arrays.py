"""Random arrays for every loader and every public constructor that takes arrays.

``python -m tests.support.fuzzed_arrays SEED COUNT`` runs in a process of its own, so that a crash
is seen as a failure. What is accepted is also used, so that it reaches the kernels. Every error
must be a BlindfuseError.
"""

import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from blindfuse import (
    BlindEnsemble,
    DawidSkene,
    Model,
    MomentCounts,
    Moments,
    Responses,
    diagnose,
    simulate,
)
from blindfuse.errors import BlindfuseError
from blindfuse.model.arrays import load_arrays, save_arrays
from blindfuse.responses.rows import Rows
from blindfuse.typing import Array
from tests.support.damaged_files import damage

N, M, K = 40, 4, 3
TYPES = [
    *("i1", "i2", "i4", "i8", "u1", "u4", "u8", ">i4", ">f8", "f4", "f8"),
    *("c16", "?", "U3", "O", "M8[s]", "V8"),
]
NUMBERS = [-1, -2, 0, 1, 7, 127, 128, -(2**15), 2**31, 2**62, 1e300, np.nan, np.inf, -np.inf, 0.5]

Mutation = Callable[[Array, "Mutator"], Any]


class Mutator:
    """Changes some of the arrays that it is given, in one of many ways."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.numpy = np.random.default_rng(seed)

    def __call__(self, array: Any) -> Any:
        for _ in range(self.rng.choice([0, 0, 1, 1, 2])):
            array, mutation = _as_array(array), self.rng.choice(MUTATIONS)
            if array.ndim or mutation not in ROW_MUTATIONS:
                array = mutation(array, self)
        return array

    def all(self, *arrays: Any) -> list[Any]:
        return [self(array) for array in arrays]

    def sometimes(self, *arrays: Any) -> list[Any]:
        return self.all(*arrays) if self.rng.random() < 0.3 else list(arrays)


def _as_array(value: Any) -> Array:
    return np.asarray(value, dtype=None if isinstance(value, np.ndarray) else object)


def _retyped(array: Array, mutator: Mutator) -> Any:
    try:
        return array.astype(mutator.rng.choice(TYPES))
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return array


def _with_another_number(array: Array, mutator: Mutator) -> Any:
    changed = array.copy()
    try:
        changed.flat[mutator.rng.randrange(changed.size)] = mutator.rng.choice(NUMBERS)
    except (TypeError, ValueError, OverflowError):
        return array
    return changed


def _reshaped(array: Array, mutator: Mutator) -> Any:
    shapes = [(-1,), (1, -1), (-1, 1), array.shape[::-1]]
    return array.reshape(mutator.rng.choice(shapes)) if array.size else array.reshape(0, 3)


ROW_MUTATIONS: list[Mutation] = [
    lambda array, mutator: array[: mutator.rng.randrange(len(array) + 1)],
    lambda array, mutator: np.concatenate([array, array[: mutator.rng.choice([1, 3, None])]]),
    lambda array, mutator: np.repeat(array, 2, axis=0)[::2],
    lambda array, mutator: array[::-1],
    lambda array, mutator: np.broadcast_to(array[:1], array.shape) if len(array) else array,
    lambda array, mutator: array[mutator.numpy.permutation(len(array))],
]
"""Mutations of arrays that have rows."""
MUTATIONS: list[Mutation] = [
    *(_retyped, _with_another_number, _with_another_number, _reshaped),
    *ROW_MUTATIONS,
    lambda array, mutator: np.asfortranarray(array),
    lambda array, mutator: array.tolist(),
    lambda array, mutator: mutator.rng.choice([None, 3, "", [], {}, [[1], [2, 3]], object()]),
]

SIMULATION = simulate(N, M, K, np.random.default_rng(0), missing=0.3)
TABLE, MODEL = SIMULATION.responses, SIMULATION.model
COLUMNS = TABLE.item_of_response(), TABLE.by_item.codes, TABLE.by_item.symbols
NAMES = TABLE.items, TABLE.annotators, TABLE.classes
COUNTS = MomentCounts.count(TABLE)
MOMENTS = COUNTS.moments()
METHODS = [DawidSkene(max_iter=2), BlindEnsemble(max_sweeps=2)]
FOLDER = Path(tempfile.mkdtemp())
for method in METHODS:
    method.partial_fit(TABLE).save_state(FOLDER / type(method).__name__)
MODEL.save(FOLDER / "Model")
SAVED = ["DawidSkene", "BlindEnsemble", "Model"]


def _fit(responses: Responses, mutator: Mutator) -> Any:
    return mutator.rng.choice(METHODS).fit(responses).predict_proba(responses)


def from_codes(mutator: Mutator) -> Any:
    codes = mutator.all(*COLUMNS)
    items, annotators, classes = mutator.sometimes(*NAMES)
    names = {"items": items, "annotators": annotators, "classes": classes}
    return _fit(Responses.from_codes(*codes, **names), mutator)


def from_rows(mutator: Mutator) -> Any:
    rows = mutator.all(*TABLE.by_item)
    items, annotators, classes = mutator.sometimes(*NAMES)
    return _fit(Responses(items, annotators, Rows(*rows), classes=classes), mutator)


def from_matrix(mutator: Mutator) -> Any:
    return _fit(Responses.from_matrix(mutator(TABLE.matrix())), mutator)


def from_long(mutator: Mutator) -> Any:
    return _fit(Responses.from_long(*mutator.all(*COLUMNS)), mutator)


def selections(mutator: Mutator) -> Any:
    items, annotators = mutator.all(np.arange(N), np.arange(M))
    return _fit(TABLE.select_items(items).select_annotators(annotators), mutator)


def models(mutator: Mutator) -> Any:
    weights = mutator.rng.choice([np.ones(M), None])
    fields = MODEL.confusions, MODEL.prior, MODEL.annotators, MODEL.classes, weights
    return Model(*mutator.all(*fields)).posteriors(TABLE)


def moment_counts(mutator: Mutator) -> Any:
    tables = mutator.all(COUNTS.singles, COUNTS.pairs, COUNTS.triples)
    return (MomentCounts(N, *tables) + COUNTS).moments()


def moments(mutator: Mutator) -> Any:
    arrays = mutator.all(*list(vars(MOMENTS).values())[1:])
    return Moments(N, *arrays).objective(MODEL.confusions, MODEL.prior)


def diagnostics(mutator: Mutator) -> Any:
    return diagnose(TABLE, MODEL, mutator(MODEL.posteriors(TABLE))).summary()


def parameters(mutator: Mutator) -> Any:
    weights, prior = mutator.all(np.ones(M), np.full(K, 1 / K))
    if mutator.rng.random() < 0.5:
        return DawidSkene(weights=weights, class_prior=prior, max_iter=2).fit(TABLE)
    return BlindEnsemble(prior=prior, max_sweeps=2).fit(TABLE)


def saved_arrays(mutator: Mutator) -> Any:
    """Files of the right format with other arrays in them."""
    name = mutator.rng.choice(SAVED)
    format = "blindfuse model" if name == "Model" else f"blindfuse state of {name}"
    header, arrays = load_arrays(FOLDER / name, format)
    changed = mutator.rng.sample(sorted(arrays), mutator.rng.randrange(1, 3))
    for key in changed:
        arrays[key] = mutator(arrays[key])
        if _as_array(arrays[key]).dtype.kind == "O":  # would be pickled
            del arrays[key]
    if mutator.rng.random() < 0.2:
        key = mutator.rng.choice(sorted(set(header) - {"format", "version"}))
        header[key] = mutator.rng.choice([[], [1, 2], "text", None, -1, {}, [[1], [2]], 10**30])
    save_arrays(FOLDER / "changed", format, header, arrays)
    return _load(name, FOLDER / "changed")


def saved_bytes(mutator: Mutator) -> Any:
    """Files with other bytes in them."""
    name = mutator.rng.choice(SAVED)
    damaged = damage((FOLDER / name).read_bytes(), mutator.rng.randrange(2**32))
    (FOLDER / "damaged").write_bytes(damaged)
    return _load(name, FOLDER / "damaged")


def _load(name: str, path: Path) -> Any:
    if name == "Model":
        return Model.load(path).posteriors(TABLE)
    method: Any = DawidSkene(max_iter=2) if name == "DawidSkene" else BlindEnsemble(max_sweeps=2)
    return method.load_state(path).merge(type(method)().partial_fit(TABLE))


TARGETS: list[Callable[[Mutator], Any]] = [
    *(from_codes, from_rows, from_matrix, from_long, selections, models, moment_counts, moments),
    *(diagnostics, parameters, saved_arrays, saved_bytes),
]


def main(seed: int, count: int) -> None:
    """Run this many cases; print how many were accepted, and stop at the first wrong error."""
    warnings.simplefilter("ignore")
    accepted = 0
    with np.errstate(all="ignore"):
        for number in range(seed, seed + count):
            target = TARGETS[number % len(TARGETS)]
            print(f"\r{number} {target.__name__} ", end="", file=sys.stderr)  # named in a crash
            try:
                target(Mutator(number))
                accepted += 1
            except BlindfuseError:
                continue
    print(accepted)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
