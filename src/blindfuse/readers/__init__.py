"""Read response files into ``Responses``: one module per format, and ``reading.read`` on top."""
