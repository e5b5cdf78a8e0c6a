"""Fusing ratings on a numeric scale: one estimate per item, with an interval.

- ``table``: ``Numbers``, the ratings in compressed rows
- ``canonical``: an order of items and annotators that depends on the ratings only
- ``estimate``: what a method returns
- ``annotator_fit``: bias, scale and noise of annotators, shrunk towards the crowd
- ``mean``, ``median``, ``trimmed_mean``, ``adjusted_mean``, ``standardized_mean``, ``one_factor``,
  ``robust_factor``, ``upcr``: one module per method, listed in ``registry``
- ``factor_em``, ``factor_statistics``, ``factor_stream``: EM of the one-factor model, by statistics
  that add up over partitions and batches
- ``held_out``, ``selection``: which method predicts ratings that were held out
- ``copying``: annotators whose errors are correlated
- ``scales``: annotators that use another scale than the others
- ``fuse_numbers``: the call that users make
"""
