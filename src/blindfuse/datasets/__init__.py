"""Public datasets with true labels: from a local folder, or downloaded, verified and cached."""

from blindfuse.datasets.loading import Crowd, load, load_features

__all__ = ["Crowd", "load", "load_features"]
