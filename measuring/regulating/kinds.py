"""How links are chosen, and how a program's traffic is counted, by the names that the command line has."""

from typing import Literal

Method = Literal["koibuchi", "least", "both"]
Source = Literal["messages", "counters"]
