"""Compiled loops (Numba, cached on disk): arrays in, arrays out; no names and no objects.

All kernels release the GIL, so that threads can work on blocks of items or on groups of annotators
in parallel.

- ``compilation``: decorators that compile kernels and keep their machine code on disk
- ``vectors``: rows of a few numbers in registers
- ``threads``: splits loops among threads
- ``tables``: sorting into rows, codes of names, and hashes of the content
- ``counts``: counts of responses, pairs and triples of responses
- ``sweeps``: one sweep of Algorithm 1
- ``posteriors``: posteriors of items and expected counts of annotators
- ``glad``: posteriors and parameter steps of GLAD
- ``ratings``: hashes, centres and the E-step of ratings on a numeric scale
"""
