"""How far a fusion can be trusted. One module per question, gathered by ``diagnose``.

The order below is the order of :meth:`Diagnostics.paragraphs`, which ``summary()``, the command
line and the report all read.

==================  ===============================================================
expected_error      What share of the labels is wrong?
information         Do annotators agree beyond chance?
class_shares        What share of the items belongs to each class?
items               Which labels could one more response change?
annotators          How accurate is each annotator? Who is flagged?
coverage            How many items does each annotator label, with whom, in conflict with whom?
dependence          Which annotators have correlated errors?
fit                 Does the model fit, and do the responses determine it (Lemma 1)?
==================  ===============================================================

``pairs`` counts the responses of pairs of annotators for ``dependence`` and ``fit``, and chooses
the items of large tables that are looked at.
"""
