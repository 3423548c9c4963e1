"""Hypothesis: the same examples in every run, whatever the machine is doing meanwhile."""

from hypothesis import HealthCheck, settings

# A deadline and the check of slow generation measure the load of the machine, not the code.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")
