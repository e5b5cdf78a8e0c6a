"""Fusing ratings on a numeric scale: one estimate per item, with an interval.

- ``table``: ``Numbers``, the ratings in compressed rows
- ``canonical``: an order of items and annotators that depends on the ratings only
- ``rule``: baseline, model, and how far the model may go, from what the ratings show
- ``agreement``: each rating against the others of its item, and the intraclass correlation
- ``scales``: annotators on other scales, standardised ratings, and gold values
- ``estimate``: the methods, what they return, and the noise of a rating by value
- ``factor_model``: the one-factor model and its EM
- ``copying``: annotators whose errors are correlated
- ``fuse_numbers``: the call that users make
"""
