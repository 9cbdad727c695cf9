"""`eeectl predict`: run time and energy of a measured program under other EEE settings, or on other networks."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Parameter

from eee_testbed.analysis.predict.topologies import Topology, topologies_named
from eee_testbed.analysis.predict.what_if import PAPER_LINK, WhatIf, parse_what_if
from eee_testbed.analysis.run_lab import lab_of_run, link_mbps, run_folder
from eee_testbed.eeectl.bounds import slowdown_percent
from eee_testbed.eeectl.lab_text import text_width
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Lab

if TYPE_CHECKING:
    from eee_testbed.analysis.predict.best_hold import BestPolicy
    from eee_testbed.analysis.predict.other_networks import NetworkModel
    from eee_testbed.analysis.predict.prediction import Prediction
    from eee_testbed.analysis.predict.site import Site
    from eee_testbed.analysis.programs.profile import Profile

predict_app = App(name="predict")

_Words = Annotated[tuple[str, ...], Parameter(negative="")]
_QUESTIONS_HERE: Final = ("off", "measured")
_QUESTIONS_ELSEWHERE: Final = ("off", f"deep,hold_us=10,phy={PAPER_LINK}", f"deep,hold_us=100,phy={PAPER_LINK}")


@predict_app.default
def predict(
    profile: str,
    /,
    *,
    calibration: Path,
    what_if: Annotated[tuple[str, ...], Parameter(name=("--what-if", "--policy"), negative="")] = (),
    at: _Words = (),
    lab: str = "",
    topology: _Words = (),
    simulated: Annotated[bool, Parameter(negative="")] = False,
    network: str = "",
    best: Annotated[bool, Parameter(negative="")] = False,
    bound_slowdown: str = "",
    output: Path | None = None,
    save: Path | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Predict a measured program's run time and energy: any EEE, links off or slower, in this lab or elsewhere.

    Parameters
    ----------
    profile
        A profile's file, or a run that has trials without EEE.
    calibration
        Fitted parameters: a file of `eeectl fit`.
    what_if
        Settings to predict for, such as off, measured, deep,hold_us=100, fast,hold_us=10,phy=100GBASE-R,
        hybrid,hold_us=1,deep_after_us=10, coalescing,wait_us=100, off_links=5+6, speed_mbps=100. With sleep_waits=no a
        frame that arrives during Ts waits for Tw alone. Give the option once for each. Default: off and measured.
    at
        Configurations of a run to predict, as KEY=VALUE of their parameters. Default: all.
    lab
        Lab whose switches draw power. Default: the lab where the program ran.
    topology
        Other networks to predict for, by name: torus-4x4x4, table-3, table-4, all. Or the network of a lab, as
        lab:NAME, or of a simulation's file, as FILE.yaml; these two are always simulated.
    simulated
        Simulate the links between switches of these networks, instead of adding one wake time for each hop.
    network
        Replay the MPI calls that the run recorded (--trace) on this network: a simulation's file, or lab:NAME. PROFILE
        is a run, a trial's folder or a replay file.
    best
        Find the hold that saves the most energy within --bound-slowdown (default: 1%); with --network, also the mode.
    bound_slowdown
        Find the hold that saves most within this slowdown, such as 1%.
    output
        With --network: folder of the replays; run again, it continues. Default: simulations/predict-RUN-NETWORK.
    save
        File to write the profile to; needs a single configuration.
    as_json
        Print JSON.

    """
    from eee_testbed.analysis.calibration import load_calibration
    from eee_testbed.analysis.predict.best_hold import best_hold
    from eee_testbed.analysis.predict.other_networks import predict_topologies
    from eee_testbed.analysis.predict.prediction import Predictor
    from eee_testbed.analysis.programs.profile import save_profile
    from eee_testbed.eeectl.prediction_text import Answers, predictions_text
    from eee_testbed.eeectl.replayed_predictions import Replays, predict_replayed

    fitted = load_calibration(calibration)
    bound_percent = slowdown_percent(bound_slowdown or "1%") if best or bound_slowdown else None
    if network:
        _refuse({"--topology": topology, "--at": at, "--lab": lab, "--save": save, "--simulated": simulated})
        questions = [parse_what_if(text) for text in what_if or _QUESTIONS_HERE]
        return predict_replayed(Replays(profile, network, fitted, output), questions, bound_percent, as_json=as_json)
    if output is not None:
        raise LabError("--output is the folder of replays: name a network with --network.")
    measured, home = _profiles(profile)
    profiles = _chosen(measured, at)
    asked = [parse_what_if(text) for text in what_if]
    if save is not None:
        if len(profiles) > 1:
            raise LabError(f"{profile} has {len(profiles)} configurations: choose one with --at, {_choices(profiles)}.")
        save_profile(save, profiles[0])
    networks, model = _networks(topology, simulated=simulated)
    answered: list[Answers] = []
    for one in profiles:
        if topology:
            if bound_percent is not None:
                raise LabError("--bound-slowdown searches a hold in a lab: leave --topology out.")
            elsewhere = asked or [parse_what_if(text) for text in _QUESTIONS_ELSEWHERE]
            answers = predict_topologies(one, fitted, networks, elsewhere, simulated=model)
            answered.append(Answers(one.name, answers, None))
        else:
            predictor = Predictor(one, fitted, _site(lab, home))
            predictions = tuple(
                predictor.predict(each) for each in asked or [parse_what_if(text) for text in _QUESTIONS_HERE]
            )
            best_of_all = None
            if bound_percent is not None:
                mode = next((each for each in asked if each.saves), WhatIf("deep", "deep"))
                best_of_all = best_hold(predictor, mode, bound_percent)
            answered.append(Answers(one.name, predictions, best_of_all))
    if as_json:
        print(json.dumps({"predictions": [_plain(*each) for each in answered]}, indent=1))
    else:
        print(predictions_text(answered, fitted, text_width()))
    return 0


