"""A self-contained HTML page about a result of any kind.

The page is a list of sections (``blocks``). Modules named for what they show (``labels``, ``sets``,
``numbers``, ``clusters``, ``annotators``, ``items``, ``dependence``, ``checks``) make sections of a
result, with charts by the helpers of ``charts``. ``rendering`` fills the templates in ``page/``.
"""
