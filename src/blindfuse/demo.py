"""The main job on data that needs no network: 15 classifiers look at handwritten digits.

As in Section V-B of the paper: each classifier (nearest neighbours, support vector machines,
trees) is trained on its own small random subset of scikit-learn's bundled digits and then labels
all of them. blindfuse sees their answers only; the truth is used to print the errors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from blindfuse import BlindEnsemble, Responses
from blindfuse.beliefs import vote_shares

SUBSET = 100


def classifiers() -> dict[str, Any]:
    """Fifteen classifiers of three families, as Section V-B has them."""
    neighbours = {
        f"{k}-nearest {metric}": KNeighborsClassifier(k, metric=metric)
        for k in (1, 3, 7)
        for metric in ("euclidean", "manhattan")
    }
    machines = {
        f"svm {kernel}": SVC(kernel=kernel) for kernel in ("linear", "poly", "rbf", "sigmoid")
    }
    trees = {
        f"tree depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=depth)
        for depth in (3, 4, 6, 8, 12)
    }
    return neighbours | machines | trees


def label_digits(rng: np.random.Generator) -> tuple[Responses, NDArray[np.intp]]:
    """Answers of the fifteen about all digits, and the truth."""
    pixels, truth = load_digits(return_X_y=True)
    answers = {}
    for name, classifier in classifiers().items():
        subset = rng.choice(len(pixels), SUBSET, replace=False)
        answers[name] = classifier.fit(pixels[subset], truth[subset]).predict(pixels)
    matrix = np.stack(list(answers.values()), axis=1)
    return Responses.from_matrix(matrix, annotators=list(answers)), truth


def main() -> None:
    """Fuse, and print who is how good, as estimated without the truth and as it really is."""
    responses, truth = label_digits(np.random.default_rng(0))
    print(f"{responses!r}\n")
    ensemble = BlindEnsemble().fit(responses)
    right = (responses.matrix() == truth[:, None]).mean(axis=0)
    print(f"{'annotator':<22}{'accuracy, estimated blind':>26}{'true':>8}")
    for m in np.argsort(-ensemble.model_.accuracies):
        name, blind = responses.annotators[m], ensemble.model_.accuracies[m]
        print(f"{name:<22}{blind:>26.3f}{right[m]:>8.3f}")
    shares = vote_shares(responses)
    vote = 1 - shares[np.arange(len(truth)), truth].mean()
    fused = np.mean(ensemble.labels_ != truth)
    print(f"\n{'error of':<22}{'%':>26}")
    for name, error in (
        ("best single annotator", 1 - right.max()),
        ("majority vote", vote),
        ("blindfuse", fused),
    ):
        print(f"{name:<22}{100 * error:>26.2f}")
    if fused > 0.95 * vote:
        print("\nThe vote is as good here: classifiers trained on the same features err together.")
    print(f"\n{ensemble.trace_!r}")


if __name__ == "__main__":
    main()
