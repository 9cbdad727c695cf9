"""The kernel says whether a lab is held, a file's text by whom; of another machine the text alone is known."""

import fcntl

from eee_testbed.controller.applying.holder import Holder, holder_of
from eee_testbed.controller.applying.processes import ProcessId
from eee_testbed.controller.applying.statefolder import StateFolder


def test_a_holder_on_another_machine_is_known_while_its_lock_is_held() -> None:
    folder = StateFolder("toys")
    folder.make()
    other = ProcessId.me().model_copy(update={"host": "other", "boot": "other"})
    holder = Holder.me("night").model_copy(update={"process": other})
    folder.lock.write_text(holder.model_dump_json(), encoding="utf-8")
    assert holder_of(folder) is None
    with folder.lock.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert holder_of(folder) == holder
        assert not holder.abandoned(holder.beat_s + 1e9), "whether it was stopped cannot be seen from here"
    assert holder_of(folder) is None


def test_a_text_alone_holds_nothing() -> None:
    folder = StateFolder("toys")
    assert holder_of(folder) is None
    folder.make()
    for text in ("", "{", Holder.me("night").model_dump_json()):
        folder.lock.write_text(text, encoding="utf-8")
        assert holder_of(folder) is None
