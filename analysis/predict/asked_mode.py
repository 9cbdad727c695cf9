"""The behaviour of links in a what-if question, as draws: times from the calibration, a PHY, or the question.

Every field of the policy and both fractions have shape (draws, 1), so gaps go along the second axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from analysis.calibration import LinkPolicy
from analysis.interval import Floats
from analysis.links.path_delay import Policy
from analysis.predict.sampling import Sampler
from analysis.predict.what_if import PHYS, Phy, WhatIf

_NEVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class AskedMode:
    """A policy, and the fraction of a port's idle power that remains in each kind of low power.

    A fraction of None: as calibrated for the port. `warnings` say where the policy goes beyond measurements.
    """

    policy: Policy
    deep_fraction: Floats | None
    fast_fraction: Floats | None
    warnings: tuple[str, ...]

    def low_power_us(self, gap_us: Floats) -> tuple[Floats, Floats]:
        """(deep, fast): time of each gap in either kind of low power, shape (draws, gaps).

        Falling asleep and waking draw full power (Andujar 2023, section 2.1; Georgakoudis 2019, Table II). While a
        frame waits for others, the link still sleeps.
        """
        policy = self.policy
        hybrid = ~np.isnan(np.asarray(policy.deep_after_us))
        light = np.where(hybrid, policy.deep_after_us, 0.0)
        late = gap_us - policy.hold_us
        fast = np.where(hybrid, np.clip(late, 0.0, light), 0.0)
        deep = np.maximum(late - light - policy.sleep_us, 0.0)
        waits = np.where(late - light > 0, policy.wait_us, 0.0)
        return deep + waits, fast


def asked_mode(what_if: WhatIf, link: LinkPolicy | None, sampler: Sampler) -> AskedMode:
    """Answer for a question; `link` is the fitted policy of the links that the program ran on, None if unknown."""
    if what_if.mode == "off" or (what_if.mode == "measured" and link is not None and link.kind == "off"):
        return AskedMode(Policy(_NEVER, 0.0, 0.0), None, None, ())
    warnings: list[str] = []
    if link is None and not what_if.phy:
        warnings.append("no link's policy was fitted: times are those of the 1000BASE-T standard, not of these links.")
    phy = PHYS[what_if.phy] if what_if.phy else PHYS["1000BASE-T"] if link is None else None
    if what_if.mode == "measured" and phy is None and link is not None:
        return AskedMode(_measured(link, sampler), None, None, tuple(_symptom_warnings(link)))
    hold_us = _hold(what_if, link, sampler, warnings)
    if what_if.mode in ("fast", "hybrid"):
        return _with_fast_wake(what_if, link, phy, hold_us, sampler, warnings)
    sleep_us, wake_us = _deep_times(link, phy, sampler)
    fraction = None if phy is None else np.full((sampler.count, 1), phy.deep_fraction)
    if phy is not None:
        warnings.append(
            f"Ts, Tw and power asleep are those of {what_if.phy or '1000BASE-T'} ({phy.source}), not measured."
        )
    wait_us = what_if.wait_us or 0.0
    if what_if.mode == "coalescing" and (link is None or link.kind != "coalescing"):
        warnings.append("coalescing was not measured: no link of the calibration waits for more frames.")
    policy = Policy(hold_us, sleep_us, wake_us, wait_us=wait_us, wait_byte=_NEVER if wait_us else 0.0)
    return AskedMode(policy, fraction, None, tuple(warnings))


def _column(samples: Floats) -> Floats:
    return samples[:, None]


def _measured(link: LinkPolicy, sampler: Sampler) -> Policy:
    hybrid, coalescing = link.kind == "hybrid", link.kind == "coalescing"
    sleep_us, wake_us = _deep_times(link, None, sampler)
    return Policy(
        _column(sampler.of("hold_us", link.hold_us)),
        sleep_us,
        wake_us,
        _column(sampler.of("fast_wake_us", link.fast_wake_us)) if hybrid else 0.0,
        _column(sampler.of("deep_after_us", link.deep_after_us)) if hybrid else float("nan"),
        _column(sampler.of("wait_us", link.wait_us)) if coalescing else 0.0,
        _NEVER if coalescing else 0.0,
    )


def _symptom_warnings(link: LinkPolicy) -> Sequence[str]:
    return (f"links showed other effects too: {'; '.join(link.symptoms)}",) if link.symptoms else ()


def _hold(what_if: WhatIf, link: LinkPolicy | None, sampler: Sampler, warnings: list[str]) -> Floats:
    known = None if link is None else link.hold_us
    if what_if.hold_us is None:
        if known is None:
            warnings.append("the question has no hold and none was fitted: 0 us is assumed.")
        return _column(sampler.of("hold_us", known))
    if known is not None and not what_if.phy and not known.low <= what_if.hold_us <= known.high:
        warnings.append(
            f"a hold of {what_if.hold_us:g} us was not measured: all other times are those fitted at a hold of "
            f"{known.value:.4g} us."
        )
    return np.full((sampler.count, 1), what_if.hold_us)


def _deep_times(link: LinkPolicy | None, phy: Phy | None, sampler: Sampler) -> tuple[Floats, Floats]:
    if phy is not None or link is None:
        times = phy or PHYS["1000BASE-T"]
        return np.full((sampler.count, 1), times.sleep_us), np.full((sampler.count, 1), times.wake_us)
    return _column(sampler.of("sleep_us", link.sleep_us)), _column(sampler.of("wake_us", link.wake_us))


def _with_fast_wake(
    what_if: WhatIf, link: LinkPolicy | None, phy: Phy | None, hold_us: Floats, sampler: Sampler, warnings: list[str]
) -> AskedMode:
    """Fast wake alone never sleeps deeply. Its times are those of a PHY unless these links were measured with it."""
    fast_us: Floats
    times = phy if phy is not None and not np.isnan(phy.fast_wake_us) else PHYS["100GBASE-R"]
    if phy is None and link is not None and link.fast_wake_us is not None:
        fast_us = _column(sampler.of("fast_wake_us", link.fast_wake_us))
    else:
        name = what_if.phy or "100GBASE-R"
        warnings.append(f"fast wake is that of {name} ({times.source}); these links were not measured with it.")
        fast_us = np.full((sampler.count, 1), times.fast_wake_us)
    sleep_us, wake_us = _deep_times(link, phy, sampler)
    after_us = what_if.deep_after_us if what_if.deep_after_us is not None else _NEVER
    policy = Policy(hold_us, sleep_us, wake_us, fast_us, after_us)
    deep = np.full((sampler.count, 1), phy.deep_fraction) if phy is not None else None
    return AskedMode(policy, deep, np.full((sampler.count, 1), times.fast_fraction), tuple(warnings))
