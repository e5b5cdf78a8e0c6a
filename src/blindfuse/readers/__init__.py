"""From a person's files to Responses: one file a format, and ``reading.read`` in front of them."""
