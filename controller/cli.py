"""`eeectl`: the command line. Exit status: 0 done, 1 refused or failed, 2 wrong use, 3 changes pending."""

import sys
import traceback

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from controller.apply_commands import adopt_app, apply_app, confirm_app, recover_app, rollback_app, status_app
from controller.eee_commands import eee_app
from controller.errors import LabError
from controller.lab_check_command import check
from controller.link_commands import link_app
from controller.plan_commands import plan_app
from controller.power_commands import power_app
from twin.commands import lab_app

app = App(
    name="eeectl",
    help="Set up, measure and predict Energy-Efficient Ethernet on a cluster of switches, real or virtual.",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
lab_app.command(check)
app.command(lab_app)
app.command(plan_app)
for verb in (apply_app, confirm_app, rollback_app, recover_app, adopt_app, status_app, link_app, eee_app):
    app.command(verb)
app.command(power_app)


def run(tokens: list[str]) -> int:
    """Obey one command line and return the exit status; LabErrors become one sentence on standard error."""
    debug = "--debug" in tokens[: tokens.index("--")] if "--" in tokens else "--debug" in tokens
    if debug:
        tokens.remove("--debug")
    try:
        result = app(tokens, exit_on_error=False, print_error=True)
    except CycloptsError:
        return 2
    except LabError as error:
        if debug:
            traceback.print_exc()
        print(f"eeectl: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        if debug:
            traceback.print_exc()
        print("eeectl: interrupted; what was begun has been undone.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0  # the reader, such as `head`, has seen enough
    except Exception as error:  # noqa: BLE001 - the one place that catches everything: a person reads this
        if debug:
            traceback.print_exc()
        print(
            f"eeectl: unexpected {type(error).__name__}: {error}; run it again with --debug and report the trace.",
            file=sys.stderr,
        )
        return 1
    return result if isinstance(result, int) else 0


def main() -> None:
    """Entry point of the command `eeectl`."""
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()
    sys.exit(status)


if __name__ == "__main__":
    main()
