"""The main job on data that needs no network: 15 classifiers look at handwritten digits.

As in Section V-B of the paper: each classifier (nearest neighbours, support vector machines,
trees) is trained on its own small random subset of scikit-learn's bundled digits and then labels
all of them. blindfuse sees their answers only; the truth is used to print the errors.
"""

import numpy as np
from sklearn.datasets import load_digits

from blindfuse import DawidSkene, fuse
from blindfuse.beliefs import vote_shares
from blindfuse.experiments.ensembles import answers
from blindfuse.metrics import error_rate

SUBSET = 100


def main() -> None:
    """Fuse, and print who is how good, as estimated without the truth and as it really is."""
    pixels, truth = load_digits(return_X_y=True)
    responses = answers(pixels, truth, SUBSET, np.random.default_rng(0))
    fusion = fuse(responses)
    print(f"{fusion.summary()}\n")
    found = fusion.diagnostics.annotators
    right = (responses.matrix() == truth[:, None]).mean(axis=0)
    print(f"{'annotator':<22}{'accuracy, estimated blind':>26}{'true':>8}")
    for m in np.argsort(-found.accuracy):
        print(f"{responses.annotators[m]:<22}{found.accuracy[m]:>26.3f}{right[m]:>8.3f}")
    plain = DawidSkene().fit(responses)
    print(f"\n{'error of':<22}{'%':>26}")
    for name, error in (
        ("best single annotator", 1 - right.max()),
        ("majority vote", error_rate(vote_shares(responses), truth)),
        ("Dawid–Skene", error_rate(plain.posteriors_, truth)),
        ("blindfuse", error_rate(fusion.posteriors, truth)),
    ):
        print(f"{name:<22}{100 * error:>26.2f}")


if __name__ == "__main__":
    main()
