"""Do the command line and SNMP mean the same ports? Proved before the first write to a switch, without shutting a port.

Each port gets a description on the command line that no other has; SNMP must show it as ifAlias at the ifIndex that the
port's name led to (`controller.drivers.places`), and nowhere else. Then the descriptions are as before. What was there
is on the disk first, so that a crash loses none: the next proof begins with restoring them. A proof holds as long as
the names lead to the same numbers; it is kept beside the lab's journal.

A switch with one service only needs no proof, and the quirk `ports_proved` stands in for one.
"""

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from eee_testbed.controller.applying.stored import Stored
from eee_testbed.controller.drivers.driver import Describing
from eee_testbed.controller.drivers.makers import SYSTEM, said_of, wrong_maker
from eee_testbed.controller.drivers.mib_rows import names
from eee_testbed.controller.drivers.places import FINDERS, IF_ALIAS, places
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.transports.session import Session
from eee_testbed.lab import durable
from eee_testbed.lab.errors import DeviceError, LabError, PortMismatch
from eee_testbed.lab.model import Switch

_QUIRK: Final = "ports_proved"
PATIENCE_S: Final = 20.0
_POLL_EVERY_S: Final = 0.5


class _Kept(Stored):
    """`proved`: by switch, ifIndex by port. `waiting`: by switch, lines of descriptions that are to be restored."""

    proved: dict[str, dict[str, int]] = Field(default_factory=dict)
    waiting: dict[str, dict[str, str]] = Field(default_factory=dict)


class PortProofs:
    """The proofs of one lab, in a file; threads may share it.

    `say` gets a sentence when a proof begins; `patience_s` is how long SNMP may take to show what was typed.
    """

    def __init__(
        self, path: Path, *, say: Callable[[str], None] = lambda _: None, patience_s: float = PATIENCE_S
    ) -> None:
        self.say = say
        self.patience_s = patience_s
        self.path = path
        self._lock = threading.Lock()
        try:
            self._kept = _Kept.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            self._kept = _Kept()
        except (OSError, ValidationError) as error:
            raise LabError(f"{path} cannot be read: remove it, and the ports are checked again.") from error

    def proved(self, switch: str) -> dict[str, int]:
        """The ifIndex that each port was proved to have; empty without a proof."""
        return self._kept.proved.get(switch, {})

    def waiting(self, switch: str) -> dict[str, str]:
        """Descriptions that a proof replaced, and has not restored."""
        return self._kept.waiting.get(switch, {})

    @property
    def replaced(self) -> dict[str, int]:
        """By switch, how many descriptions a proof that was killed has replaced."""
        return {switch: len(lines) for switch, lines in self._kept.waiting.items() if lines}

    def begin(self, switch: str, lines: dict[str, str]) -> None:
        """Descriptions are about to be replaced."""
        self._write(switch, {}, lines)

    def end(self, switch: str, proved: dict[str, int]) -> None:
        """Descriptions are restored; `proved` empty: nothing was proved."""
        self._write(switch, proved, {})

    def _write(self, switch: str, proved: dict[str, int], waiting: dict[str, str]) -> None:
        with self._lock:
            kept = _Kept(proved={**self._kept.proved, switch: proved}, waiting={**self._kept.waiting, switch: waiting})
            try:
                durable.replace(self.path, kept.model_dump_json(indent=1))
            except OSError as error:
                raise LabError(f"{self.path} could not be written ({error.strerror}): make room there.") from error
            self._kept = kept


