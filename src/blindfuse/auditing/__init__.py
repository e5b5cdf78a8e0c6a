"""Audits: what a few checked labels say about all labels."""
