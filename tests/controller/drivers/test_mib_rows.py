"""Text of SNMP agents is safe to show once it was read: LLDP's names, descriptions, outlets."""

from hypothesis import given, settings
from hypothesis import strategies as st

from eee_testbed.controller.checking.neighbours import as_text
from eee_testbed.controller.drivers.mib_rows import text_of
from eee_testbed.controller.strips.columns import text_at
from eee_testbed.lab.errors import Rejected, Unreadable
from eee_testbed.lab.plain_text import is_safe

_OCTETS = st.binary(max_size=40) | st.lists(
    st.sampled_from([b"\x1b[2J", b"\n", b"\0", b"\xc2\x9b", "\u202e".encode(), b"\xed\xa0\x80", b"sw1"])
).map(b"".join)


@settings(deadline=None)
@given(_OCTETS)
def test_octets_become_safe_text(octets: bytes) -> None:
    assert is_safe(text_of(octets))
    assert is_safe(as_text(octets))
    assert is_safe(text_at({"1.3": octets}, "1.3"))


@settings(deadline=None)
@given(_OCTETS)
def test_what_a_device_answered_is_a_single_line_of_an_error(octets: bytes) -> None:
    said = octets.decode("utf-8", "replace")
    for error in (Rejected("sw1", "show", said), Unreadable("sw1", "show", said)):
        assert is_safe(str(error))
