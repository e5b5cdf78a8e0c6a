"""Model: confusion matrices and class prior, posteriors from them, and how they are saved."""
