"""The likelihood of counts whose probabilities have a Dirichlet distribution.

With SciPy's ``gammaln`` it takes ten to twenty times as long, and with a logarithm that is not
vectorised five times, which is a tenth of Dawid–Skene on 5·10⁶ responses of 500 annotators.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from blindfuse.kernels.compilation import inlined, kernel

SHIFT = 7
"""How far an argument of log Γ is raised before Stirling's series, which then has 15 digits."""
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
"""The bits of √½: a number is split into a power of two and a factor between √½ and √2."""
LN_2, LN_2_REST = 0.693147180369123816490, 1.90821492927058770002e-10
"""The logarithm of two: its leading 32 bits and the remainder."""


@kernel
def log_rising_factorials(counts, shares, strength):
    """Return Σ log Γ(n + t p) / Γ(t p) over cells.

    ``counts[cell]`` is n and ``shares[cell]`` is p; ``strength`` is t.
    """
    log_sum = 0.0
    for cell in range(counts.size):
        n, x = counts[cell], strength * shares[cell]
        log_sum += _stirling_ratio(x, n) - n - logarithm(_product_ratio(x, n))
    return log_sum


@inlined
def _product_ratio(x, n):
    """Γ(x + n + SHIFT) Γ(x) / (Γ(x + n) Γ(x + SHIFT))."""
    raised, plain = 1.0, 1.0
    for i in range(SHIFT):
        raised *= x + n + i
        plain *= x + i
    return raised / plain


@inlined
def _stirling_ratio(x, n):
    """log Γ(x + n + SHIFT) / Γ(x + SHIFT) + n, without a difference of large numbers."""
    low, high = x + SHIFT, x + n + SHIFT
    logs = (low - 0.5) * logarithm(high / low) + n * logarithm(high)
    return logs + _stirling_rest(high) - _stirling_rest(low)


@inlined
def _stirling_rest(x):
    """log Γ(x) − (x − ½) log x + x − ½ log 2π."""
    r = 1.0 / x
    z = r * r
    series = 1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360 - z / 156)))
    return r * (1 / 12 - z * (1 / 360 - z * series))


@intrinsic
def bits_of(typing_context: Any, number: Any) -> Any:
    """Return the 64 bits of a float as an integer."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def float_of(typing_context: Any, bits: Any) -> Any:
    """Return the float with these 64 bits."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@inlined
def logarithm(x):
    """Return log x of a normal positive number without a function call, so that it vectorises.

    With x = 2^e f and s = (f − 1) / (f + 1): log x = e log 2 + 2 (s + s³/3 + s⁵/5 + …).
    """
    bits = bits_of(x)
    exponent = (bits - SQRT_HALF_BITS) >> 52
    factor = float_of(bits - (exponent << 52))
    s = (factor - 1.0) / (factor + 1.0)
    z = s * s
    series = 1 / 21
    for n in range(19, 1, -2):
        series = series * z + 1 / n
    return exponent * LN_2 + (exponent * LN_2_REST + 2.0 * s * (1.0 + z * series))
