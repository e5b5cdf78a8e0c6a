"""Pairwise comparisons: rank items by judges of unequal reliability.

- ``table``: ``Comparisons``, what judges said about pairs of items; ``winners``: what a winner is
- ``model``: Bradley–Terry with ties, and a slope, a position bias and a tie rate per judge
- ``rule``: plain Bradley–Terry, or judge effects if they predict left-out comparisons better
- ``uncertainty``: covariance of the strengths, clustered; ranks and tiers
- ``judges``: the judges, with intervals and flags
- ``fuse_pairs``, ``ranking``: the way in, and the result; ``next_pairs``: what to compare next
"""