def prove_ports(switch: Switch, session: Session, proofs: PortProofs) -> None:
    """Make sure that both services mean the same ports, unless that is known.

    PortMismatch if they do not, or if SNMP does not show descriptions; DeviceError if the switch is of another maker,
    or if descriptions could not be restored.
    """
    driver = driver_of(switch)
    has_agent = switch.snmp_user is not None or bool(switch.community)
    if not isinstance(driver, Describing) or not has_agent or switch.quirks.get(_QUIRK):
        return
    wrong = wrong_maker(switch, *said_of(session.ask([SYSTEM])))
    if wrong:
        raise DeviceError(switch.name, wrong)
    restore_descriptions(switch, session, proofs, driver)
    at = {place.name: place.if_index for place in places(switch, session.ask(FINDERS))}
    if at == proofs.proved(switch.name):
        return
    before = _descriptions(driver, switch, session)
    proofs.say(f"{switch.name}: descriptions prove that SNMP and the command line mean the same {len(before)} ports")
    proofs.begin(switch.name, before)
    nonce = secrets.token_hex(3)
    marks = {port: f"eee-{nonce}-{number}" for number, port in enumerate(before, 1)}
    shown, failure = _try_marks(driver, switch, session, marks, proofs.patience_s)
    try:
        _describe(driver, switch, session, before)
    except DeviceError as error:
        said = (
            f"the proof of its ports broke off ({failure or error}); nothing but descriptions was sent, and the next "
            "apply restores them first."
        )
        raise DeviceError(switch.name, said) from error
    if failure is not None:
        raise failure
    if _descriptions(driver, switch, session) != before:
        raise DeviceError(switch.name, "its ports have other descriptions than before the proof of its ports: compare.")
    proofs.end(switch.name, {})
    _require_shown(switch, at, marks, shown)
    proofs.end(switch.name, at)


def restore_descriptions(switch: Switch, session: Session, proofs: PortProofs, driver: Describing) -> None:
    """Restore descriptions that a proof replaced before it was killed; DeviceError if they do not read back so."""
    left = proofs.waiting(switch.name)
    if not left:
        return
    _describe(driver, switch, session, left)
    if _descriptions(driver, switch, session) != left:
        said = f"descriptions that a proof of its ports replaced do not read back as before: see {proofs.path}."
        raise DeviceError(switch.name, said)
    proofs.end(switch.name, {})


def _try_marks(
    driver: Describing, switch: Switch, session: Session, marks: dict[str, str], patience_s: float
) -> tuple[Mapping[int, str], DeviceError | None]:
    """Type marks as descriptions; what SNMP shows then, and the error that kept this from its end."""
    try:
        _describe(driver, switch, session, {port: f"description {mark}" for port, mark in marks.items()})
        return _shown(switch, session, set(marks.values()), patience_s), None
    except DeviceError as error:
        return {}, error


def _describe(driver: Describing, switch: Switch, session: Session, lines: dict[str, str]) -> None:
    for command in driver.describe(switch, lines):
        session.send(command)


def _shown(switch: Switch, session: Session, marks: set[str], patience_s: float) -> Mapping[int, str]:
    """IfAlias by ifIndex, once it shows all marks, or after the patience: agents may refresh it every few seconds."""
    end_s = time.monotonic() + patience_s
    while True:
        shown = names(switch, IF_ALIAS, session.ask([IF_ALIAS]))
        if marks <= {alias.strip() for alias in shown.values()} or time.monotonic() > end_s:
            return shown
        time.sleep(_POLL_EVERY_S)  # nothing announces that an agent has read its configuration


def _descriptions(driver: Describing, switch: Switch, session: Session) -> dict[str, str]:
    return dict(driver.descriptions(switch, session.ask([driver.description_query])))


def _require_shown(switch: Switch, at: dict[str, int], marks: dict[str, str], shown: Mapping[int, str]) -> None:
    for port, mark in marks.items():
        indices = [index for index, alias in shown.items() if alias.strip() == mark]
        if indices != [at[port]]:
            there = f"at ifIndex {', '.join(map(str, indices))}" if indices else "nowhere"
            raise PortMismatch(
                switch.name,
                "ifAlias",
                f"{port} is ifIndex {at[port]} by its name, and a description typed for it appeared {there}: correct "
                f"`ports` or `bridge_ports` in hosts.yml, or compare by hand and set the quirk {_QUIRK}",
            )
