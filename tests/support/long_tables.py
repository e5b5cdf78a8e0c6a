"""Long tables as files, for the tests of partitions."""

from pathlib import Path

import numpy as np
import polars as pl

from blindfuse import simulate


def shuffled_votes(seed: int = 0) -> pl.DataFrame:
    """Return responses in random order, some repeated, some empty, whose names must stay text."""
    rng = np.random.default_rng(seed)
    responses = simulate(800, 6, 3, rng, missing=0.2, skill=0.5).responses
    frame = pl.DataFrame(
        {
            "image": [f"{n:04d}" for n in responses.item_of_response()],
            "worker": [f"w,{m}" for m in responses.by_item.codes],
            "answer": [["cat", "dog", "1e5"][k] for k in responses.by_item.symbols],
        }
    )
    repeated = frame.sample(40, seed=seed).with_columns(answer=pl.lit("dog"))
    empty = frame.sample(10, seed=seed + 1).with_columns(answer=pl.lit(None, pl.String))
    return pl.concat([frame, repeated, empty]).sample(fraction=1.0, shuffle=True, seed=seed)


def write_table(frame: pl.DataFrame, path: Path) -> Path:
    """Write a table in the format of the file's extension, and return the path."""
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".arrow":
        frame.write_ipc(path)
    else:
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    return path
