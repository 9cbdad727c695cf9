"""States and plans as files keep them: the one serialisation of an apply's journal and of a run's restore journal."""

from pydantic import BaseModel, ConfigDict


class Stored(BaseModel):
    """A value in a file: MAC addresses as hexadecimal digits, infinite times as text, unknown keys refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="hex", val_json_bytes="hex", ser_json_inf_nan="strings"
    )
