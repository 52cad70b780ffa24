"""Findings about literals that Argo would change or cannot represent."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class LiteralBraces(Finding):
    """A literal that Argo would evaluate."""

    code = "FD219"
    title = "the text contains `{braces}`, which Argo evaluates"
    label = "Argo would replace what follows, even in an environment variable"
    help = (
        "for a value of the run, pass the result or parameter itself; add literal braces inside a step, or "
        "close them around a word that Argo does not know"
    )
    text: str

    def words(self) -> dict[str, str]:
        """The fields, and the beginning of the first braces in question."""
        from flowdsl.grammar.template import first_filled

        begin = first_filled(self.text)[:40].splitlines()[0]
        return {**super().words(), "braces": begin}


class ObjectText(Finding):
    """Python's default text for an object, with its address in memory."""

    code = "FD364"
    severity = "warning"
    title = "the text contains {what} as Python shows an object: with its address in memory"
    label = "different in each compilation"
    help = "{way}"
    what: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = "write the field of it that is meant"
        if self.what.endswith("Ended`"):
            way = "write `.status` after it"
        return {**super().words(), "way": way}


class ControlCharacter(Finding):
    """A literal with a character that breaks Argo's substitution."""

    code = "FD220"
    title = "the text {text} contains a control character"
    label = "Argo fails when it substitutes it"
    help = "escape it in the text, and decode it inside the step"
    text: str


class NotFinite(Finding):
    """NaN or an infinity as a constant."""

    code = "FD221"
    title = "{value} is not a number that JSON and Argo can represent"
    label = "not a finite number"
    help = "use a finite number, or None with a parameter of type `float | None`"
    value: float


class HugeNumber(Finding):
    """A whole number that Argo cannot compute with."""

    code = "FD266"
    title = "{value} does not fit in 64 bits, and Argo cannot compute with it"
    label = "too large for Argo"
    help = "compute with it inside a step, which gets it as an argument of its own or makes it"
    value: int
