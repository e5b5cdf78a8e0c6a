"""The methods that fuse numbers, by name, from the simplest to the one with most parameters."""

from collections.abc import Callable

from blindfuse.numbers.adjusted_mean import adjusted_mean
from blindfuse.numbers.bounded_factor import bounded_factor
from blindfuse.numbers.estimate import Estimate
from blindfuse.numbers.mean import mean
from blindfuse.numbers.median import median
from blindfuse.numbers.one_factor import one_factor
from blindfuse.numbers.robust_factor import robust_factor
from blindfuse.numbers.standardized_mean import standardized_mean
from blindfuse.numbers.table import Numbers
from blindfuse.numbers.trimmed_mean import trimmed_mean
from blindfuse.numbers.upcr import upcr

METHODS: dict[str, Callable[[Numbers], Estimate]] = {
    "mean": mean,
    "trimmed mean": trimmed_mean,
    "median": median,
    "adjusted mean": adjusted_mean,
    "standardized mean": standardized_mean,
    "U-PCR": upcr,
    "bounded factor": bounded_factor,
    "one factor": one_factor,
    "robust factor": robust_factor,
}
