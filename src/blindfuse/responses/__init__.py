"""Responses: the table of what annotators reported, as integer codes with the names beside."""
