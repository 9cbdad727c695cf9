"""How well the models predict what they were not fitted to."""

from eee_testbed.analysis.calibration import ProgramTime, RunTimeError
from eee_testbed.analysis.report.findings.finding import Finding
from eee_testbed.analysis.report.measure import fit_command
from eee_testbed.analysis.report.plain_words import placed
from eee_testbed.analysis.report.report_data import ReportData

_TOPIC = "How well it is predicted"


def model(data: ReportData) -> Finding:
    """Errors of cross-validation, of the program with the most configurations."""
    programs = {} if data.calibration is None else data.calibration.run_time
    told = {name: _errors(one) for name, one in programs.items()}
    sentences = {name: sentence for name, sentence in told.items() if sentence}
    if not sentences:
        return Finding(
            _TOPIC,
            "no model of run time was tested on configurations that it was not fitted to.",
            (),
            fit_command(data),
        )
    name = max(sentences, key=lambda key: programs[key].configuration_count)
    return Finding(_TOPIC, sentences[name].format(name=placed(name)), ("errors", "estimates", "parameters-run-time"))


def _errors(program: ProgramTime) -> str:
    ours = min(_ours(program), key=lambda error: error.mean_percent, default=None)
    miwa = program.miwa.error if program.miwa is not None else None
    if miwa is not None and not miwa.held_out:
        miwa = None
    if ours is None and miwa is None:
        return ""
    count = program.configuration_count
    head = f"Run times of {{name}} under EEE, predicted for {count} configurations each left out of its fit, err by "
    parts = []
    if ours is not None:
        parts.append(f"{ours.mean_percent:.2g} % on average and {ours.worst_percent:.2g} % at worst (our model)")
    if miwa is not None:
        parts.append(f"{miwa.mean_percent:.2g} % and {miwa.worst_percent:.2g} % (Miwa's)")
    else:
        parts.append("Miwa's model could not be fitted")
    return head + "; ".join(parts) + "."


def _ours(program: ProgramTime) -> list[RunTimeError]:
    fits = (program.wakes, program.rounds)
    errors = (fit.error for fit in fits if fit is not None)
    return [error for error in errors if error is not None and error.held_out]
