"""What a fit can be asked for, by the names that the command line has."""

from typing import Literal

Part = Literal["links", "power", "run-time"]
