"""Past one machine: labels in a Dask or Spark table are fused where they are."""
