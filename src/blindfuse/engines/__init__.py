"""Distributed engines: fit models and label items in a Dask or Spark table, on its workers."""
