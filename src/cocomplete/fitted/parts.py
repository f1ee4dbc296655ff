"""The parts of a table that are answered apart, each with weights of its own."""

from typing import Literal

Part = Literal["numbers", "yes-no", "labels", "unlabelled"]
PARTS: tuple[Part, ...] = ("numbers", "yes-no", "labels", "unlabelled")
"""Features that are numbers, features that are yes/no, labels in rows where another is known, and labels of
rows where none is."""

FEATURE_PARTS: tuple[Part, ...] = PARTS[:2]
LABEL_PARTS: tuple[Part, ...] = PARTS[2:]
