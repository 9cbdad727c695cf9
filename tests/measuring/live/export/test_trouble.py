"""A failing export is reported once, and so is its recovery."""

from eee_testbed.measuring.live.export.trouble import TroubleReport


def test_trouble_and_its_end_are_each_said_once() -> None:
    said: list[str] = []
    report = TroubleReport(said.append)
    for trouble in ("", "h:1 does not answer (refused)", "h:1 does not answer (timed out)", "", "", "h:1 refuses."):
        report.update(trouble)
    assert said == [
        "samples are not exported: h:1 does not answer (refused).",
        "samples are exported again.",
        "samples are not exported: h:1 refuses.",
    ]
