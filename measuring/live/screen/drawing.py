"""Numbers as a few characters: rates, durations, bars, small charts."""

from collections.abc import Sequence
from typing import Final

BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_GAP_INTERVALS: Final = 3
_STEPS: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def rate_text(bps: float | None) -> str:
    """Bits a second in at most five characters: 0, 640, 12.3k, 1.00G; "-" if unknown."""
    if bps is None:
        return "-"
    for size, letter in _STEPS:
        if bps >= size * 0.9995:
            return f"{bps / size:.3g}{letter}" if bps < 999.5 * size else f"{bps / size:.0f}{letter}"
    return f"{bps:.0f}"


def speed_text(rate_mbps: int) -> str:
    """A link's speed: 10M, 100M, 1G, 2.5G."""
    return rate_text(rate_mbps * 1e6) if rate_mbps else "-"


def share_text(share: float | None) -> str:
    """Percent without the sign; "-" if unknown."""
    return "-" if share is None else f"{share * 100:.0f}"


def span_text(seconds: float) -> str:
    """Hours, minutes, seconds: 0:04:10."""
    whole = max(0, round(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def energy_text(joule: float) -> str:
    """Joules with a prefix."""
    for size, prefix in ((1e6, "M"), (1e3, "k")):
        if joule >= size:
            return f"{joule / size:.3g} {prefix}J"
    return f"{joule:.0f} J"


def bar(share: float, width: int) -> str:
    """A bar of eighths of characters, `width` characters long when the share is 1."""
    eighths = round(min(1.0, max(0.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def line(share: float, width: int) -> str:
    """A thin bar of whole characters."""
    return "━" * max(1 if share > 0 else 0, round(min(1.0, share) * width))


def level(share: float, highest: int = 8) -> str:
    """A block as high as a share; every share above 0 is visible."""
    return BLOCKS[max(1 if share > 0 else 0, min(highest, round(share * highest)))]


def spark(shares: Sequence[float], width: int) -> str:
    """Shares as blocks, the last `width` of them, right-aligned."""
    kept = shares[-width:] if width else ()
    return "".join(level(share) for share in kept).rjust(width)


def chart(points: Sequence[tuple[int, float]], width: int, height: int) -> tuple[list[str], float]:
    """Means of `points` (time ns, value of 0 or more) over time as `height` lines of bars from zero; and the largest.

    A column without points repeats the one before it; only gaps of several times the usual interval are empty.
    A value of 0 is an eighth high, so that every point is visible.
    """
    if not points or width < 1 or height < 1:
        return [""] * height, 0.0
    first, span = points[0][0], max(1, points[-1][0] - points[0][0])
    sums, counts = [0.0] * width, [0] * width
    for time_ns, value in points:
        place = min(width - 1, (time_ns - first) * width // span)
        sums[place] += value
        counts[place] += 1
    means = _carried(
        [total / count if count else None for total, count in zip(sums, counts, strict=True)],
        most=-(-_GAP_INTERVALS * width // len(points)),
    )
    measured = [mean for mean in means if mean is not None]
    high = max(measured)
    tall = height * 8
    heights = [0 if mean is None else max(1, round(mean / high * tall)) if high > 0 else 1 for mean in means]
    rows = [
        "".join(BLOCKS[max(0, min(8, eighths - line * 8))] for eighths in heights) for line in range(height - 1, -1, -1)
    ]
    return rows, high


def _carried(means: list[float | None], most: int) -> list[float | None]:
    """Columns without a mean repeat the one before, up to `most` of them in a row."""
    carried: list[float | None] = []
    since = 0
    for mean in means:
        since = 0 if mean is not None else since + 1
        carried.append(mean if mean is not None or since > most or not carried else carried[-1])
    return carried
