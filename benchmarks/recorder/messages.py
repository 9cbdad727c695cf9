"""Functions of messages and requests."""

from typing import Final

from eee_testbed.benchmarks.recorder.function import COMM, Function, Group

_C: Final = {"communicator": "c->id"}
_SENT: Final = {"peer": "peer(dest)", "tag": "tag_of(tag)", "bytes": "bytes(count, datatype)"}
_ASKED: Final = {"peer": "peer(source)", "tag": "tag_of(tag)"}
_POSTED: Final = {**_ASKED, "bytes": "bytes(count, datatype)"}
_GOT: Final = {
    "source": "peer(status->MPI_SOURCE)",
    "got_tag": "tag_of(status->MPI_TAG)",
    "got_bytes": "bytes_in(status)",
}
_SEND: Final = f"const void *buf, int count, MPI_Datatype datatype, int dest, int tag, {COMM}"
_RECEIVE: Final = f"void *buf, int count, MPI_Datatype datatype, int source, int tag, {COMM}"
_REQUEST: Final = "MPI_Request *request"
_STATUS: Final = "MPI_Status unused;\nif (status == MPI_STATUS_IGNORE)\n    status = &unused;\n"
_BOTH: Final = {
    **_C,
    "peer": "peer(dest)",
    "tag": "tag_of(sendtag)",
    "bytes": "bytes(sendcount, sendtype)",
    "from": "peer(source)",
    "from_tag": "tag_of(recvtag)",
    **_GOT,
}


def _sends(name: str) -> tuple[Function, ...]:
    """A way to send: blocking, not blocking, persistent."""
    begin = f"I{name.lower()}"
    parameters = f"{_SEND}, {_REQUEST}"
    return (
        Function(name, Group.MESSAGE, _SEND, {**_C, **_SENT}),
        Function(begin, Group.MESSAGE, parameters, {**_C, "request": "begun_request(*request, 0)", **_SENT}),
        Function(
            f"{name}_init", Group.REQUEST, parameters, {**_C, "request": "persistent_request(*request, 0)", **_SENT}
        ),
    )


MESSAGES: Final = (
    *(function for name in ("Send", "Bsend", "Ssend", "Rsend") for function in _sends(name)),
    Function("Recv", Group.MESSAGE, f"{_RECEIVE}, MPI_Status *status", {**_C, **_POSTED, **_GOT}, before=_STATUS),
    Function(
        "Irecv", Group.MESSAGE, f"{_RECEIVE}, {_REQUEST}", {**_C, "request": "begun_request(*request, 1)", **_POSTED}
    ),
    Function(
        "Recv_init",
        Group.REQUEST,
        f"{_RECEIVE}, {_REQUEST}",
        {**_C, "request": "persistent_request(*request, 1)", **_POSTED},
    ),
    Function(
        "Sendrecv",
        Group.MESSAGE,
        "const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, "
        f"int recvcount, MPI_Datatype recvtype, int source, int recvtag, {COMM}, MPI_Status *status",
        _BOTH,
        before=_STATUS,
    ),
    Function(
        "Sendrecv_replace",
        Group.MESSAGE,
        f"void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, {COMM}, "
        "MPI_Status *status",
        {**_BOTH, "bytes": "bytes(count, datatype)"},
        before=_STATUS,
    ),
    Function(
        "Probe",
        Group.MESSAGE,
        f"int source, int tag, {COMM}, MPI_Status *status",
        {**_C, **_ASKED},
    ),
    Function(
        "Iprobe",
        Group.MESSAGE,
        f"int source, int tag, {COMM}, int *flag, MPI_Status *status",
        {**_C, **_ASKED},
        found="*flag",
    ),
    Function(
        "Mprobe",
        Group.MESSAGE,
        f"int source, int tag, {COMM}, MPI_Message *message, MPI_Status *status",
        {**_C, "request": "message_id(*message)", **_ASKED, **_GOT},
        before=_STATUS,
    ),
    Function(
        "Improbe",
        Group.MESSAGE,
        f"int source, int tag, {COMM}, int *flag, MPI_Message *message, MPI_Status *status",
        {**_C, "request": "message_id(*message)", **_ASKED, **_GOT},
        before=_STATUS,
        found="*flag",
    ),
    Function(
        "Mrecv",
        Group.MESSAGE,
        "void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status",
        {"request_and_1": "taken_message(was, 0)"},
        before="const MPI_Message was = *message;\n",
    ),
    Function(
        "Imrecv",
        Group.MESSAGE,
        "void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request",
        {"request_and_1": "taken_message(was, 1)"},
        lists="request_with_id(*request, values[0]);\n",
        before="const MPI_Message was = *message;\n",
    ),
)

