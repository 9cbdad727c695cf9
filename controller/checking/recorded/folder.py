"""A folder of recordings, judged: every SNMP walk and every recorded show that is found in it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from eee_testbed.controller.checking.recorded.shows import Records, judge_show
from eee_testbed.controller.checking.recorded.strip_walks import judge_strip
from eee_testbed.controller.checking.recorded.switch_walks import judge_switch
from eee_testbed.controller.checking.recorded.verdict import Stated, Verdict
from eee_testbed.controller.checking.recorded.walks import Recorded, read_walk
from eee_testbed.controller.drivers.mib_rows import text_of
from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.lab.plain_text import decoded_lines, one_line
from eee_testbed.lab.untrusted_files import lose, read_yaml

_WALKS: Final = frozenset({".snmprec", ".snmpwalk", ".walk"})
_SHOW: Final = ".raw"
_SYS_DESCR: Final = "1.3.6.1.2.1.1.1.0"
_SHOWN_CHARACTERS: Final = 60  # characters of a description


WalkJudge = Callable[[str, str, Recorded, Stated], Iterator[Verdict]]
"""From a recording's name, its device, its objects and what is stated about it to verdicts."""


def judge_folder(folder: Path, more: Sequence[WalkJudge] = ()) -> Iterator[Verdict]:
    """Verdicts on all recordings below a folder, in the order of their paths; LabError if there is no recording.

    `more` judges walks besides the readers of ports and strips. A file that cannot be read is lost (DamagedPart).
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix in _WALKS | {_SHOW} and path.is_file())
    if not files:
        raise LabError(
            f"{folder} holds no recording: give a folder with snmprec files, outputs of `snmpwalk -On` (.snmpwalk), or "
            "PLATFORM/COMMAND/NAME.raw with NAME.yml beside it."
        )
    for path in files:
        name = one_line(str(path.relative_to(folder)))
        try:
            text = decoded_lines(path.read_bytes())
        except OSError as error:
            lose(path, 0, f"this recording is left out, as it cannot be read ({error.strerror})")
            continue
        beside = _beside(path)
        if path.suffix == _SHOW:
            where = path.resolve()  # the folder may be given from inside
            yield from judge_show(name, where.parent.parent.name, where.parent.name, text, _records(beside))
        else:
            yield from _judge_walk(name, read_walk(text), _stated(path, beside), more)


def _judge_walk(name: str, recorded: Recorded, stated: Stated, more: Sequence[WalkJudge]) -> Iterator[Verdict]:
    device = _device(recorded)
    if recorded.named or not recorded.objects:
        said = f"it has objects by name ({recorded.named})" if recorded.named else "it has no object"
        yield Verdict(name, device, "walk", "unread", f"{said}: record it with `snmpwalk -On`")
        return
    verdicts = [*judge_switch(name, device, recorded), *judge_strip(name, recorded, stated)]
    for judge_more in more:
        verdicts += judge_more(name, device, recorded, stated)
    yield from verdicts or [Verdict(name, device, "walk", "unread", "it has neither ports nor a strip that is known")]


def _device(recorded: Recorded) -> str:
    description = " ".join(text_of(recorded.objects.get(_SYS_DESCR, b"unnamed")).split())
    return description[:_SHOWN_CHARACTERS]


def _beside(path: Path) -> object:
    """The content of NAME.yml beside a recording; None without it, or if it cannot be read (DamagedPart)."""
    beside = path.with_suffix(".yml")
    if not beside.exists():
        return None
    try:
        return read_yaml(beside, "record it again") or {}
    except UnreadableFile as error:
        lose(beside, error.line, f"it is left out: it {error.sentence}")
        return None


def _records(beside: object) -> Records | None:
    """What the recording's collector read of it; None if nobody did."""
    records = beside.get("parsed_sample") if isinstance(beside, dict) else None
    return records if isinstance(records, list) else None


def _stated(path: Path, beside: object) -> Stated:
    """What a person states about a walk, below `expected`; empty if nothing."""
    stated = {} if beside is None else beside.get("expected", {}) if isinstance(beside, dict) else None
    if not isinstance(stated, dict) or not all(isinstance(part, dict) for part in stated.values()):
        raise LabError(
            f"{path.with_suffix('.yml')} states nothing: write `expected:`, and `strip:` or `counters:` below it."
        )
    return stated
