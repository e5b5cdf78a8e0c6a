"""Methods of the literature that only comparisons use."""
