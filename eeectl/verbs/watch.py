"""`eeectl watch`: the live state of a lab or a run, in a terminal, as JSON, or exported to other programs."""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter
from rich.console import Console

from controller.collecting.collect import check_period
from controller.live.export.attach import ViewOptions, Views
from controller.live.feeds import Feed, LabFeed, RunFeed
from controller.live.screen.once import as_text
from controller.live.screen.terminal_size import size_of
from controller.live.state.view import LabView
from eeectl.lab_name import known_lab, require_up
from lab.errors import InventoryError, LabError
from lab.folder import find_lab, load_lab
from lab.model import Lab
from record.store import read_facts

watch_app = App(
    name="watch",
    help="Show a run or a lab live: links, power, LPI, trials, alarms; export it to Prometheus and InfluxDB.",
)

_Flag = Annotated[bool, Parameter(negative="")]
_UPDATE_S: Final = 1.0


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
    views: Annotated[ViewOptions, Parameter(name="*")] = ViewOptions(),  # noqa: B008 - frozen
) -> int:
    """Show a run or a lab live: links, power, LPI, trials, alarms; export it to Prometheus and InfluxDB.

    A run is read from its folder; no device is polled. A lab is sampled for the view only; nothing is recorded.

    Parameters
    ----------
    run
        A run's folder or name; default: the newest run, if no lab is named.
    lab
        Name of a lab, or a folder: sample it.
    runs
        Folder of runs.
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
    views
        Where live data are exported.

    """
    if run and lab:
        raise LabError("both a run and --lab are given: give only one of them.")
    if no_screen and not views:
        raise LabError("--no-screen alone shows nothing: add --prometheus or --influx.")
    shown_size = size_of(size)
    check_period("a lab", period_s)
    with _feed(run, lab, runs, period_s, views) as (feed, url):
        if once or as_json or svg is not None:
            view = _current_view(feed, sampled=bool(lab), period_s=period_s)
            if svg is not None:
                _draw(feed, view, svg, shown_size)
            else:
                _print(view, as_json=as_json)
        elif no_screen:
            _serve(feed, url)
        else:
            return _screen(feed)
    return 0


@contextlib.contextmanager
def _feed(run: str, lab: str, runs: Path, period_s: float, options: ViewOptions) -> Iterator[tuple[Feed, str]]:
    feed: Feed
    with contextlib.ExitStack() as stack:
        if lab:
            lab_model = known_lab(lab)
            views = _views(stack, lab_model, options, "")
            require_up(lab_model)
            feed = LabFeed(lab_model, views, period_s=period_s)
        else:
            folder = _run_folder(run, runs)
            lab_model = _lab_of(folder)
            views = _views(stack, lab_model, options, str(read_facts(folder)["name"]))
            feed = RunFeed(folder, lab_model, views)
        stack.callback(feed.close)
        yield feed, views.url if views is not None else ""


def _views(stack: contextlib.ExitStack, lab: Lab, options: ViewOptions, run: str) -> Views | None:
    if not options:
        return None
    views = Views(lab, options, run)
    stack.callback(views.close)
    return views


def _run_folder(run: str, runs: Path) -> Path:
    """The run's folder; LabError if it does not exist."""
    if run:
        named = [Path(run), runs / run]
        found = next((path for path in named if (path / "run.yaml").exists()), None)
        if found is None:
            raise LabError(f"'{run}' is not a run: name a folder with a run.yaml, or one below {runs}.")
        return found
    found = max(runs.glob("*/run.yaml"), default=None)
    if found is None:
        raise LabError(f"no run exists below {runs}: name a run, or a lab with --lab.")
    return found.parent


def _lab_of(folder: Path) -> Lab:
    """The lab of a run. If its inventory is not available here, an empty lab: all but the links can be shown."""
    facts = read_facts(folder)
    name, place = str(facts.get("lab", "")), str(facts.get("lab_folder", ""))
    try:
        return load_lab(find_lab(place if place and Path(place).exists() else name))
    except InventoryError:
        raise
    except LabError:
        return Lab(name, "", "", "", (), (), (), (), ())


def _current_view(feed: Feed, *, sampled: bool, period_s: float) -> LabView:
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


def _draw(feed: Feed, view: LabView, path: Path, size: tuple[int, int]) -> None:
    from controller.live.screen.screenshot import svg_of  # noqa: PLC0415 - textual, as below

    drawing = svg_of(feed, view, size)
    try:
        path.write_text(drawing, encoding="utf-8")
    except OSError as error:
        raise LabError(f"the drawing cannot be written to {path} ({error.strerror}): name another file.") from error


def _serve(feed: Feed, url: str) -> None:
    """Update the exports until Ctrl-C."""
    ending = threading.Event()
    with contextlib.suppress(KeyboardInterrupt):
        feed.poll()
        if url:
            print(f"metrics are at {url}; stop with Ctrl-C.", file=sys.stderr, flush=True)
        while not ending.wait(_UPDATE_S):
            feed.poll()


def _screen(feed: Feed) -> int:
    from controller.live.screen.app import WatchApp  # noqa: PLC0415 - textual costs every other verb a quarter of a second

    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        raise LabError("this terminal cannot show the live view: use --once, --json or --no-screen.")
    app = WatchApp(feed, feed.poll())
    reason = app.run()
    if reason:
        raise LabError(reason)
    return 0
