"""Named datasets with a known truth: from a folder, or downloaded, verified, converted and kept."""

from blindfuse.datasets.loading import Crowd, load, load_features

__all__ = ["Crowd", "load", "load_features"]
