"""What can be wrong with how a word of the language is called."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, near, suggest


class UnknownField(Finding):
    """A word of the language is asked for a field that it does not have."""

    code = "FD763"
    title = "{word} has no {noun} `{name}`"
    label = "{meant}"
    help = "{way}"
    word: str
    name: str
    known: tuple[str, ...]
    noun: str = "field"
    uncalled: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and what was probably meant: of a step or pipeline that was not called, a field of its result."""
        way, meant = f"take one of the {self.noun}s that there are", suggest(self.name, self.known)
        if self.uncalled and near(self.name, self.known) is None:
            way = f"call it, and take the field of what it returns: `{self.uncalled}(...).{self.name}`"
            meant = "this is not called"
        return {**super().words(), "meant": meant, "way": way}


class UnknownWord(Finding):
    """A word of the language is given an argument that it does not take."""

    code = "FD764"
    title = "`{word}` takes no argument `{name}`"
    label = "{meant}"
    help = "use one of the arguments of `{word}`, or leave it out"
    word: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the argument that was probably meant."""
        return {**super().words(), "meant": suggest(self.name, self.known)}


class WrongCall(Finding):
    """A word of the language is called with too few arguments, or too many by position."""

    code = "FD765"
    title = "`{word}` {problem}"
    label = "the arguments do not fit"
    help = "it is `{form}`"
    word: str
    problem: str
    form: str
