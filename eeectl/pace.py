"""A person waits in real time, also for a virtual lab with a clock of its own.

A study's budget is the wall's time. While a study that was interrupted restores a slow lab, that goes at the wall's
pace: what is being measured is lost anyway, and at 1/250 a restore of a few lab seconds would take minutes. A lab that
sets its own rate knows that a study measures there, so it goes in real time between trials. A rack, and a lab
without a clock of its own, are left alone.
"""

import contextlib
import os
from dataclasses import dataclass, field
from fractions import Fraction

from eee_engine import read_lab_clock

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.lab import lifecycle as labs


@dataclass
class Pace:
    """The pace of a lab, by its name."""

    lab: str
    _before: str = field(default="", init=False)

    def work(self) -> None:
        """Until this process ends, a lab that sets its own rate goes in real time between trials."""
        with contextlib.suppress(LabError):  # no virtual lab
            labs.order(self.lab, "work", process=os.getpid())

    def wall_s(self) -> float:
        """The wall's monotonic time, s."""
        return labs.wall_s(self.lab)

    def hurry(self) -> None:
        """Go in real time if the lab is slower."""
        try:
            rate, _, _ = read_lab_clock(labs.clock_page(self.lab))
            if Fraction(rate) < 1:
                automatic = labs.automatic_rate(self.lab)
                labs.set_rate(self.lab, "1")
                self._before = automatic or rate
        except LabError:
            return  # no virtual lab, or none with a clock: nothing to hurry

    def restore(self) -> None:
        """Go at the pace before, if that was changed; LabError if the lab is gone."""
        if self._before:
            labs.set_rate(self.lab, self._before)
            self._before = ""
