"""Errors against a known truth, calibration, and agreement between annotators."""

from blindfuse.metrics.accuracy import (
    Reliability,
    calibration_error,
    confusion_error,
    error_rate,
    log_loss,
    prior_error,
    reliability,
    wilson_interval,
)
from blindfuse.metrics.agreement import (
    Level,
    adjusted_rand_index,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    masi_alpha,
)
from blindfuse.metrics.interval import Bootstrap, Interval

__all__ = [
    "Bootstrap",
    "Interval",
    "Level",
    "Reliability",
    "adjusted_rand_index",
    "calibration_error",
    "cohen_kappa",
    "confusion_error",
    "error_rate",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
    "log_loss",
    "masi_alpha",
    "prior_error",
    "reliability",
    "wilson_interval",
]
