"""What was measured about a fusion, as plain dataclasses with a ``summary()`` in words."""

from blindfuse.diagnostics.diagnosis import Diagnostics, diagnose

__all__ = ["Diagnostics", "diagnose"]
