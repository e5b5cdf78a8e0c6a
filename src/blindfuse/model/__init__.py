"""The model (confusion matrices and class prior), posteriors under it, and saved files."""
