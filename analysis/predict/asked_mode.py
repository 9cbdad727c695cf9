"""The behaviour of links in a what-if question, as draws: times from the calibration, a PHY, or the question.

Every field of the policy and both fractions have shape (draws, 1), so gaps go along the second axis.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from eee_testbed.analysis.calibration import LinkPolicy
from eee_testbed.analysis.interval import Floats
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.links.policies import shares_us
from eee_testbed.analysis.predict.sampling import Sampler
from eee_testbed.analysis.predict.what_if import DEEP_FRACTION, FAST_FRACTION, PHYS, Phy, WhatIf
from eee_testbed.analysis.programs.profile import Direction

_NEVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class AskedMode:
    """A policy, and the fraction of a port's idle power that remains in each kind of low power.

    A fraction of None: as calibrated for the port. `warnings` say where the policy goes beyond measurements.
    `policy.sleep_us` is what a frame waits for at most while a link falls asleep; `sleep_us` is Ts itself, which draws
    full power whether a frame waits for its end or not. Tq and Tr: see `low_power_us`. `card`: the policy of hosts'
    cards, where echoes found a second group of transmitters.

    Simplification: the time in low power is that of ports, also for cards.
    """

    policy: Policy
    deep_fraction: Floats | None
    fast_fraction: Floats | None
    warnings: tuple[str, ...]
    sleep_us: Floats | float = 0.0
    quiet_us: float = _NEVER
    refresh_us: float = 0.0
    card: Policy | None = None

    def policies(self, directions: Iterable[Direction]) -> Mapping[Direction, Policy]:
        """Of the directions of a node's link: its card transmits."""
        card = self.card or self.policy
        return {direction: card if direction == "transmit" else self.policy for direction in directions}

    def low_power_us(self, gap_us: Floats) -> tuple[Floats, Floats]:
        """(deep, fast): time of each gap in either kind of low power, shape (draws, gaps).

        Falling asleep, refreshing and waking draw full power (Andujar 2023, section 2.1; Georgakoudis 2019, Tables II
        to IV, whose saved time is a fraction); a fraction that was calibrated includes refresh, which is therefore low
        power there. While a frame waits for others, the link still sleeps.
        """
        policy = self.policy
        hybrid = ~np.isnan(np.asarray(policy.deep_after_us))
        light_us = np.where(hybrid, policy.deep_after_us, 0.0)
        idle_us = np.maximum(gap_us - policy.hold_us, 0.0)
        fast_us = np.minimum(idle_us, light_us)
        quiet_us = self._without_refresh(np.maximum(idle_us - fast_us - self.sleep_us, 0.0))
        waits = np.where(gap_us - policy.hold_us > light_us, policy.wait_us, 0.0)
        return quiet_us + waits, fast_us

    def _without_refresh(self, low_us: Floats) -> Floats:
        """Quiet within a time in low power: quiet first, then refresh and quiet alternate."""
        if np.isinf(self.quiet_us) or self.refresh_us == 0.0:
            return low_us
        cycle_us = self.quiet_us + self.refresh_us
        whole = np.floor(low_us / cycle_us)
        quiet_us: Floats = whole * self.quiet_us + np.minimum(low_us - whole * cycle_us, self.quiet_us)
        return quiet_us


