"""A self-contained HTML page about a result of any kind.

The page is a list of sections (``blocks``). The module of a kind of result (``labels``, ``sets``,
``numbers``, ``clusters``) has its ``figures`` and ``sections``; a new kind is a module like
``numbers``, a line in ``rendering.KINDS`` and a template ``page/help_KIND.html``. Tables and charts
share rows and their ``Field``s. ``charts`` draws, and ``rendering`` fills the templates in
``page/``.
"""
