"""Distributed engines: fit models and label items in a Dask or Spark table, on its workers.

- ``fitting``: ``fit`` and ``predict``, the same for all engines
- ``dask``, ``spark``: how an engine maps a function over its partitions and sums the results
- ``arrow``: what labels stand for, and the work on one partition
"""
