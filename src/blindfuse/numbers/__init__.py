"""Fusing ratings on a numeric scale: one estimate per item, with an interval.

- ``table``: ``Numbers``, the ratings in compressed rows
- ``canonical``: an order of items and annotators that depends on the ratings only
- ``rule``: baseline, model, and how far the model may go, from what the ratings show
- ``leave_one_out``: each rating against the others of its item
- ``scales``: annotators on other scales, and ratings standardised per annotator
- ``estimate``: the methods, what they return, and the noise of a rating by value
- ``factor_model``: the one-factor model and its EM; ``one_factor``: on streams
- ``copying``: annotators whose errors are correlated
- ``fuse_numbers``: the call that users make
"""
