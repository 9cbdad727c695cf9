"""`eeectl watch`: the live state of a lab, a run or a study, in a terminal, as JSON, or exported to other programs."""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from rich.console import Console

from eee_testbed.eeectl.lab_name import known_lab, require_up
from eee_testbed.lab.errors import LabError
from eee_testbed.measuring.collecting.collect import check_period
from eee_testbed.measuring.live.clocks import WallPace
from eee_testbed.measuring.live.export.trouble import TroubleReport
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.measuring.live.screen.once import as_text
from eee_testbed.measuring.live.screen.terminal_size import size_of
from eee_testbed.measuring.live.state.view import LabView
from eee_testbed.measuring.live.web.server import Board, PageServer

if TYPE_CHECKING:
    from eee_testbed.measuring.live.feeds import Feed

watch_app = App(
    name="watch",
    help="Show a run or a lab live: links, power, LPI, trials, alarms; export it to Prometheus and InfluxDB.",
)

_Flag = Annotated[bool, Parameter(negative="")]
_WEB: Final = "127.0.0.1:8043"
_FRAMES_A_SECOND: Final = "1000"
"""Of a screen that lives in a slow lab's time: at 1/50 of real time textual's 60 are one a second."""


@watch_app.default
def watch(
    run: str = "",
    /,
    *,
    lab: str = "",
    runs: Path = Path("runs"),
    period_s: float = 1.0,
    once: _Flag = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    svg: Path | None = None,
    size: str = "160x50",
    no_screen: _Flag = False,
    web: _Flag = False,
    web_at: str = "",
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
) -> int:
    """Show a run or a lab live: links, power, LPI, trials, alarms; export it to Prometheus and InfluxDB.

    A run is read from its folder; no device is polled. For a study its newest run is shown, below the study's steps and
    parameters. A lab is sampled for the view only; nothing is recorded.

    Parameters
    ----------
    run
        Folder or name of a run or a study; default: the newest, if no lab is named.
    lab
        Name of a lab, or a folder: sample it.
    runs
        Folder of runs; studies are looked for in `studies` beside it.
    period_s
        Sampling period of the lab, seconds.
    once
        Print the current state as text and exit.
    as_json
        Print the current state as JSON and exit.
    svg
        Draw the current state to this SVG file and exit.
    size
        Columns and rows of that drawing.
    no_screen
        Only export with --prometheus and --influx, until Ctrl-C.
    web
        Serve a page with the same panels instead, for browsers on this machine, until Ctrl-C.
    web_at
        Serve that page at [ADDRESS:]PORT. Default: 127.0.0.1:8043. Everybody who can reach the address can watch, but
        change nothing.
    views
        Where live data are exported.

    """
    from eee_testbed.measuring.live.export.attach import listening_at

    if run and lab:
        raise LabError("both a run and --lab are given: give only one of them.")
    if no_screen and not views:
        raise LabError("--no-screen alone shows nothing: add --prometheus or --influx.")
    web_at = web_at or (_WEB if web else "")
    if web_at and (once or as_json or svg is not None or no_screen):
        raise LabError("--web shows a page until Ctrl-C: leave --once, --json, --svg and --no-screen out.")
    page = listening_at(web_at, "the page") if web_at else None
    shown_size = size_of(size)
    check_period("a lab", period_s)
    with _feed(run, lab, runs, period_s, views) as feed:
        if once or as_json or svg is not None:
            view = _current_view(feed, sampled=bool(lab), period_s=period_s)
            if svg is not None:
                _draw(feed, view, svg, shown_size)
            else:
                _print(view, as_json=as_json)
        elif page is not None:
            _serve_page(feed, *page)
        elif no_screen:
            _serve(feed, lambda _: None)
        else:
            return _screen(feed)
    return 0


@contextlib.contextmanager
def _feed(run: str, lab: str, runs: Path, period_s: float, options: ViewOptions) -> "Iterator[Feed]":
    from eee_testbed.eeectl.watched import clock_reader, followed
    from eee_testbed.measuring.live.export.attach import Views
    from eee_testbed.measuring.live.feeds import LabFeed

    with contextlib.ExitStack() as stack:
        feed: Feed
        if lab:
            lab_model = known_lab(lab)
            views = Views(lab_model, options) if options else None
            if views is not None:
                stack.callback(views.close)
            require_up(lab_model)
            feed = LabFeed(lab_model, views, period_s=period_s, read_clock=clock_reader(lab_model.name))
        else:
            feed = followed(run, runs, options)
        stack.callback(feed.close)
        yield feed


def _current_view(feed: "Feed", *, sampled: bool, period_s: float) -> LabView:
    """The current state; of a lab sampled here, after two ticks, which give rates."""
    if sampled:
        threading.Event().wait(2.5 * period_s)
    return feed.poll()


def _print(view: LabView, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(view), indent=1))
        return
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(as_text(view, console.width))


def _draw(feed: "Feed", view: LabView, path: Path, size: tuple[int, int]) -> None:
    from eee_testbed.measuring.live.screen.screenshot import svg_of  # textual, as below

    drawing = svg_of(feed, view, size)
    try:
        path.write_text(drawing, encoding="utf-8")
    except OSError as error:
        raise LabError(f"the drawing cannot be written to {path} ({error.strerror}): name another file.") from error


def _serve_page(feed: "Feed", address: str, port: int) -> None:
    """Serve the live page until Ctrl-C."""
    board = Board()
    server = PageServer(board, address, port)
    try:
        print(f"the page is at {server.url}; stop with Ctrl-C.", file=sys.stderr, flush=True)
        _serve(feed, board.show)
    except LabError as error:
        server.close(str(error))
        raise
    server.close()


def _serve(feed: "Feed", show: Callable[[LabView], None]) -> None:
    """Update the exports and what `show` shows until Ctrl-C."""
    from eee_testbed.eeectl.watched import own_clock

    ending, pace = threading.Event(), WallPace(own_clock())
    said = ""
    exports = TroubleReport(lambda sentence: print(f"eeectl: {sentence}", file=sys.stderr, flush=True))
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            show(feed.poll())
            exports.update(feed.trouble)
            if feed.url and feed.url != said:
                said = feed.url
                print(f"metrics are at {said}; stop with Ctrl-C.", file=sys.stderr, flush=True)
            while pause_s := pace.pause_s():
                ending.wait(pause_s)


def _screen(feed: "Feed") -> int:
    from eee_testbed.eeectl.watched import own_clock

    read_clock = own_clock()
    if read_clock is not None:
        os.environ.setdefault("TEXTUAL_FPS", _FRAMES_A_SECOND)
    from eee_testbed.measuring.live.screen.app import WatchApp  # textual costs every other verb a quarter of a second

    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        raise LabError("this terminal cannot show the live view: use --once, --json or --no-screen.")
    app = WatchApp(feed, feed.poll(), read_clock)
    reason = app.run()
    if reason:
        raise LabError(reason)
    return 0
