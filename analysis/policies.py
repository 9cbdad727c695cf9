"""From what a calibration says of a link to the policy that delays are computed with."""

from analysis.calibration import Estimate, LinkPolicy
from analysis.path_delay import Policy


def policy_of(link: LinkPolicy) -> Policy:
    """The policy of one transmitter, at the estimates' values. One that never slept never sleeps."""
    if link.kind == "off":
        return Policy(float("inf"), 0.0, 0.0)
    hybrid, coalescing = link.kind == "hybrid", link.kind == "coalescing"
    return Policy(
        hold_us=_value(link.hold_us),
        sleep_us=_value(link.sleep_us),
        wake_us=_value(link.wake_us),
        fast_wake_us=_value(link.fast_wake_us) if hybrid else 0.0,
        deep_after_us=_value(link.deep_after_us) if hybrid else float("nan"),
        wait_us=_value(link.wait_us) if coalescing else 0.0,
        wait_byte=float("inf") if coalescing else 0.0,
    )


def _value(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else estimate.value
