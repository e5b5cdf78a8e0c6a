"""A model and responses for the tests."""

import numpy as np

from blindfuse import Model, Responses, simulate


def example_model(seed: int = 0, m: int = 4, k: int = 3) -> Model:
    model = simulate(1, m, k, np.random.default_rng(seed), prior=range(1, k + 1)).model
    return Model(
        model.confusions,
        model.prior,
        np.array([f"judge {i}" for i in range(m)], dtype=object),
        np.array(["no", "perhaps", "yes"][:k], dtype=object),
    )


def random_responses(model: Model, n: int, seed: int, missing: float = 0.3) -> Responses:
    rng = np.random.default_rng(seed)
    matrix = rng.choice(model.classes, size=(n, len(model.annotators)))
    matrix[rng.random(matrix.shape) < missing] = None
    return Responses.from_matrix(matrix, annotators=model.annotators, classes=model.classes)
