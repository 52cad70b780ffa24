"""What can be said about a manifest on its way to Python."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class NotSayable(Finding):
    """Something that the language cannot express, and that cannot be added to its output either."""

    code = "FD860"
    title = "{what} cannot be expressed in a pipeline"
    label = "nothing is written"
    help = "{way}"
    what: str
    way: str


class ByVariable(Finding):
    """Values that were part of a script's text, and are now passed to it as variables."""

    code = "FD861"
    severity = "warning"
    title = "{values} in a script {become} {variables}"
    label = "here the value is run as code, there it is data"
    help = (
        "check the result: quotes and special characters in the value no longer mean anything to the program"
    )
    values: tuple[str, ...]
    variables: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the verb that fits them."""
        become = "become the variables" if len(self.values) > 1 else "becomes the variable"
        return {**super().words(), "become": become}


class AsItIs(Finding):
    """A script that is left to Argo, because a value is in its text where no variable can be."""

    code = "FD885"
    severity = "warning"
    title = "a value stays in the text of this script, which is left to Argo in `argo={{...}}`"
    label = "run as code there, too"
    help = "{way}"
    way: str


class OtherName(Finding):
    """A name that people or programs outside use, and that Python cannot have."""

    code = "FD862"
    severity = "warning"
    title = "{what} `{name}` is called `{other}`"
    label = "`{other}` from now on"
    help = "{way}"
    what: str
    name: str
    other: str
    way: str


class Otherwise(Finding):
    """Something that is expressed in a slightly different way."""

    code = "FD863"
    severity = "warning"
    title = "{what}"
    label = "different in the pipeline"
    help = "{way}"
    what: str
    way: str


class LeftOut(Finding):
    """A document that is not a workflow."""

    code = "FD864"
    severity = "warning"
    title = "the {kind} is left out: it is not an Argo workflow"
    help = "keep it in its own file, and apply that beside what is compiled"
    kind: str


class CallsItself(Finding):
    """A template that calls itself."""

    code = "FD865"
    title = "the template `{name}` calls itself"
    label = "a pipeline cannot call itself"
    help = "loop over a list that is long enough, or use a program that continues until it is done"
    name: str


class Compiled(Finding):
    """YAML compiled by flowdsl, with something that no pipeline expresses."""

    code = "FD868"
    title = "flowdsl compiled this from the pipeline `{name}`, and cannot turn it back into one"
    label = "nothing is written"
    help = (
        "change the Python file that has `{name}`, and compile it; without this label, everything that stands "
        "in the way is shown"
    )
    name: str


class DoesNotCompile(Finding):
    """The compiler would refuse what was written."""

    code = "FD866"
    title = "as a pipeline this would be refused ({refusal}): {said}"
    label = "{reason}"
    help = "{way}"
    refusal: str
    said: str
    reason: str
    way: str
