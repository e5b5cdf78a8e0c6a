"""The labels that weak classifiers gave to scikit-learn's breast tumours, and the truth.

Nothing is downloaded or trained: ``tumours.csv`` is in the package, made by ``tools/tumours.py``.
"""

import csv
from importlib.resources import files

import numpy as np

from blindfuse.datasets.loading import Crowd
from blindfuse.responses.responses import Responses


def tumours_crowd() -> Crowd:
    """Return the labels of 30 weak classifiers and 6 guessers for 569 tumours, and the truth."""
    text = files("blindfuse.datasets").joinpath("tumours.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    cells = np.array(rows)
    classes, truth = np.unique(cells[:, 1], return_inverse=True)
    items, annotators = np.nonzero(cells[:, 2:])
    responses = Responses.from_codes(
        items,
        annotators,
        np.searchsorted(classes, cells[:, 2:][items, annotators]),
        items=cells[:, 0].astype(int),
        annotators=header[2:],
        classes=classes,
    )
    return Crowd("tumours", responses, truth)
