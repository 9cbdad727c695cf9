"""What a person reads about an export that fails, without repeating it at each attempt."""

from collections.abc import Callable


class TroubleReport:
    """Says once that samples are not exported, and once that they are again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._failing = False

    def update(self, trouble: str) -> None:
        """Take why samples are not exported; empty if they are."""
        if trouble and not self._failing:
            self._say(f"samples are not exported: {trouble.rstrip('.')}.")
        if self._failing and not trouble:
            self._say("samples are exported again.")
        self._failing = bool(trouble)
