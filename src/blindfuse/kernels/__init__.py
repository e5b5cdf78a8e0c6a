"""Compiled loops (Numba, cached on disk): arrays in, arrays out; no names and no objects.

All kernels release the GIL, so that threads can work on blocks of items or on groups of annotators
in parallel.

- ``compilation``: decorators that compile kernels, and instructions that Numba does not offer
- ``cache``: machine code of kernels on disk
- ``vectors``: one row of class probabilities, in registers or in memory
- ``threads``: splits loops among threads
- ``sorting``: sorts responses into rows by counting
- ``hash_codes``: integer codes for hashed values
- ``moment_counts``: counts of responses, pairs and triples of responses
- ``sweeps``: one sweep of Algorithm 1
- ``posteriors``: posteriors of items and expected counts of annotators
- ``glad``: posteriors and parameter steps of GLAD
- ``pairs``: responses of pairs of annotators, compared with a model
- ``ratings``: hashes, centres and the E-step of ratings on a numeric scale
"""
