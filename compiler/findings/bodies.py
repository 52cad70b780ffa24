"""What the body of a step shows that its run would fail on, or do otherwise than meant.

Imported when the first one is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.diagnostic import Finding
from flowdsl.grammar.command_line import needs_shell
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

# `EOS_TOKEN=<eos>` is no secret: those are made of letters, digits and a few signs.
_SECRET_NAME = regex(r"(?:^|_)(?:TOKEN|PASSWORD|PASSWD|SECRET|API_?KEY|SECRET_KEY|ACCESS_KEY)$")
_SECRET_VALUE = regex(r"[A-Za-z0-9_.+/=-]{8,}")


class SharedState(Finding):
    """One step changes a list or dict of the file, and another one reads it."""

    code = "FD766"
    severity = "warning"
    title = "`{step}` changes `{name}`, but `{other}` does not see it"
    label = "changed in the pod of `{step}` only"
    help = "return the value from `{step}`, and pass it to `{other}`"
    step: str
    name: str
    other: str


class NotInImage(Finding):
    """A step imports a library that its plain Python image does not have."""

    code = "FD767"
    severity = "warning"
    title = "the image `{image}` does not have `{module}`"
    label = "{state}"
    help = "{way}"
    image: str
    module: str
    until: str = ""  # the version of Python that has it no more

    def words(self) -> dict[str, str]:
        """The fields, and why the image does not have it."""
        state = "it has Python's own modules only"
        way = (
            f"say in `packages` what brings `{self.module}`; or name an image that has it: one of your own,"
            f" made `FROM {self.image}`"
        )
        if self.until:
            state = f"Python has no such module since {self.until}"
            way = "name an image with an older Python, or use what its documentation names in place of the module"
        return {**super().words(), "state": state, "way": way}


class FileBeside(Finding):
    """A step reads a file by name that its pod does not have: it is beside the pipeline, or nowhere."""

    code = "FD329"
    severity = "warning"
    title = "`{name}` {where}, but the pod of the step does not have it"
    label = "not in the image `{image}`"
    help = (
        "make it a `Path` parameter of the step, and pass where the cluster has it;"
        " or write what is in it into the pipeline: a constant, or an artifact `Raw(...)`"
    )
    name: str
    image: str
    beside: bool = True

    def words(self) -> dict[str, str]:
        """The fields, and where the file is."""
        return {
            **super().words(),
            "where": "is beside the pipeline" if self.beside else "is never written",
        }


class LeftBehind(Finding):
    """A step reads a file that another step has written in its own pod."""

    code = "FD368"
    severity = "warning"
    title = "`{step}` reads `{path}`, but does not see what `{other}` writes there"
    label = "each step has a pod of its own"
    help = (
        "return the file from `{other}`, and pass it to a `Path` parameter of `{step}`; or mount a volume "
        "there in both"
    )
    step: str
    path: str
    other: str


class PathAsText(Finding):
    """A step returns the path of a file in its pod as text, so that only the text is passed on."""

    code = "FD899"
    severity = "warning"
    title = "`{step}` returns the path of a file as text, and the file stays in its pod"
    label = "only the text{quoted} is passed on"
    help = (
        "return a `Path`, and annotate it so here and in the step that takes it: then the file is passed on; or "
        "write it to a volume that both mount"
    )
    step: str
    asked: str
    path: str = ""  # if it is known

    def words(self) -> dict[str, str]:
        """The fields, and the text in quotes."""
        return {**super().words(), "quoted": self.path and f" `{self.path}`"}


class NoTerminal(Finding):
    """A step asks a person for an answer, or reads an argument of its command line."""

    code = "FD369"
    title = "`{step}` asks for `{call}`, but a step has neither a terminal nor arguments"
    label = "{reason}"
    help = "{way}"
    step: str
    call: str
    reason: str
    way: str = "make it a parameter of the step, and of the pipeline: a run is given it by `-p`"


class NewerPython(Finding):
    """A step is written for a newer Python than its image has."""

    code = "FD325"
    title = "{what} needs Python {needs}, and the image `{image}` has {has}"
    label = "since Python {needs}"
    help = "name an image with Python {needs} or newer, or write it for the older Python"
    image: str
    has: str
    what: str
    needs: str


class LostFileName(Finding):
    """A step asks a file for its name, which was lost on the way."""

    code = "FD363"
    severity = "warning"
    title = "`{step}` reads `{asked}`, but a file that is passed on loses its name"
    label = "it is named after the input here, without a suffix"
    help = "pass the name on as a value beside the file, or take the file from a folder, where names are kept"
    step: str
    asked: str


class NoResult(Finding):
    """A step whose body never returns what its annotation says."""

    code = "FD768"
    title = "`{step}` returns nothing, but its annotation says {want}"
    label = "no `return` with a value in its body"
    help = "end it with `return ...`, or annotate `-> None`"
    step: str
    want: str


class EndsWithout(Finding):
    """A step that returns what its annotation says on some of its paths only."""

    code = "FD786"
    severity = "warning"
    title = "`{step}` may end without the {want} that it returns"
    label = "{where} it ends without a result"
    help = "return a value there, or raise an error; `-> {want} | None` if a run can continue without one"
    step: str
    want: str
    where: str


class ExitWithoutResult(Finding):
    """A step that ends its process before it has returned what its annotation says."""

    code = "FD327"
    title = "`{call}` ends `{step}` without the {want} that it returns"
    label = "Argo finds no result, and ends the step with an error"
    help = "return a value here; if the step has failed, raise an error or exit with a code other than 0"
    step: str
    call: str
    want: str


class ResultLost(Finding):
    """A step whose body returns a value, although its annotation does not say so."""

    code = "FD777"
    severity = "warning"
    title = "`{step}` returns a value, but {says}"
    label = "no task receives it"
    help = "annotate what it returns, such as `-> int`, or return nothing"
    step: str
    annotated: bool

    def words(self) -> dict[str, str]:
        """The fields, and what the definition says."""
        says = "its annotation says None" if self.annotated else "has no return annotation"
        return {**super().words(), "says": says}


class NotCalled(Finding):
    """A statement that is a step or pipeline itself, or one with options, and not a call of it."""

    code = "FD787"
    severity = "warning"
    title = "`{name}` is not called here"
    label = "nothing runs for this"
    help = "call it: `{form}`"
    name: str
    has_options: bool

    def words(self) -> dict[str, str]:
        """The fields, and what a call looks like."""
        return {**super().words(), "form": f"{self.name}{'.options(...)' * self.has_options}(...)"}


class NotMade(Finding):
    """A record that a step cannot make: with a field that does not exist, or without one that it needs."""

    code = "FD789"
    title = "`{step}` cannot make a {record}: {problem}"
    label = "the step would fail here"
    help = "{way}"
    step: str
    record: str
    problem: str
    way: str


class Impossible(Finding):
    """A step does something with a value that no value of its type can do."""

    code = "FD880"
    title = "`{step}` fails at `{asked}`: {why}"
    label = "raises {error}"
    help = "{way}"
    step: str
    asked: str
    why: str
    error: str
    way: str


class WritesReadOnly(Finding):
    """A step writes to a path that is mounted read-only."""

    code = "FD881"
    title = "`{step}` writes to `{asked}`, which is read-only"
    label = "raises OSError: Read-only file system"
    help = (
        'return a `Path` to the file that is written, or mount the volume for writing: `mounts={{"/out": '
        'DATA / "runs"}}`'
    )
    step: str
    asked: str


class GoneWhenReturned(Finding):
    """A step returns a file that no longer exists when it is passed on, or was never written."""

    code = "FD882"
    title = "`{step}` returns `{path}`, which {why}"
    label = "the step would fail at its end"
    help = "{way}"
    step: str
    path: str
    written: str = ""  # what it writes instead, where nothing writes the file
    removed: bool = True

    def words(self) -> dict[str, str]:
        """The fields, why the file is not there, and the way out."""
        why, way = "is removed when the step returns", 'write it to a path of its own, such as `Path("out")`'
        way += ": a pod's files go with the pod"
        if not self.removed:
            why = "nothing writes"
            way = (
                f"return what it writes: `{self.written}`"
                if self.written
                else "return the files that it writes"
            )
        return {**super().words(), "why": why, "way": way}


class LookedUp(Finding):
    """A step looks up a name of its module by text, or in a pickle of another step."""

    code = "FD884"
    severity = "warning"
    title = "`{asked}` finds only what `{step}` names itself"
    label = "{reason}"
    help = "{way}"
    step: str
    asked: str
    missing: str = ""

    def words(self) -> dict[str, str]:
        """The fields, why that matters, and the way out."""
        reason = "nothing else of the file is carried into its script"
        way = 'choose from a dict of what may be asked for, such as `MODELS = {"mlp": Mlp, "cnn": Cnn}`'
        if self.missing:
            reason = f"needs the class `{self.missing}`, which is not carried into its script"
            asked = f"isinstance(found, {self.missing})"
            way = f"name it in `{self.step}`, as in `{asked}`; or pass on what it holds, as JSON"
        return {**super().words(), "reason": reason, "way": way}


class NotJson(Finding):
    """A step returns something that JSON does not have, so it fails when the result is written."""

    code = "FD769"
    title = "`{step}` returns {what}, which JSON does not have"
    label = "the step would fail at its end"
    help = "{way}"
    step: str
    what: str
    way: str


class FileKey(Finding):
    """A step returns files by keys, and one of these cannot be the name of a file."""

    code = "FD790"
    title = "`{step}` returns a file by the key {key}, which cannot be the name of a file"
    label = "the step would fail at its end"
    help = "use names without `/` as keys: the files go into one folder, under their keys"
    step: str
    key: str


class ChangedByJson(Finding):
    """A step returns something that arrives as something else."""

    code = "FD770"
    severity = "warning"
    title = "{what} arrives as {arrives}"
    label = "JSON has no {lacks}"
    help = "{way}"
    what: str
    arrives: str
    lacks: str
    way: str


class Unsplit(Finding):
    """The base of kinds about a command line in one word."""

    label = "not split at spaces{unfilled}"
    help = "{way}"
    text: str
    inputs: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    """The values that stand in the text: what is in the braces of an f-string."""
    more: bool = False  # whether other words follow
    in_yaml: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and the words of the text, each input where it is meant to be."""
        words = self.text.split()
        parts: list[str] = []
        for word in words:
            names = self._names(word)
            alone = bool(names) and word == f"{{{names[0]}}}"
            parts.append(names[0] if alone else f'f"{word}"' if names else f'"{word}"')
        shown = parts[:8] + ["..."] * (self.more or len(parts) > 8)
        way = f"write each word separately: command({', '.join(shown)})"
        if needs_shell(self.text):
            named = {(_NAMED.sub("", one) or "out").upper(): one for one in self._names(self.text)}
            env = ", ".join(f'"{name}": {one}' for name, one in named.items())
            values = ", ".join(f'"${name}"' for name in named)
            given = f", env={{{env}}}), with {values} in the text" if named else ")"
            way = f'let a shell read it: command("sh", "-c", "..."{given}'
        also = ", nor filled in" if unfilled(self.text, self.inputs) and not self.filled else ""
        return {**super().words(), "way": self.in_yaml or way, "unfilled": also}

    def _names(self, text: str) -> list[str]:
        """What stands in braces in a part of the text."""
        return [one for one in self.filled if f"{{{one}}}" in text] or unfilled(text, self.inputs)


