"""A network's facts are the engine's, whatever the order of the form's keys."""

from eee_engine import network_facts

from eee_testbed.simulation.facts import facts_of
from eee_testbed.simulation.networks import Torus


def test_they_are_the_engines() -> None:
    forms = [Torus(kind="torus", radix=radix).form() for radix in ([4, 4], [8])]
    assert [facts_of(form) for form in forms] == [network_facts(form) for form in forms]
    turned = dict(reversed(forms[0].items()))
    assert facts_of(turned) == facts_of(forms[0])
