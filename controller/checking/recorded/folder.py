"""A folder of recordings, judged: every SNMP walk and every recorded show that is found in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from controller.checking.recorded.shows import Records, judge_show
from controller.checking.recorded.strip_walks import judge_strip
from controller.checking.recorded.switch_walks import judge_switch
from controller.checking.recorded.verdict import Verdict
from controller.checking.recorded.walks import Recorded, read_walk
from controller.drivers.mib_rows import text_of
from lab.errors import LabError

_WALKS: Final = frozenset({".snmprec", ".snmpwalk", ".walk"})
_SHOW: Final = ".raw"
_SYS_DESCR: Final = "1.3.6.1.2.1.1.1.0"
_SHOWN: Final = 60  # characters of a description


def judge_folder(folder: Path) -> Iterator[Verdict]:
    """Verdicts on all recordings below a folder, in the order of their paths; LabError if there is no recording."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in _WALKS | {_SHOW} and path.is_file())
    if not files:
        raise LabError(
            f"{folder} holds no recording: give a folder with snmprec files, outputs of `snmpwalk -On` (.snmpwalk), or "
            "PLATFORM/COMMAND/NAME.raw with NAME.yml beside it."
        )
    for path in files:
        name = str(path.relative_to(folder))
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == _SHOW:
            yield from judge_show(name, path.parent.parent.name, path.parent.name, text, _records(path))
        else:
            recorded = read_walk(text)
            yield from judge_switch(name, _device(recorded), recorded)
            yield from judge_strip(name, recorded)


def _device(recorded: Recorded) -> str:
    words = " ".join(text_of(recorded.objects.get(_SYS_DESCR, b"unnamed")).split())
    return words[:_SHOWN]


def _records(path: Path) -> Records:
    """What the recording's collector read of it; empty without it."""
    beside = path.with_suffix(".yml")
    try:
        content = YAML(typ="safe").load(beside.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, YAMLError) as error:
        raise LabError(f"{beside} cannot be read: {' '.join(str(error).split())[:200]}") from error
    records = content.get("parsed_sample") if isinstance(content, dict) else None
    return records if isinstance(records, list) else []
