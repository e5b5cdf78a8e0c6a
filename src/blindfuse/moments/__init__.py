"""Sample moments of the responses, and the sufficient statistics that streams keep."""