class OneWord(Unsplit):
    """A command whose only word has spaces: the name of a program with its arguments."""

    code = "FD771"
    severity = "warning"
    title = "`{text}` is one word: a program of that name would be looked for"


class NoProgram(Unsplit):
    """A command line in one word, or nothing, where the name of a program is expected: no file has that name."""

    code = "FD796"
    title = "there is no program `{shown}`"
    label = "{why}"

    def words(self) -> dict[str, str]:
        """The fields, and what stands there instead of a name."""
        words = super().words()
        if self.text:
            why = "one word, which is not split at spaces" + words["unfilled"]
            return {**words, "shown": self.text, "why": why}
        way = self.in_yaml or 'begin with the name of the program: command("/bin/program", "--flag", value)'
        return {**words, "shown": '""', "why": "an empty text", "way": way}


_NAMED = regex(r"^output\(|[').]")


class NoTag(Finding):
    """An image without a tag: what runs changes with every push."""

    code = "FD772"
    severity = "warning"
    title = "the image `{image}` has no tag"
    label = "whichever is the newest at that time"
    help = "name a version: `{image}:1.2`, or a digest: `{image}@sha256:...`"
    image: str


class BadImage(Finding):
    """The name of an image that no node can pull: the pod ends with InvalidImageName."""

    code = "FD776"
    title = "`{image}` cannot be the name of an image"
    label = "{reason}"
    help = "write it as in `registry.example.com:5000/team/name:1.2`, of which only the name is required"
    image: str
    reason: str


