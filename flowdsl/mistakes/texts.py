"""Findings about texts that hold run-time values."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class TextFormat(Finding):
    """A format specification on a run-time value."""

    code = "FD214"
    title = "the format `:{spec}` cannot be applied to a run-time value"
    label = "Argo puts values into text as they are"
    help = "leave the format out, or make the text inside a step"
    spec: str


class TextRepr(Finding):
    """The repr of a run-time value in text."""

    code = "FD215"
    title = "the repr of a run-time value has no meaning in text"
    label = "made by !r, = or by a list in text"
    help = "write {{x}}, not {{x!r}} or {{x=}}"


_ARGUMENT = "pass it to the step as an argument of its own, and make the text there"
HELD = {
    "path on a volume": ("only the pod knows where it is mounted", _ARGUMENT),
    "Secret": (
        "only the pod knows what is in it",
        'let a step read it as a variable: secrets={"TOKEN": Secret(...)}; an `http` step cannot',
    ),
    "Config": (
        "only the pod knows what is in it",
        'let a step read it as a variable: env={"RATE": Config(...)}',
    ),
    "Scratch": ("it has no text", "write the path that it is mounted at"),
    "Host": ("it has no text", "write the path that it is mounted at"),
}
"""What exists only in a pod: why it cannot be in a text, and the remedy."""


class TextType(Finding):
    """A value in text whose text Python and Argo write differently."""

    code = "FD216"
    title = "{one} cannot be put into text"
    label = "{reason}"
    help = "{way}"
    type: str

    def words(self) -> dict[str, str]:
        """The fields, and the problem with the text of the value."""
        reason = "Python and Argo write it differently"
        if self.type.startswith("float"):
            reason = "Argo writes 1.0 as 1, and Python does not"
        reason, way = HELD.get(self.type, (reason, _ARGUMENT))
        one = f"{'an' if self.type[0] in 'AEIOUaeiou' else 'a'} {self.type}"
        return {**super().words(), "one": one, "reason": reason, "way": way}


class LostText(Finding):
    """A text made from a run-time value that reached no task."""

    code = "FD217"
    severity = "warning"
    title = "the text made from this run-time value is not used by any task"
    label = "made here, then lost"
    help = "pass the text to a step as it is; what Python does with it now cannot see the value"


class DamagedText(Finding):
    """A text with a run-time value in it was changed before it arrived."""

    code = "FD218"
    title = "a string that holds a run-time value was cut or changed"
    label = "the value can no longer be found in it"
    help = "pass the text on as it was made, and change it inside a step"


class TextCompared(Finding):
    """A text that holds a run-time value, compared by Python."""

    code = "FD379"
    title = "`{text}` is decided while compiling, before the value in the text is known"
    label = "always the same answer"
    help = "compare the value itself, as in `with when(value == 5)`, or let a step compare strings and return a bool"
    text: str
