"""Sample moments of the responses, and sufficient statistics for streaming fits."""
