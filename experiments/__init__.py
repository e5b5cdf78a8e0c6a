"""The paper's experiments: run ``python -m experiments`` in a clone of the repository."""
