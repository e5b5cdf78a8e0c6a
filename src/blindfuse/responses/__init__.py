"""The table of responses, as integer codes with names."""
