"""The settings of a fit in words."""

from collections.abc import Callable, Mapping
from typing import Any

from cocomplete.report.record import Setting
from cocomplete.report.texts import number_text

AUTO = "chosen on held-out cells"

PENALTIES = ("rank_penalty", "residual_penalty", "feature_weight")


def settings_in_words(parameters: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Say what every parameter means that has a say in the answer, in the order of the estimator.

    Parameters
    ----------
    parameters : mapping
        The estimator's, by name.
    """
    penalties = [parameters.get(name) for name in PENALTIES]
    # An ensemble answers without any of them.
    idle = PENALTIES if parameters.get("averaging") and penalties == ["auto"] * len(PENALTIES) else ()
    return tuple(
        Setting(name, words(parameters[name]))
        for name, words in WORDS.items()
        if name in parameters and name not in idle
    )


def _penalty(value: Any) -> str:
    return AUTO if isinstance(value, str) else number_text(float(value))


def _flag(yes: str, no: str) -> Callable[[Any], str]:
    return lambda value: yes if value else no


def _types(value: Any) -> str:
    if isinstance(value, str):
        return "recognised by type and content" if value == "auto" else f"all {value}"
    if isinstance(value, Mapping):
        given = ", ".join(f"{name}: {_type(kind)}" for name, kind in value.items())
        return (
            f"given for some ({given}), the others recognised" if given else "recognised by type and content"
        )
    return "given one by one"


def _type(kind: Any) -> str:
    if isinstance(kind, tuple):
        return " to ".join(str(end) for end in kind)
    return " < ".join(str(level) for level in kind) if isinstance(kind, list) else str(kind)


def _threshold(value: Any) -> str:
    if isinstance(value, str):
        return {"f1": "best F1 on held-out cells", "cardinality": "each label as often as observed"}.get(
            value, value
        )
    return number_text(float(value)) if isinstance(value, int | float) else "one for each label"


WORDS: dict[str, Callable[[Any], str]] = {
    "averaging": _flag("an ensemble of models answers", "the minimiser of F answers alone"),
    "rank_penalty": _penalty,
    "residual_penalty": _penalty,
    "feature_weight": _penalty,
    "center": _flag("every column has an offset", "no offsets"),
    "scale": _flag("features are divided by their spread", "features are taken as they are"),
    "feature_types": _types,
    "label_types": _types,
    "fill": lambda value: "expected values" if value == "mean" else "values that the column could hold",
    "clip": _flag("fills stay near the observed range", "fills may leave the observed range"),
    "label_policy": lambda value: (
        "only ones are ever recorded" if value == "positive-unlabelled" else "an unknown label is missing"
    ),
    "threshold": _threshold,
    "random_state": lambda value: "0" if value is None else str(value) if isinstance(value, int) else "given",
}
"""How each parameter is said; those that change no answer are left out."""
