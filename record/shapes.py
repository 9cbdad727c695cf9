"""What a run's folder may hold, checked where it is read: a folder may be damaged, or come from a stranger.

Only what readers rely on is checked: presence and type of the facts that they use. Other facts are kept as they are, so
that another version may record more. All numbers are finite, and all text is safe to show (`lab.plain_text`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from eee_testbed.lab.json_text import parse_object
from eee_testbed.record.clock_offsets import Method
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import Batch, Kind, Table
from eee_testbed.record.trial_events import TrialState, What

LONGEST_NS: Final = 1 << 61
"""146 years: times and sums of two of them fit into 64 bits."""

_MOST_ROWS: Final = 1_000_000
_INT64: Final = 1 << 63

Time = Annotated[int, Field(ge=-LONGEST_NS, le=LONGEST_NS)]
Count = Annotated[int, Field(ge=0, lt=1 << 31)]
Level = str | bool | int | float


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


class _Event(_Shape):
    time_ns: Time
    kind: str


class _SourceEvent(_Event):
    source: str
    why: str = ""


class _TrialBegun(_Event):
    trial: Count
    slot: Count = 0
    block: Count
    repetition: Count
    levels: dict[str, Level]
    what: What
    program: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    hosts: list[str] = Field(default_factory=list)
    ranks_per_host: Count = 0
    wall_s: float | None = None


class _Figure(_Shape):
    name: str
    value: float
    unit: str


class _TrialEnded(_Event):
    trial: Count
    state: TrialState
    why: str
    begun_ns: Time
    ended_ns: Time
    answer_right: bool | None = None
    figures: list[_Figure] = Field(default_factory=list)
    loop_ns: Annotated[list[Time], Field(min_length=2, max_length=2)] | None = None
    wall_s: float | None = None

    @model_validator(mode="after")
    def _ends_after_it_began(self) -> Self:
        for began_ns, ended_ns in ((self.begun_ns, self.ended_ns), self.loop_ns or (0, 1)):
            if ended_ns < began_ns or (ended_ns == began_ns and self.state == "valid"):
                raise ValueError("it ends before it begins, or takes no time")
        return self


class _TrialNote(_Event):
    trial: Count
    note: str


class _Actuation(_Event):
    what: str
    link: str
    after: Level
    begun_ns: Time | None = None
    ended_ns: Time | None = None


class _Settings(_Shape):
    admin_up: bool | None
    speed_mbps: int | None
    eee: bool | None
    hold_us: float | None = None


class _PortsSet(_Event):
    ports: dict[str, dict[str, _Settings]]


class _LoopEpoch(_Event):
    epoch: Count
    active: Count
    links: dict[str, list[str]]
    busiest_share: float | None
    slowdown: float | None
    backs_off: bool
    undecided: str


class _LoopDecided(_Event):
    link: str
    after: str
    why: str


class _Why(_Event):
    why: str


class _ClockJump(_Event):
    jump_ns: Time


_EVENTS: Final[Mapping[str, type[_Event]]] = {
    EventKind.SOURCE_FAILED: _SourceEvent,
    EventKind.SOURCE_GAVE_UP: _SourceEvent,
    EventKind.SOURCE_RECOVERED: _SourceEvent,
    EventKind.SWITCH_RESTARTED: _SourceEvent,
    EventKind.METER_FROZEN: _SourceEvent,
    EventKind.METER_RECOVERED: _SourceEvent,
    EventKind.COUNTERS_MISSING: _SourceEvent,
    EventKind.CLOCK_UNKNOWN: _SourceEvent,
    EventKind.CLOCK_JUMP: _ClockJump,
    EventKind.TRIAL_BEGUN: _TrialBegun,
    EventKind.TRIAL_ENDED: _TrialEnded,
    EventKind.TRIAL_NOTE: _TrialNote,
    EventKind.ACTUATION: _Actuation,
    EventKind.PORTS_SET: _PortsSet,
    EventKind.LOOP_EPOCH: _LoopEpoch,
    EventKind.LOOP_DECIDED: _LoopDecided,
    EventKind.LOOP_UNDECIDED: _Why,
    EventKind.LOOP_REFUSED: _Why,
}


def _begun(text: str) -> str:
    datetime.fromisoformat(f"{text}+00:00")
    return text


class _Offset(_Shape):
    source: str
    method: Method
    time_ns: Time
    offset_ns: Time
    bound_ns: Annotated[int, Field(ge=0, le=LONGEST_NS)]
    consistent: bool


class _Factor(_Shape):
    kind: str | None = None
    levels: list[Any] = Field(default_factory=list)
    links: str | list[str | int] = Field(default_factory=list)


class _Experiment(_Shape):
    name: str = ""
    blocks: Count | None = None
    factors: dict[str, _Factor] = Field(default_factory=dict)


class _Facts(_Shape):
    name: str
    state: str
    begun: Annotated[str, AfterValidator(_begun)]
    clock: list[dict[str, Any]]
    clocks: list[_Offset]
    what: str = ""
    lab: str = ""
    lab_folder: str = ""
    lab_digest: str = ""
    slot_count: Count = 0
    versions: dict[str, Any] = Field(default_factory=dict)
    experiment: _Experiment | str | None = None


def _refused(error: ValidationError) -> ValueError:
    """The first mistake that pydantic found, in a line."""
    first = error.errors(include_url=False, include_context=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    return ValueError(f"{key}: {first['msg']}" if key else first["msg"])


def check_facts(facts: Mapping[str, Any]) -> None:
    """ValueError if the content of `run.yaml` lacks what readers rely on, or has it in another type."""
    try:
        _Facts.model_validate(facts)
    except ValidationError as error:
        raise _refused(error) from error


def parse_event(line: str | bytes) -> dict[str, Any]:
    """A line of `events.jsonl`; ValueError if it is not an event, or lacks facts of its kind."""
    event = parse_object(line)
    try:
        _EVENTS.get(str(event.get("kind")), _Event).model_validate(event)
    except ValidationError as error:
        raise _refused(error) from error
    return event


_KINDS: Final[Mapping[Kind, tuple[type, ...]]] = {
    "int": (int,),
    "float": (float, int),
    "text": (str,),
    "bool": (bool,),
}


def required_columns(table: Table) -> tuple[str, ...]:
    """Columns without which a row says nothing; all others may be empty."""
    times = ("sent_ns", "received_ns") if table.name != "polls" else ()
    return tuple(dict.fromkeys((*table.keys, "tick", "due_ns", *times)))


def parse_batch(line: str | bytes, table: Table) -> Batch:
    """A line of an open segment; ValueError if it is not a batch of rows of the table."""
    content = parse_object(line)
    rows, columns = content.get("rows"), content.get("columns")
    if not isinstance(rows, int) or isinstance(rows, bool) or not 0 <= rows <= _MOST_ROWS:
        raise ValueError("it has no number of rows")
    if not isinstance(columns, dict):
        raise ValueError("it has no columns")  # noqa: TRY004 - all that is wrong with a text is ValueError
    required = required_columns(table)
    for column in table.columns:
        values = columns.get(column.name)
        cells = values if isinstance(values, list) else [values]
        if isinstance(values, list) and len(values) != rows:
            raise ValueError(f"its column {column.name} has {len(values)} values for {rows} rows")
        if column.name in required and rows and None in cells:
            raise ValueError(f"its column {column.name} has no value")
        if not _fits(cells, column.kind, is_time=column.name.endswith("_ns")):
            raise ValueError(f"its column {column.name} is not of the type {column.kind}")
    return Batch(table.name, rows, columns)


def _fits(cells: Sequence[Any], kind: Kind, *, is_time: bool) -> bool:
    kinds = _KINDS[kind]
    limit = LONGEST_NS if is_time else _INT64
    return all(
        cell is None
        or (
            isinstance(cell, kinds)
            and (kind == "bool" or not isinstance(cell, bool))
            and (not isinstance(cell, int) or -limit <= cell < limit)
        )
        for cell in cells
    )
