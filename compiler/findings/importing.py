"""What can be said about a manifest on its way to Python."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class NotSayable(Finding):
    """Something that the language has no words for, and that cannot be put on top of what it writes either."""

    code = "FD860"
    title = "{what} cannot be said in a pipeline"
    label = "nothing is written"
    help = "{way}"
    what: str
    way: str


class ByVariable(Finding):
    """Values that stood in the text of a script, and are handed to it as variables now."""

    code = "FD861"
    severity = "warning"
    title = "{values} in a script {become} {variables}"
    label = "here the value is run as code, there it is data"
    help = "look at what is written: quotes and signs in the value mean nothing to the program any more"
    values: tuple[str, ...]
    variables: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the verb that fits them."""
        become = "become the variables" if len(self.values) > 1 else "becomes the variable"
        return {**super().words(), "become": become}


class AsItIs(Finding):
    """A script that is left to Argo, since a value stands in its text where no variable can."""

    code = "FD885"
    severity = "warning"
    title = "a value stays in the text of this script, which is left to Argo in `argo={{...}}`"
    label = "run as code there, too"
    help = "{way}"
    way: str


class OtherName(Finding):
    """A name by which people or programs outside know something, and that Python cannot have."""

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
    """Something that is said in a way that differs a little."""

    code = "FD863"
    severity = "warning"
    title = "{what}"
    label = "different in the pipeline"
    help = "{way}"
    what: str
    way: str


class LeftOut(Finding):
    """A document that is no workflow."""

    code = "FD864"
    severity = "warning"
    title = "the {kind} is left out: it is no workflow of Argo"
    help = "keep it in a file of its own, and apply that beside what is compiled"
    kind: str


class CallsItself(Finding):
    """A template that is run inside of itself."""

    code = "FD865"
    title = "the template `{name}` calls itself"
    label = "a pipeline cannot call itself"
    help = "run a loop over a list that is long enough, or a program that goes on until it is done"
    name: str


class Compiled(Finding):
    """YAML that flowdsl has compiled, and that says what no pipeline says."""

    code = "FD868"
    title = "flowdsl compiled this from the pipeline `{name}`, and cannot make a pipeline of it"
    label = "nothing is written"
    help = (
        "change the Python file that has `{name}`, and compile it; to import the YAML as any other, "
        "take this label out"
    )
    name: str


class DoesNotCompile(Finding):
    """What was written is refused by the compiler."""

    code = "FD866"
    title = "as a pipeline this would be refused ({refusal}): {said}"
    label = "{reason}"
    help = "{way}"
    refusal: str
    said: str
    reason: str
    way: str
