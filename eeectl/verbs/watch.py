"""`eeectl watch`: a lab or a run as it is now, in a terminal, as JSON, or for other programs."""

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

from controller.live.export.attach import ViewOptions, Views
from controller.live.feeds import Feed, LabFeed, RunFeed
from controller.live.screen.once import as_text
from controller.live.state.view import LabView
from lab.errors import InventoryError, LabError
from lab.folder import find_lab, load_lab
from lab.model import Lab
from record.store import read_facts

watch_app = App(
    name="watch",
    help="See a run or a lab live: links, watts, LPI, trials, alarms; and show it to Prometheus and InfluxDB.",
)

_Flag = Annotated[bool, Parameter(negative="")]
_LOOK_S: Final = 1.0


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
    """See a run or a lab live: links, watts, LPI, trials, alarms; and show it to Prometheus and InfluxDB.

    A run is read from its folder, and no device is asked. A lab is sampled just for the view, and nothing is kept.

    Parameters
    ----------
    run
        A run's folder or its name; the newest one if neither it nor a lab is named.
    lab
        Name of a lab or a folder: sample it.
    runs
        The folder of runs.
    period_s
        How often the lab is sampled, seconds.
    once
        Print one look as text and end.
    as_json
        Print one look as JSON and end.
    svg
        Write one look as a picture to this file and end.
    size
        Columns and rows of that picture.
    no_screen
        Draw nothing, until Ctrl-C: for --prometheus and --influx alone.
    views
        Who else is shown it.

    """
    if run and lab:
        raise LabError("a run and --lab: name one of the two.")
    if no_screen and not views:
        raise LabError("--no-screen shows nothing to anybody: give --prometheus or --influx with it.")
    with _feed(run, lab, runs, period_s, views) as (feed, url):
        if once or as_json or svg is not None:
            seen = _one_look(feed, sampled=bool(lab), period_s=period_s)
            if svg is not None:
                _draw(feed, seen, svg, size)
            else:
                _print(seen, as_json=as_json)
        elif no_screen:
            _serve(feed, url)
        else:
            return _screen(feed)
    return 0


@contextlib.contextmanager
def _feed(run: str, lab: str, runs: Path, period_s: float, options: ViewOptions) -> Iterator[tuple[Feed, str]]:
    feed: Feed
    with contextlib.ExitStack() as opened:
        if lab:
            known = load_lab(find_lab(lab))
            views = _views(opened, known, options, "")
            feed = LabFeed(known, views, period_s=period_s)
        else:
            folder = _run_folder(run, runs)
            known = _lab_of(folder)
            views = _views(opened, known, options, str(read_facts(folder)["name"]))
            feed = RunFeed(folder, known, views)
        opened.callback(feed.close)
        yield feed, views.url if views is not None else ""


def _views(opened: contextlib.ExitStack, lab: Lab, options: ViewOptions, run: str) -> Views | None:
    if not options:
        return None
    views = Views(lab, options, run)
    opened.callback(views.close)
    return views


def _run_folder(run: str, runs: Path) -> Path:
    """The folder that is meant; LabError if there is none."""
    if run:
        named = [Path(run), runs / run]
        found = next((path for path in named if (path / "run.yaml").exists()), None)
        if found is None:
            raise LabError(f"'{run}' is no run: name a folder with a run.yaml, or one below {runs}.")
        return found
    found = max(runs.glob("*/run.yaml"), default=None)
    if found is None:
        raise LabError(f"there is no run below {runs}: name one, or a lab with --lab.")
    return found.parent


def _lab_of(folder: Path) -> Lab:
    """The lab that a run was of; without its inventory here there are no links to show, but all the rest."""
    facts = read_facts(folder)
    name, place = str(facts.get("lab", "")), str(facts.get("lab_folder", ""))
    try:
        return load_lab(find_lab(place if place and Path(place).exists() else name))
    except InventoryError:
        raise
    except LabError:
        return Lab(name, "", "", "", (), (), (), (), ())


def _one_look(feed: Feed, *, sampled: bool, period_s: float) -> LabView:
    """A look; at a lab that is sampled here, when two beats tell rates."""
    if sampled:
        threading.Event().wait(2.5 * period_s)
    return feed.look()


def _print(seen: LabView, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(seen), indent=1))
        return
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(as_text(seen, console.width))


def _draw(feed: Feed, seen: LabView, path: Path, size: str) -> None:
    from controller.live.screen.screenshot import size_of, svg_of  # noqa: PLC0415 - textual, as below

    picture = svg_of(feed, seen, size_of(size))
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise LabError(f"the picture cannot be written to {path}: {error.strerror}; name another file.") from error


def _serve(feed: Feed, url: str) -> None:
    """Look until Ctrl-C."""
    ending = threading.Event()
    with contextlib.suppress(KeyboardInterrupt):
        feed.look()
        if url:
            print(f"metrics are at {url}; Ctrl-C ends this.", file=sys.stderr, flush=True)
        while not ending.wait(_LOOK_S):
            feed.look()


def _screen(feed: Feed) -> int:
    from controller.live.screen.app import WatchApp  # noqa: PLC0415 - textual costs every other verb a quarter of a second

    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        raise LabError("this is no terminal to draw on: give --once, --json or --no-screen.")
    app = WatchApp(feed, feed.look())
    why = app.run()
    if why:
        raise LabError(why)
    return 0