class NotFilled(Finding):
    """A word of a command with an input in braces that is not an f-string."""

    code = "FD775"
    severity = "warning"
    title = "`{{{name}}}` is in a word of the command, but is not filled in"
    label = "not an f-string"
    help = 'use an f-string, f"{text}", or write the input as its own word: `{name}`'
    text: str
    name: str


def unfilled(text: str, inputs: Iterable[str]) -> list[str]:
    """The inputs that stand in braces in a text; `${NAME}` is a shell's, `{{` a template's."""
    found = _HOLE.findall(text)
    return [name for name in found if name in set(inputs)]


_HOLE = regex(r"(?<![${%])\{(\w+)\}(?!\})")


class OptionsLeftOut(Finding):
    """A step calls another step, whose function then runs in the pod of the first."""

    code = "FD785"
    severity = "warning"
    title = "`{called}` runs in the pod of `{step}`, without its own {options}"
    label = "in a step this is a plain function"
    help = (
        "call both in the pipeline; or set the options on `{step}`, and make `{called}` a function without "
        "a decorator"
    )
    called: str
    step: str
    options: str


def untagged(image: str) -> bool:
    """Whether the name of an image has neither a tag nor a digest; the port of a registry is none."""
    return bool(image) and ":" not in image.rpartition("/")[2] and "@" not in image and "{{" not in image


def is_secret(name: str, value: str) -> bool:
    """Whether a variable of that name and value seems to hold a secret."""
    return bool(_SECRET_NAME.search(name) and _SECRET_VALUE.fullmatch(value))
