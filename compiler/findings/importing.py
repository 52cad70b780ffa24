"""What can be said about a manifest on its way to Python."""

from __future__ import annotations

from typing import ClassVar

from flowdsl.diagnostic import Finding, Severity


class NotSayable(Finding):
    """Something that the language has no words for, and that cannot be put on top of what it writes either."""

    code: ClassVar[str] = "FD860"
    title: ClassVar[str] = "{what} cannot be said in a pipeline"
    label: ClassVar[str] = "nothing is written"
    help: ClassVar[str] = "{way}"
    what: str
    way: str


class ByVariable(Finding):
    """A value that stood in the text of a script, and is handed to it as a variable now."""

    code: ClassVar[str] = "FD861"
    severity: ClassVar[Severity] = "warning"
    title: ClassVar[str] = "`{tag}` in a script becomes the variable `{variable}`"
    label: ClassVar[str] = "here the value is run as code, there it is data"
    help: ClassVar[str] = (
        "look at what is written: quotes and signs in the value mean nothing to the program any more"
    )
    tag: str
    variable: str


class OtherName(Finding):
    """A name by which people or programs outside know something, and that Python cannot have."""

    code: ClassVar[str] = "FD862"
    severity: ClassVar[Severity] = "warning"
    title: ClassVar[str] = "{what} `{name}` is called `{other}`"
    label: ClassVar[str] = "`{other}` from now on"
    help: ClassVar[str] = "{way}"
    what: str
    name: str
    other: str
    way: str


class Otherwise(Finding):
    """Something that is said in a way that differs a little."""

    code: ClassVar[str] = "FD863"
    severity: ClassVar[Severity] = "warning"
    title: ClassVar[str] = "{what}"
    label: ClassVar[str] = "different in the pipeline"
    help: ClassVar[str] = "{way}"
    what: str
    way: str


class LeftOut(Finding):
    """A document that is no workflow."""

    code: ClassVar[str] = "FD864"
    severity: ClassVar[Severity] = "warning"
    title: ClassVar[str] = "the {kind} is left out: it is no workflow of Argo"
    help: ClassVar[str] = "keep it in a file of its own, and apply that beside what is compiled"
    kind: str


class CallsItself(Finding):
    """A template that is run inside of itself."""

    code: ClassVar[str] = "FD865"
    title: ClassVar[str] = "the template `{name}` calls itself"
    label: ClassVar[str] = "a pipeline cannot call itself"
    help: ClassVar[str] = (
        "run a loop over a list that is long enough, or a program that goes on until it is done"
    )
    name: str


class Compiled(Finding):
    """YAML that flowdsl has compiled, and that says what no pipeline says."""

    code: ClassVar[str] = "FD868"
    title: ClassVar[str] = (
        "flowdsl compiled this from the pipeline `{name}`, and cannot make a pipeline of it"
    )
    label: ClassVar[str] = "nothing is written"
    help: ClassVar[str] = (
        "change the Python file that has `{name}`, and compile it; to import the YAML as any other, "
        "take this label out"
    )
    name: str


class DoesNotCompile(Finding):
    """What was written is refused by the compiler."""

    code: ClassVar[str] = "FD866"
    title: ClassVar[str] = "as a pipeline this would be refused ({refusal}): {said}"
    label: ClassVar[str] = "{reason}"
    help: ClassVar[str] = "{way}"
    refusal: str
    said: str
    reason: str
    way: str
