"""Findings about the arguments of a call."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, suggest
from flowdsl.grammar.regex import regex
from flowdsl.loop import fan_out, own_words
from flowdsl.sweep import sweep
from flowdsl.values.textual import FORMS, by_name

ANNOTATE = "annotate what the step returns: a NamedTuple, dict[str, int] or the like says what its parts are"
"""The remedy for a value that may have any type."""


class TooManyArguments(Finding):
    """More positional arguments than the step has parameters."""

    code = "FD201"
    title = "`{step}` takes {arguments} by position, not {given}"
    label = "{surplus}"
    help = "{way}"
    step: str
    given: int
    takes: int
    named: str = ""  # the first keyword-only parameter without an argument

    def words(self) -> dict[str, str]:
        """The fields, with numbers as words."""
        arguments = {0: "no arguments", 1: "1 argument"}.get(self.takes, f"{self.takes} arguments")
        surplus = "one too many" if self.given == self.takes + 1 else "the first one too many"
        way = f"name the parameter it is for: `{self.named}=...`" if self.named else "leave it out"
        if not self.named and self.takes:
            way = "leave it out, or name the parameter it is for"
        return {**super().words(), "arguments": arguments, "surplus": surplus, "way": way}


class MissingArgument(Finding):
    """A parameter without a default that got no argument."""

    code = "FD202"
    title = "`{step}` needs `{parameter}`"
    label = "`{name}` is missing here"
    help = "{way}"
    step: str
    name: str
    parameter: str  # with its type
    loop: str = ""  # the caller of the step: `fan_out` or `sweep`, which have arguments of their own
    named: bool = True  # whether it may be passed by name

    def words(self) -> dict[str, str]:
        """The fields, and the remedy: an argument of the loop itself is not passed to the step."""
        way = f"pass `{self.name}=...`" if self.named else "pass a value, without a name"
        way = f"{way}, or give the parameter a default"
        if self.loop and self.name in own_words(sweep if self.loop == "sweep" else fan_out):
            way = f"`{self.name}=` is for `{self.loop}` itself: give the parameter another name, or say it in `over`"
        return {**super().words(), "way": way}


class UnknownParameter(Finding):
    """An argument that the step has no parameter for."""

    code = "FD203"
    title = "`{step}` has no parameter `{name}`{named}"
    label = "{meant}"
    help = "{way}"
    step: str
    name: str
    close: str
    known: tuple[str, ...]
    option: bool = False  # whether a call may have an option of this name

    def words(self) -> dict[str, str]:
        """The fields, and the parameter that was probably meant, or the way to set an option."""
        way = f"use one of the parameters of `{self.step}`, or leave it out"
        if self.option:
            way = f"an option of one call is written `{self.step}.options({self.name}=...)`"
            return {**super().words(), "named": "", "meant": "that is an option", "way": way}
        if self.close == self.name:
            way = f"write the value alone, without `{self.name}=`"
            return {**super().words(), "named": " by name", "meant": "taken by position only", "way": way}
        meant = f"did you mean `{self.close}`?" if self.close else suggest(self.name, self.known)
        meant = meant or f"`{self.step}` takes no arguments"
        return {**super().words(), "named": "", "meant": meant, "way": way}


class RepeatedArgument(Finding):
    """One parameter got two arguments."""

    code = "FD204"
    title = "`{step}` gets `{name}` twice"
    label = "the second one"
    help = "keep one of the two"
    step: str
    name: str


#: Types that behave like numbers or lists in their libraries.
_ARRAY = regex(r"\b(numpy|torch|pandas|jaxlib|tensorflow|array)\.")


class WrongType(Finding):
    """An argument of a type that the parameter does not take."""

    code = "FD205"
    title = "`{parameter}` of `{step}` is {want}, not {have}"
    label = "{which}"
    help = "{way}"
    parameter: str
    step: str
    want: str
    have: str
    part: str = ""  # the problem with a part of the argument
    members: tuple[str, ...] = ()  # the allowed values, if they are few
    maker: str = ""  # the step that returns nothing
    fields: tuple[str, ...] = ()  # fields of the argument that would fit
    files: bool = False  # whether it may be None and has files, so that `either` cannot choose

    def words(self) -> dict[str, str]:
        """The fields, and the remedy for both types."""
        types = plain(self.want, self.have)
        which = self.part or f"this is {types['have']}"
        return {**super().words(), **types, "which": which, "way": self._way()}

    def _way(self) -> str:
        """The remedy for both types."""
        want, have, parameter = self.want, self.have, self.parameter
        if want == "Any" or ("Any" in want and " with " in have):
            return "pass what JSON has: str, int, float, bool, None, and lists and dicts of them"
        if have == "Any":
            return ANNOTATE
        if have == f"list[{want}]" or (have == "list" and "[" not in want):
            loop = f'fan_out({self.step}, over={{"{parameter}": ...}})'
            return f"to run `{self.step}` for each element write {loop}"
        if have == "None":
            way = f"pass {want}, from a step that is annotated `-> {want}`"
            if self.maker:
                way = f"let `{self.maker}` return it, annotated `-> {want}`"
            return f"{way}; or annotate `{parameter}` as `{want} | None`"
        if have == "list[None]" and self.maker:
            return f"let `{self.maker}` return the elements of {want}, and annotate what it returns"
        if self.members:
            return self._member()
        if self.fields:
            return f"pass a field of it: {' or '.join(f'`.{name}`' for name in self.fields[:6])}"
        if have == "Sweep":
            return "pass `.best`, or a field of that, which the best trial returned; or `.results`, what all returned"
        if have in ("Step", "Pipeline", "function"):
            return "call it: its result is what is passed on"
        if _ARRAY.search(have):
            return "convert it to a Python value: `.item()`, or `.tolist()` of an array"
        if have == "Volume":
            return 'pass a path on the volume: `volume / "folder/file"`, or `volume / "."` for all of it'
        if have in ("Secret", "Config"):
            option, name = {"Secret": ("secrets", "TOKEN"), "Config": ("env", "LEVEL")}[have]
            return f'write `{option}={{"{name}": {have}(name, key)}}` of the step, which reads the variable'
        if want == "str" and have.partition(" ")[0] in ("int", "float"):
            known = have.partition(" ")[2]
            text = f'in quotes, `"{known}"`' if known else 'as text, `f"{...}"`'
            return f"write it {text}; or change the annotation of `{parameter}`"
        if want == "str" and (row := by_name(have)) is not None:
            text = f"`{FORMS[row.form].written}`, inside a step if only the run knows it"
            if row.canonical:
                text = '`f"{...}"`'
            return f"write it as text: {text}; or change the annotation of `{parameter}`"
        if want.startswith("list[") and have in _LISTABLE:
            return f"make a list of it: `{'sorted' if have.endswith('set') else 'list'}(...)`"
        if have == "str" and by_name(want) is not None:
            return f"annotate `{parameter}` as `str`, and make the {want} of it inside the step"
        if have == f"{want} | None" and self.files:
            return f"annotate `{parameter}` as `{have}`, and see in `{self.step}` whether it is there"
        if have == f"{want} | None":
            return f"give it a default: `either(value, default)`; or annotate `{parameter}` as `{have}`"
        return f"pass {want}, or change the annotation of `{parameter}`"

    def _member(self) -> str:
        """The remedy where only a few values are allowed."""
        if self.have == "EnumType":
            return f"pass one of its members, or all of them where several are accepted: `*{self.want}`"
        way = f"pass {' or '.join(self.members[:6])}{' ...' if len(self.members) > 6 else ''}"
        if self.have.startswith(f"{self.want}."):  # of a Flag
            return f"{way}; a combination has no name: take a `list[{self.want}]`"
        return way


_LISTABLE = ("dict_keys", "dict_values", "filter", "frozenset", "generator", "map", "reversed", "set", "zip")
"""What Python loops over that is no list."""


class ChangedOnTheWay(Finding):
    """An argument for `Any` whose type JSON does not have."""

    code = "FD397"
    severity = "warning"
    title = "{what} arrives in `{parameter}` as {arrives}"
    label = "JSON has no {lacks}"
    help = "write {have} for Any in the annotation of `{parameter}`: then it arrives as that"
    parameter: str
    what: str
    have: str
    arrives: str
    lacks: str


def plain(want: str, have: str) -> dict[str, str]:
    """Two types as the user knows them."""
    return {"want": "a JSON value" if want == "Any" else want, "have": "None" if have == "NoneType" else have}


class LocalFile(Finding):
    """A path of this machine where a file of the cluster is wanted."""

    code = "FD222"
    title = "`{path}` is {what}"
    label = "not a file of the cluster"
    help = "{way}"
    path: str

    def words(self) -> dict[str, str]:
        """The fields, and the remedy: an address is fetched by a source."""
        word = fetched(self.path)
        if word:
            what, way = (
                "an address, which no step fetches on its own",
                f"say where the file comes from: `{word}`",
            )
            return {**super().words(), "what": what, "way": way}
        if self.path == "...":  # the text of a run-time value
            what, way = (
                "the text of a path of the cluster",
                "pass the path itself, without `str(...)` or quotes",
            )
            return {**super().words(), "what": what, "way": way}
        what = "a path on this machine, and the step runs in the cluster"
        inner = self.path
        if inner[:1] in "/~.\\":
            inner = inner.replace("\\", "/").rstrip("/").rpartition("/")[2].lstrip("~.") or "folder"
        way = f'pass the output of a step, or a path on a volume: `Volume("claim") / "{inner}"`'
        return {**super().words(), "what": what, "way": way}


def fetched(address: str) -> str:
    """The source for files at an address; empty if it is no address."""
    scheme, colon, rest = address.partition(":")
    where = rest.lstrip("/")
    if scheme.startswith("git@") or scheme in ("git", "ssh", "git+ssh", "git+https"):
        return f'Git("{address.removeprefix("git+")}", revision="...")'
    if not colon or not rest.startswith("/"):
        return ""
    bucket, _, key = where.partition("/")
    match scheme:
        case "s3" | "s3a" | "s3n":
            return f'S3("{key}", "{bucket}")'
        case "gs" | "gcs":
            return f'GCS("{key}", "{bucket}")'
        case "abfs" | "abfss" | "wasb" | "wasbs" | "az" | "azure":
            return 'Azure(blob, container, "https://ACCOUNT.blob.core.windows.net")'
        case "http" | "https":
            return (
                f'Git("{scheme}://{where}", revision="...")'
                if where.endswith(".git")
                else f'Http("{scheme}://{where}")'
            )
        case _:
            return ""


class OptionalUse(Finding):
    """A value that may be None was used as if it were not."""

    code = "FD223"
    title = "{what} on a value of type {type}, which may be None"
    label = "may be None when the pipeline runs"
    help = "{way}"
    what: str
    type: str
    files: bool = False  # whether it has files, so that `either` cannot choose

    def words(self) -> dict[str, str]:
        """The fields, and the remedy."""
        way = "give it a default first: `either(value, default)`"
        if self.files:
            way = f"pass it to a step that takes {self.type}, and use it there"
        return {**super().words(), "way": way}


class WrongDefault(Finding):
    """A default that is not of the parameter's type."""

    code = "FD238"
    title = "the default of `{parameter}` is {have}, not {want}"
    label = "this is {have}"
    help = "change the default or the annotation{way}"
    parameter: str
    want: str
    have: str

    def words(self) -> dict[str, str]:
        """The fields, with types as the user knows them."""
        way = f": `{self.want} | None`" if self.have == "None" else ""
        return {**super().words(), **plain(self.want, self.have), "way": way}
