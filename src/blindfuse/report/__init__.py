"""A self-contained HTML page about a fusion.

``contents`` gathers the numbers and sentences as dataclasses, ``charts`` makes Vega-Lite charts of
them, and ``rendering`` fills the template in ``page/``.
"""
