"""Algorithm 1: joint moment matching by alternating optimisation with an inner ADMM."""
