"""Panels of dashboards with their common settings: data source, legends, units."""

from typing import Final

from grafana_foundation_sdk.builders import (
    bargauge,
    common,
    dashboard,
    heatmap,
    prometheus,
    stat,
    statetimeline,
    timeseries,
)
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models.dashboard import DataSourceRef, ValueMap, ValueMappingResult, VariableRefresh
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE: Final = DataSourceRef(type_val="prometheus", uid="${datasource}")
"""The data source that is chosen on top of each dashboard; of one that has none, Grafana takes its default."""

Target = tuple[str, str]
"""A query in PromQL, and the legend of its series."""

Panel = timeseries.Panel | stat.Panel | bargauge.Panel | heatmap.Panel | statetimeline.Panel

WIDE: Final = 24
HALF: Final = 12
THIRD: Final = 8
QUARTER: Final = 6
_TALL: Final = 8
_LOW: Final = 4


def _query(target: Target, ref: str, *, instant: bool = False) -> prometheus.Dataquery:
    expression, legend = target
    query = prometheus.Dataquery().expr(expression).legend_format(legend).ref_id(ref).datasource(SOURCE)
    return query.instant() if instant else query.range()


def lines(title: str, about: str, unit: str, *targets: Target, span: int = HALF, filled: bool = False) -> Panel:
    """Series over time; `filled` stacks them."""
    panel = timeseries.Panel().title(title).description(about).unit(unit).datasource(SOURCE)
    panel = panel.span(span).height(_TALL).line_width(1).fill_opacity(25 if filled else 5)
    panel = panel.legend(
        common.VizLegendOptions()
        .display_mode(kinds.LegendDisplayMode.TABLE)
        .placement(kinds.LegendPlacement.RIGHT)
        .calcs(["mean", "lastNotNull"])
        .show_legend(show_legend=True)
    )
    panel = panel.tooltip(common.VizTooltipOptions().mode(kinds.TooltipDisplayMode.MULTI))
    if filled:
        panel = panel.stacking(common.StackingConfig().mode(kinds.StackingMode.NORMAL))
    for place, target in enumerate(targets):
        panel = panel.with_target(_query(target, chr(ord("A") + place)))
    return panel


def figure(title: str, about: str, unit: str, target: Target, *, span: int = QUARTER, words: bool = False) -> Panel:
    """One number. With `words`, show the legend instead; the number then only means that the series exists."""
    panel = stat.Panel().title(title).description(about).unit(unit).datasource(SOURCE).span(span).height(_LOW)
    panel = panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(values=False))
    panel = panel.graph_mode(kinds.BigValueGraphMode.NONE if words else kinds.BigValueGraphMode.AREA)
    if words:
        panel = panel.text_mode(kinds.BigValueTextMode.NAME)
    return panel.with_target(_query(target, "A", instant=words))


def bars(title: str, about: str, unit: str, target: Target, *, span: int = HALF) -> Panel:
    """The last value of each series, as parallel bars."""
    panel = bargauge.Panel().title(title).description(about).unit(unit).datasource(SOURCE).span(span).height(_TALL)
    panel = panel.orientation(kinds.VizOrientation.HORIZONTAL).min(0)
    panel = panel.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(values=False))
    return panel.with_target(_query(target, "A", instant=True))


def stretches(title: str, about: str, target: Target, words: dict[str, tuple[str, str]], *, span: int = WIDE) -> Panel:
    """The state of each series over time, as coloured bars; `words` has (text, colour) by value."""
    mapped = ValueMap(
        options={value: ValueMappingResult(text=text, color=colour) for value, (text, colour) in words.items()}
    )
    panel = statetimeline.Panel().title(title).description(about).datasource(SOURCE).span(span).height(_TALL)
    panel = panel.mappings([mapped]).merge_values(merge_values=True).show_value(kinds.VisibilityMode.NEVER)
    return panel.with_target(_query(target, "A"))


def spread(title: str, about: str, unit: str, buckets: str, *, span: int = HALF) -> Panel:
    """A histogram over time."""
    panel = heatmap.Panel().title(title).description(about).datasource(SOURCE).span(span).height(_TALL)
    panel = panel.y_axis(heatmap.YAxisConfig().unit(unit)).calculate(calculate=False)
    query = _query((buckets, "{{le}}"), "A").format(PromQueryFormat.HEATMAP)
    return panel.with_target(query)


def sources() -> dashboard.DatasourceVariable:
    """The variable that `SOURCE` names."""
    return dashboard.DatasourceVariable("datasource").label("data source").type("prometheus")


def choice(name: str, label: str, query: str) -> dashboard.QueryVariable:
    """A dashboard variable whose values are those of a label."""
    variable = dashboard.QueryVariable(name).label(label).query({"query": query, "refId": name}).datasource(SOURCE)
    return variable.refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
