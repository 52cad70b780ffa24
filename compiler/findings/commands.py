"""What can be wrong with how a container step says its command."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, Unknown


class NoCommand(Finding):
    """A container step that does not say its command."""

    code = "FD330"
    title = "`{step}` does not say its command"
    label = "`command(...)` is not reached"
    help = 'end it with `return command("/bin/program", "--flag", value)`'
    step: str


class CommandFailed(Finding):
    """A container step whose function raised."""

    code = "FD331"
    title = "`{step}` raised {error}"
    label = "while its {word} was made"
    help = "build the {word} only from its inputs{outputs}"
    step: str
    error: str
    word: str = "command"

    def words(self) -> dict[str, str]:
        """The fields, and what a description may be made from."""
        return {**super().words(), "outputs": " and `output(...)`" if self.word == "command" else ""}


class CommandPart(Finding):
    """A part of a command line that is not text."""

    code = "FD332"
    title = "{where} of `{step}` is {have}"
    label = "{label}"
    help = "{way}"
    step: str
    have: str
    where: str
    files: bool = False

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits the type."""
        have = "None" if self.have == "NoneType" else self.have
        several = have in ("list", "tuple") and self.where == "a part of the command"
        way = "put `*` in front of it, so that each item is a word" if several else "write it as text"
        if have in ("Secret", "Config"):
            option = "secrets" if have == "Secret" else "env"
            way = (
                f'make it a variable of the step: @container({option}={{"NAME": {have}("name", "key")}}, ...)'
            )
        label = "not a string, a number or an input"
        if self.files:
            label = "each of its files has a path of its own"
            way = "take one `Path` for each file, or one that is a folder"
        return {**super().words(), "have": have, "way": way, "label": label}


class ShellText(Finding):
    """An input inside the text of a shell command."""

    code = "FD333"
    title = "an input is part of the text of a shell command"
    label = "its value would be run as code"
    help = 'pass it as a variable: command("sh", "-c", \'echo "$NAME"\', env={{"NAME": name}})'


class UnknownOutputPath(Unknown):
    """`output(name)` for an output that the annotation does not have."""

    code = "FD334"
    title = "`{step}` has no output `{name}`"
    help = "name an output of its return annotation"
    nothing = "it returns nothing"
    step: str


class NotWritten(Finding):
    """An output of a container step that no part of the command names."""

    code = "FD335"
    title = "the command of `{step}` does not say where to write {what}"
    label = "{missing} is missing here"
    help = 'give the program that path: command("/bin/program", ..., "--out", {missing})'
    step: str
    name: str

    def words(self) -> dict[str, str]:
        """The fields, and the call of `output` that is missing."""
        single = self.name == "return"
        missing = "output()" if single else f'output("{self.name}")'
        what = "its result" if single else f"`{self.name}`"
        return {**super().words(), "what": what, "missing": missing}


class InputComputed(Finding):
    """A step that computes with an input while describing what it runs, when the input has no value yet."""

    code = "FD339"
    title = "`{step}` computes with an input that has no value yet"
    label = "{problem}"
    help = "pass the whole input to the program, and compute there"
    step: str
    problem: str


class InputUnused(Finding):
    """An input that a step's description of what it runs does not use."""

    code = "FD873"
    severity = "warning"
    title = "the {word} of `{step}` does not use `{name}`"
    label = "not passed to {whom}"
    help = "use it there, or remove it; only for the order, call the step with `.options(after=[...])`"
    step: str
    name: str
    word: str

    def words(self) -> dict[str, str]:
        """The fields, and who is not given the input."""
        whom = {"command": "the program", "manifest": "the object", "request": "the server"}[self.word]
        return {**super().words(), "whom": whom}
