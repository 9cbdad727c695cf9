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
    arguments = call.arguments
    match call.name:
        case "Wait":
            yield arguments[0], only_status(arguments[1])
        case "Test" if arguments[1]:
            yield arguments[0], only_status(arguments[2])
        case "Waitany" if 0 <= arguments[2] < len(arguments[1]):
            yield arguments[1][arguments[2]], only_status(arguments[3])
        case "Testany" if arguments[3] and 0 <= arguments[2] < len(arguments[1]):
            yield arguments[1][arguments[2]], only_status(arguments[4])
        case "Waitall":
            yield from zip(arguments[1], statuses_of(arguments[2], len(arguments[1])), strict=True)
        case "Testall" if arguments[2]:
            yield from zip(arguments[1], statuses_of(arguments[3], len(arguments[1])), strict=True)
        case "Waitsome" | "Testsome":
            places = [place for place in arguments[3] if 0 <= place < len(arguments[1])]
            yield from zip(
                (arguments[1][place] for place in places), statuses_of(arguments[4], len(places)), strict=True
            )


def statuses_of(statuses: Sequence[Status] | None, count: int) -> Sequence[Status | None]:
    """One for each of so many requests, None where the trace has none."""
    return statuses if statuses is not None and len(statuses) == count else [None] * count
