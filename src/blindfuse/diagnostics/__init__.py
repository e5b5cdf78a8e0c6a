"""What was measured about a fusion, as plain dataclasses with a ``summary()`` in words."""
