"""How far a fusion can be trusted. One module per question, gathered by ``diagnose``.

The order below is the order of :meth:`Diagnostics.paragraphs`, which ``summary()``, the command
line and the report all read.

==================  ===============================================================
expected_error      What share of the labels is wrong?
items               Which items need another label?
annotators          How accurate is each annotator? Who is flagged?
coverage            How many items does each annotator label, with whom, in conflict with whom?
panel               Who is redundant? Does the panel beat its best member?
dependence          Which annotators have correlated errors?
fit                 Does the model fit the pairwise agreement?
identifiability     Do the responses determine the model (Lemma 1)?
==================  ===============================================================

``visible`` measures what a table shows about its error, and ``calibration`` relates that to the
error of many tables with a truth. ``pairs`` counts the responses of pairs of annotators for
``dependence`` and ``fit``; ``correlated_errors`` is the score test that the selection rule of
``fuse`` uses.
"""
