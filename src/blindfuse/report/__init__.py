"""A self-contained HTML page about a result of any kind.

The page is a list of sections (``blocks``). The module that is named as the ``kind`` of a result
(``labels``, ``sets``, ``numbers``, ``clusters``, ``strengths``) has its ``figures`` and
``sections``, made of ``tables`` and ``charts``; a new kind is a module like ``clusters`` and
``page/help_KIND.html``.
``rendering`` fills the templates in ``page/``.
"""
