"""Frozen records that work things out when asked, and pickle as if they had not been."""

from dataclasses import fields
from typing import Any


class FieldsAlone:
    """Mixin for dataclasses with cached properties: only their fields are pickled.

    A model's file then neither grows nor changes because somebody has used it.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