def _refuse(given: Mapping[str, object]) -> None:
    """What has no meaning with --network."""
    wrong = [name for name, value in given.items() if value]
    if wrong:
        raise LabError(f"--network replays recorded calls: leave {' and '.join(wrong)} out.")


def _networks(names: Sequence[str], *, simulated: bool) -> "tuple[list[Topology], NetworkModel | None]":
    """Networks by name, and their simulation where it was asked for, or nothing else is known of one."""
    from eee_testbed.simulation.predicted import Simulator, network_named

    if simulated and not names:
        raise LabError("--simulated is for other networks: name one, as in --topology torus-4x4x4 or lab:NAME.")
    if not (simulated or any(name.startswith("lab:") or name.endswith((".yaml", ".yml")) for name in names)):
        return [network for name in names for network in topologies_named(name)], None
    simulated_networks = [network for name in names for network in network_named(name)]
    return [network.topology for network in simulated_networks], Simulator(simulated_networks)


def _profiles(name: str) -> "tuple[tuple[Profile, ...], Lab | None]":
    """The measured profiles, and their lab, if its inventory is found."""
    from eee_testbed.analysis.programs.profile import load_profile
    from eee_testbed.analysis.programs.profile_reading import profiles_of
    from eee_testbed.record.samples import RunSamples

    if Path(name).is_file():
        stored = load_profile(Path(name))
        return (stored,), lab_of_run({"lab": stored.lab})
    try:
        folder = run_folder(name)
    except LabError:
        raise LabError(f"{name} is neither a profile's file nor a run's folder: name a run below runs/.") from None
    run = RunSamples(folder)
    lab = lab_of_run(run.facts)
    return profiles_of(run, link_mbps(lab)), lab


def _chosen(profiles: "Sequence[Profile]", at: Sequence[str]) -> "tuple[Profile, ...]":
    parameters = {}
    for word in at:
        key, equals, value = word.partition("=")
        if not equals:
            raise LabError(f"'{word}' is not KEY=VALUE: {_choices(profiles)}.")
        parameters[key] = value
    chosen = tuple(
        profile
        for profile in profiles
        if all(
            str({**profile.parameters, "program": profile.program}.get(key)) == value
            for key, value in parameters.items()
        )
    )
    if not chosen:
        raise LabError(f"no configuration has {' '.join(at)}: {_choices(profiles)}.")
    return chosen


def _choices(profiles: "Sequence[Profile]") -> str:
    """The parameters in which profiles differ, with their values."""
    keys = dict.fromkeys(key for profile in profiles for key in profile.parameters)
    choices = []
    programs = list(dict.fromkeys(profile.program for profile in profiles))
    if len(programs) > 1:
        choices.append(f"program is one of {', '.join(programs)}")
    for key in keys:
        values = list(dict.fromkeys(str(profile.parameters[key]) for profile in profiles if key in profile.parameters))
        if len(values) > 1:
            choices.append(f"{key} is one of {', '.join(values)}")
    return "; ".join(choices) or "the run has a single configuration"


def _site(lab: str, home: Lab | None) -> "Site | None":
    """The lab to predict for; without --lab, the one where the program ran."""
    from eee_testbed.analysis.predict.site import Site

    if lab:
        return Site.of(load_lab(find_lab(lab)))
    return None if home is None else Site.of(home)


def _plain(name: str, answers: "Sequence[Prediction]", best: "BestPolicy | None") -> dict[str, Any]:
    from eee_testbed.eeectl.prediction_text import best_plain, prediction_plain

    plain: dict[str, Any] = {"profile": name, "answers": [prediction_plain(answer) for answer in answers]}
    if best is not None:
        plain["best_hold"] = best_plain(best, whole_percent=best.whole_percent)
    return plain
