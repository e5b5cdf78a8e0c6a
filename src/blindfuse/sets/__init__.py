"""Responses that are sets of classes, as in multi-label annotation."""
