"""Every finding that a report may have, in the order of its first screen."""

from collections.abc import Callable, Sequence
from typing import Final

from eee_testbed.analysis.report.findings.cost import cost
from eee_testbed.analysis.report.findings.finding import Finding
from eee_testbed.analysis.report.findings.model import model
from eee_testbed.analysis.report.findings.other_settings import other_settings
from eee_testbed.analysis.report.findings.policies import policies
from eee_testbed.analysis.report.findings.slept import slept
from eee_testbed.analysis.report.findings.spare import spare
from eee_testbed.analysis.report.findings.watts import watts
from eee_testbed.analysis.report.report_data import ReportData

FINDINGS: Final[Sequence[Callable[[ReportData], Finding | None]]] = (
    cost,
    other_settings,
    slept,
    policies,
    watts,
    spare,
    model,
)


def findings_of(data: ReportData) -> tuple[Finding, ...]:
    """All of them: first those with data, then those that say what is missing."""
    findings = [sentence for finding in FINDINGS if (sentence := finding(data)) is not None]
    return (
        *(finding for finding in findings if not finding.command),
        *(finding for finding in findings if finding.command),
    )
