"""Algorithm 1: joint moment matching by alternating optimisation with an inner ADMM (AO-ADMM).

The paper is Traganitis, Pagès-Zamora and Giannakis (2018), "Blind multiclass ensemble
classification". `experiments/numpy_algorithm1.py` in the repository is Algorithm 1 in plain
NumPy, the best companion to the paper. This package computes the same updates faster, and also
without forming the moments; `docs/method.md` derives the sums.

Key to the paper. Axes are named by their index: m, m', m'' are annotators, a, b, c reported
symbols, and k, l true classes. Quantities of :mod:`blindfuse.kernels.sweeps` are marked with *.

================  =================================  ==================  =======================
paper             variable                           shape               equation
================  =================================  ==================  =======================
N, M, K           ``n_items``, ``M``, ``K``          scalars             Section II
f_m(x_n)          ``responses``                      table [n, m]        Section II
Γ_m               ``Factors.confusions[m]``          [a, k]              (8)
π                 ``Factors.prior``                  [k]                 (10)
Π                 multiplication by ``prior``        diagonal [k, k]     (14)
μ_m               ``Moments.first[m]``               [a]                 (17), (25a)
S_mm'             ``Moments.second[pair]``           [a, b]              (18), (25b)
T_mm'm''          ``Moments.third[triple]``          [a, b, c]           (19), (25c)
S_mm' unfolded    ``MomentProblem.second[m]``        [a, (m', b)]        (23)
T^(1)_mm'm''      ``MomentProblem.third[m]``         [a, (pair, b, c)]   (1a), (23)
h_N               ``Problem.sweep(…)``, returned     scalar              (21)
ν                 ``Settings.proximal`` · λ          scalar              (22), (23)
λ                 ``penalty``* = tr(G)/K             scalar              (30), (35)
I                 ``Settings.inner``                 scalar              Appendix A
Δ_mᵀ              ``Factors.duals[m]``               [k, a]              (35), (38)
δ                 ``Factors.prior_dual``             [k]                 (30), (33)
Φ, φ              ``free``*                          [k, a] or [k, 1]    (31), (36)
P_m = Γ_mᵀ Γ_m    ``grams[m]``*                      [k, l]              below (33)
K_m'm             ``products``*                      [k, (pair, b, c)]   below (31)
left-hand side    ``gram``* = G                      [k, l]              (31), (36)
right-hand side   ``target``* = B                    [k, a] or [k, 1]    (31), (36)
P̂                 ``columns``                        [k]                 Algorithm 1, step 12
================  =================================  ==================  =======================

Steps of Algorithm 1: step 1 counts the moments (:mod:`blindfuse.moments.counts`), step 2 is
``_starts`` in :mod:`~blindfuse.solver.solve`, steps 3 to 11 are
:mod:`~blindfuse.solver.alternate`. One sweep is steps 4 to 9: it solves (23) for each Γ_m by the
ADMM iteration (36)–(38), then (22) for π by (31)–(33). Step 12 is
:mod:`blindfuse.model.alignment`.

Departures from the paper, each one optional unless noted: moments are weighted by numbers of
items (``weights``); the start is the majority vote (``start``); sweeps are accelerated
(``acceleration``) and stop at the level of sampling noise (``tolerance``). Always: the prior is
held during the first sweeps, and a block update that would increase the objective is rejected.
"""
