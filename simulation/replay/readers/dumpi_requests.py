"""Which requests a call of a DUMPI trace begins and completes."""

from collections.abc import Iterator, Sequence

from eee_testbed.simulation.replay.readers.dumpi_file import Called, Status


def only_status(statuses: Sequence[Status] | None) -> Status | None:
    """The status of a call that completes one request."""
    return statuses[0] if statuses else None


def started_by(call: Called) -> Sequence[int]:
    """The persistent requests that a Start or Startall begins."""
    return (call.arguments[0],) if call.name == "Start" else call.arguments[1]


def completed_by(call: Called) -> Iterator[tuple[int, Status | None]]:
    """Requests that a call has found complete, with their status if it has it."""
    words = call.arguments
    match call.name:
        case "Wait":
            yield words[0], only_status(words[1])
        case "Test" if words[1]:
            yield words[0], only_status(words[2])
        case "Waitany" if 0 <= words[2] < len(words[1]):
            yield words[1][words[2]], only_status(words[3])
        case "Testany" if words[3] and 0 <= words[2] < len(words[1]):
            yield words[1][words[2]], only_status(words[4])
        case "Waitall":
            yield from zip(words[1], statuses_of(words[2], len(words[1])), strict=True)
        case "Testall" if words[2]:
            yield from zip(words[1], statuses_of(words[3], len(words[1])), strict=True)
        case "Waitsome" | "Testsome":
            places = [place for place in words[3] if 0 <= place < len(words[1])]
            yield from zip((words[1][place] for place in places), statuses_of(words[4], len(places)), strict=True)


def statuses_of(statuses: Sequence[Status] | None, count: int) -> Sequence[Status | None]:
    """One for each of so many requests, None where the trace has none."""
    return statuses if statuses is not None and len(statuses) == count else [None] * count
