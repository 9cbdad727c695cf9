"""The hold that saves most of the network's energy without slowing a program down by more than a bound.

Nodes draw power for longer when the program is slower; the change of the energy of network and nodes together is
reported too, as in Andujar et al. (2023), where it decides. Slowdown need not fall with a longer hold
(`predict.prediction`), so holds over the whole range of gaps are tried. If no power was fitted, the hold under which
links sleep longest counts as the one that saves most.
"""

from dataclasses import dataclass, replace

import numpy as np

from eee_testbed.analysis.predict.prediction import Prediction, Predictor
from eee_testbed.analysis.predict.run_time import GapTable
from eee_testbed.analysis.predict.what_if import WhatIf

_TRIED = 60
_DRAWS = 60


@dataclass(frozen=True, slots=True)
class BestPolicy:
    """What a search found: `prediction` of the best hold, or of mode and hold; None: EEE off is best.

    `whole_percent` is the change of the energy of network and nodes together; None if no node's power is known.
    """

    bound_percent: float
    tried: int
    within: int
    prediction: Prediction | None
    whole_percent: float | None = None

    @property
    def surely(self) -> bool:
        """Whether the whole interval of the slowdown is within the bound."""
        prediction = self.prediction
        return prediction is None or prediction.slowdown_percent.high <= self.bound_percent


def holds_us(gaps: GapTable) -> list[float]:
    """Holds to try: 0, and evenly over the logarithm of the gaps."""
    longest_us = gaps.longest_us
    if longest_us <= 0:
        return [0.0]
    kept = np.concatenate([gap[gap > 0] for gap in gaps.gap_us.values()])
    shortest_us = max(min(float(kept.min(initial=longest_us)), longest_us / 10), longest_us / 1e5)
    return [0.0, *np.geomspace(shortest_us, longest_us * 1.05, _TRIED).tolist()]


def best_hold(predictor: Predictor, mode: WhatIf, bound_percent: float) -> BestPolicy:
    """Best hold for the mode of `mode`, whose own hold is ignored. The slowdown's value has to be within the bound."""
    quick = Predictor(predictor.profile, predictor.calibration, predictor.site, draws=_DRAWS)
    tried = [_with_hold(mode, hold_us) for hold_us in holds_us(predictor.gaps)]
    answers = [quick.predict(what_if) for what_if in tried]
    within = [answer for answer in answers if answer.slowdown_percent.value <= bound_percent]
    best = min(within, key=_cost, default=None)
    off = predictor.predict(WhatIf("off", "off"))
    if best is None or _cost(best) >= _cost(off):
        return BestPolicy(bound_percent, len(tried), len(within), None)
    prediction = predictor.predict(best.what_if)
    whole_percent = None
    if prediction.all_joule is not None and off.all_joule is not None:
        whole_percent = 100 * (prediction.all_joule.value / off.all_joule.value - 1)
    return BestPolicy(bound_percent, len(tried), len(within), prediction, whole_percent)


def _with_hold(mode: WhatIf, hold_us: float) -> WhatIf:
    asked = "deep" if mode.mode in ("off", "measured") else mode.mode
    hold_us = float(f"{hold_us:.4g}")
    return replace(mode, mode=asked, hold_us=hold_us, text=f"{asked},hold_us={hold_us:g}")


def _cost(prediction: Prediction) -> float:
    """Joules of the network; if unknown, the share of time in low power, negative."""
    if prediction.network_joule is not None:
        return prediction.network_joule.value
    return -prediction.rest_percent.value