_DONE: Final = "requests: 4 x number, + 2 if cancelled, + 1 if it received; then its source, tag and bytes"
_MANY: Final = "MPI_Request array_of_requests[]"
_COPIED: Final = "COPY(MPI_Request, was, array_of_requests, {count})\n"
_STATUSES: Final = (
    "SPACE(MPI_Status, unused, array_of_statuses == MPI_STATUSES_IGNORE ? {count} : 0)\n"
    "if (array_of_statuses == MPI_STATUSES_IGNORE)\n    array_of_statuses = unused;\n"
)
_ALL: Final = (
    "for (int number = 0; number < count; number++)\n    n = done(n, was[number], &array_of_statuses[number], 0);\n"
)
_SOME: Final = (
    "for (int number = 0; number < *outcount && *outcount != MPI_UNDEFINED; number++)\n"
    "    n = done(n, was[array_of_indices[number]], &array_of_statuses[number], 0);\n"
)
_ANY: Final = "if (*index != MPI_UNDEFINED)\n    n = done(n, was[*index], status, 0);\n"
_ONE: Final = "const MPI_Request was = *request;\n"
_RELEASED: Final = "RELEASE(was)\n"
_ALL_RELEASED: Final = "RELEASE(was)\nRELEASE(unused)\n"

REQUESTS: Final = (
    Function("Start", Group.MESSAGE, _REQUEST, {"request_and_1": "started(*request)"}),
    Function(
        "Startall",
        Group.MESSAGE,
        f"int count, {_MANY}",
        {},
        "requests: number + 1, 0 of a kind that is left out",
        "room_for((size_t)count);\nfor (int number = 0; number < count; number++)\n"
        "    values[n++] = started(array_of_requests[number]);\n",
    ),
    Function(
        "Wait",
        Group.REQUEST,
        f"{_REQUEST}, MPI_Status *status",
        {},
        _DONE,
        "n = done(n, was, status, 0);\n",
        _ONE + _STATUS,
    ),
    Function(
        "Waitall",
        Group.REQUEST,
        f"int count, {_MANY}, MPI_Status *array_of_statuses",
        {},
        _DONE,
        _ALL,
        (_COPIED + _STATUSES).format(count="count"),
        after=_ALL_RELEASED,
    ),
    Function(
        "Waitany",
        Group.REQUEST,
        f"int count, {_MANY}, int *index, MPI_Status *status",
        {},
        _DONE,
        _ANY,
        _COPIED.format(count="count") + _STATUS,
        after=_RELEASED,
    ),
    Function(
        "Waitsome",
        Group.REQUEST,
        f"int incount, {_MANY}, int *outcount, int array_of_indices[], MPI_Status array_of_statuses[]",
        {},
        _DONE,
        _SOME,
        (_COPIED + _STATUSES).format(count="incount"),
        after=_ALL_RELEASED,
    ),
    Function(
        "Test",
        Group.REQUEST,
        f"{_REQUEST}, int *flag, MPI_Status *status",
        {},
        _DONE,
        "n = done(n, was, status, 0);\n",
        _ONE + _STATUS,
        "*flag",
    ),
    Function(
        "Testall",
        Group.REQUEST,
        f"int count, {_MANY}, int *flag, MPI_Status array_of_statuses[]",
        {},
        _DONE,
        _ALL,
        (_COPIED + _STATUSES).format(count="count"),
        "*flag",
        _ALL_RELEASED,
    ),
    Function(
        "Testany",
        Group.REQUEST,
        f"int count, {_MANY}, int *index, int *flag, MPI_Status *status",
        {},
        _DONE,
        _ANY,
        _COPIED.format(count="count") + _STATUS,
        "*flag",
        _RELEASED,
    ),
    Function(
        "Testsome",
        Group.REQUEST,
        f"int incount, {_MANY}, int *outcount, int array_of_indices[], MPI_Status array_of_statuses[]",
        {},
        _DONE,
        _SOME,
        (_COPIED + _STATUSES).format(count="incount"),
        "*outcount",
        _ALL_RELEASED,
    ),
    Function(
        "Request_get_status",
        Group.REQUEST,
        "MPI_Request request, int *flag, MPI_Status *status",
        {},
        _DONE,
        "n = done(n, request, status, 1);\n",
        _STATUS,
        "*flag",
    ),
    Function(
        "Request_free",
        Group.REQUEST,
        _REQUEST,
        {"request_and_1": "freed(was)"},
        before=_ONE,
    ),
    Function("Cancel", Group.REQUEST, _REQUEST, {"request_and_1": "cancelling(*request)"}),
)