def asked_mode(what_if: WhatIf, link: LinkPolicy | None, sampler: Sampler) -> AskedMode:
    """Answer for a question; `link` is the fitted policy of the links that the program ran on, None if unknown."""
    if what_if.mode == "off" or (what_if.mode == "measured" and link is not None and link.kind == "off"):
        return AskedMode(Policy(_NEVER, 0.0, 0.0), None, None, ())
    warnings: list[str] = []
    if link is None and not what_if.phy:
        warnings.append("no link's policy was fitted: times are those of the 1000BASE-T standard, not of these links.")
    phy = PHYS[what_if.phy] if what_if.phy else PHYS["1000BASE-T"] if link is None else None
    if what_if.mode == "measured" and phy is None and link is not None:
        card_hold_us = _column(sampler.of("card_hold_us", link.card_hold_us))
        measured, card = _with_card(link, _measured(link, sampler), card_hold_us, sampler)
        return _asked(what_if, measured, None, None, None, _symptom_warnings(link), card)
    hold_us = _hold(what_if, link, sampler, warnings)
    if what_if.mode in ("fast", "hybrid"):
        return _with_fast_wake(what_if, link, phy, hold_us, sampler, warnings)
    sleep_us, wake_us = _deep_times(link, phy, sampler)
    fraction = None if phy is None else np.full((sampler.count, 1), DEEP_FRACTION)
    if phy is not None:
        warnings.append(
            f"Ts, Tw and power asleep are those of {what_if.phy or '1000BASE-T'} ({phy.source}), not measured."
        )
    wait_us = what_if.wait_us or 0.0
    if what_if.mode == "coalescing" and (link is None or link.kind != "coalescing"):
        warnings.append("coalescing was not measured: no link of the calibration waits for more frames.")
    policy = Policy(hold_us, sleep_us, wake_us, wait_us=wait_us, wait_byte=_NEVER if wait_us else 0.0)
    card = None
    if phy is None and link is not None:
        policy, card = _with_card(link, policy, hold_us, sampler)
    return _asked(what_if, policy, fraction, None, phy, warnings, card)


def _asked(
    what_if: WhatIf,
    policy: Policy,
    deep: Floats | None,
    fast: Floats | None,
    phy: Phy | None,
    warnings: Sequence[str],
    card: Policy | None = None,
) -> AskedMode:
    """The mode of a policy with its true Ts; Tq and Tr are a PHY's, where the power in low power is one's too."""
    quiet_us, refresh_us = (_NEVER, 0.0) if phy is None else (phy.quiet_us, phy.refresh_us)
    waited = policy if what_if.sleep_waits else replace(policy, sleep_us=0.0)
    if card is not None and not what_if.sleep_waits:
        card = replace(card, sleep_us=0.0)
    return AskedMode(waited, deep, fast, tuple(warnings), policy.sleep_us, quiet_us, refresh_us, card)


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


def _with_card(link: LinkPolicy, port: Policy, card_hold_us: Floats, sampler: Sampler) -> tuple[Policy, Policy | None]:
    """A port's policy and a card's, where echoes found a second group."""
    if link.card_wake_us is None:
        return port, None
    sleep_us, card_us = (_column(sampler.of(name, getattr(link, name))) for name in ("card_sleep_us", "card_wake_us"))
    port_us: Floats | float = port.wake_us
    if link.path_wake_us is not None:
        path_us = _column(sampler.of("path_wake_us", link.path_wake_us))
        port_us, card_us = shares_us(link, path_us, port_us, card_us)
    return replace(port, wake_us=port_us), Policy(card_hold_us, sleep_us, card_us)


def _symptom_warnings(link: LinkPolicy) -> Sequence[str]:
    return (f"links showed other effects too: {'; '.join(link.symptoms)}",) if link.symptoms else ()


def _hold(what_if: WhatIf, link: LinkPolicy | None, sampler: Sampler, warnings: list[str]) -> Floats:
    hold = None if link is None else link.hold_us
    if what_if.hold_us is None:
        if hold is None:
            warnings.append("the question has no hold and none was fitted: 0 us is assumed.")
        return _column(sampler.of("hold_us", hold))
    if hold is not None and not what_if.phy and not hold.low <= what_if.hold_us <= hold.high:
        warnings.append(
            f"a hold of {what_if.hold_us:g} us was not measured: all other times are those fitted at a hold of "
            f"{hold.value:.4g} us."
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
    deep = np.full((sampler.count, 1), DEEP_FRACTION) if phy is not None else None
    return _asked(what_if, policy, deep, np.full((sampler.count, 1), FAST_FRACTION), phy, warnings)
