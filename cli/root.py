"""The root of the command line, and the options that commands have in common."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

from cyclopts import App, Parameter

from flowdsl import __version__
from flowdsl.cli.display.report import Format
from flowdsl.cli.display.texts import line
from flowdsl.cli.process import STDIN, Refused
from flowdsl.compiler.argo_versions import LATEST, ArgoVersion
from flowdsl.runtime.names import perhaps
from flowdsl.runtime.phases import RunPhase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import DataclassInstance
    from cyclopts import Token

app = App(
    name="flowdsl",
    help="Pipelines in Python, compiled to Argo Workflows.",
    help_epilogue="""\
Example:
  flowdsl compile pipeline.py -o pipeline.yaml

flowdsl COMMAND --help shows the options of a command, and examples.

Exit codes: 0 done, 1 the answer is no (compile --check found a difference,
a run failed), 2 the input is wrong, 3 the cluster refused or was out of
reach, 4 the outcome of a run is unknown, 5 waited too long, 6 the run
is gone, 70 a bug of flowdsl, 130 interrupted.""",
    version=__version__,
    help_format="plaintext",
    group_parameters="Options",
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # `run` answers for it
)


def _named(tokens: Sequence[Token], what: str) -> str:
    """The text of a path; an empty one, as of a variable without a value, is not taken for the current folder."""
    if not tokens[0].value:
        raise Refused(f"the name of a {what} is empty: name one, or `.` for the current folder")
    return tokens[0].value


def _file(hint: Any, tokens: Sequence[Token]) -> Path:
    """Parses the path of a file to write; a trailing slash, which `Path` drops, means a folder, as dots do."""
    text = _named(tokens, "file")
    path = Path(text)
    if text == STDIN:
        raise Refused("- is not a file: name the one to write")
    if text.endswith("/") or path.name in ("", ".."):
        raise Refused(f"{text} is a folder: name a file in it, as {path / 'pipeline.yaml'}")
    return path


def _target(hint: Any, tokens: Sequence[Token]) -> Path:
    """Parses the path of a file to read, or FILE:NAME."""
    return Path(_named(tokens, "file"))


def _further(hint: Any, tokens: Sequence[Token]) -> Path:
    """Parses one more file to read, or FILE:NAME; neither a parameter nor a mere NAME is taken for one."""
    path = _target(hint, tokens)
    if (way := parameter_of(str(path))) and not path.exists():
        raise Refused(f"`{path}` is not a file; a parameter is given by {way}")
    if str(path).isidentifier() and not path.exists():
        raise Refused(f"there is no file `{path}`; a pipeline in a file is named by FILE:{path}")
    return path


def parameter_of(text: str) -> str:
    """`-p NAME=VALUE` for an argument that is only NAME=VALUE, else nothing."""
    name, sign, _ = text.partition("=")
    return f"-p {shlex.quote(text)}" if sign and name.isidentifier() else ""


def _folder(hint: Any, tokens: Sequence[Token]) -> Path:
    """Parses the path of a folder to write into."""
    text = _named(tokens, "folder")
    if text == STDIN:
        raise Refused("- is not a folder: name the one to write into")
    path = Path(text)
    if path.is_file():
        raise Refused(f"{path} is a file: name a folder to write into")
    return path


def _output(hint: Any, tokens: Sequence[Token]) -> Path | None:
    """Parses the path of a file to write; None for `-`, which is standard output."""
    return None if tokens[0].value == STDIN else _file(hint, tokens)


def _output_or_folder(hint: Any, tokens: Sequence[Token]) -> Path | None:
    """Parses the path of a file to write, or of an existing folder; None for `-`, which is standard output."""
    text = _named(tokens, "file")
    if Path(text).is_dir():
        return Path(text)
    if text.endswith("/"):
        raise Refused(f"{text} is not an existing folder: make it first, or name a file")
    return _output(hint, tokens)


FormatOption = Annotated[Format, Parameter(help="How to show findings.")]
ClusterOption = Annotated[str | None, Parameter(help="A cluster of the project's settings.")]
VersionOption = Annotated[
    ArgoVersion | None,
    Parameter(help=f"A version of Argo; else that of the cluster, or {LATEST}."),
]
OutputOption = Annotated[Path | None, Parameter(name=["--output", "-o"], converter=_output)]
OutputOrFolderOption = Annotated[Path | None, Parameter(name=["--output", "-o"], converter=_output_or_folder)]
FolderOption = Annotated[Path | None, Parameter(name=["--output", "-o"], converter=_folder)]
FolderArgument = Annotated[Path, Parameter(converter=_folder)]
FileArgument = Annotated[Path, Parameter(converter=_target)]
FurtherArgument = Annotated[Path, Parameter(converter=_further)]
WRITTEN = Parameter(converter=_file)


def _phases(hint: Any, tokens: Sequence[Token]) -> list[str]:
    """Parses phases of runs, case-insensitively; several are separated by commas, as in argo."""
    known = {phase.lower(): phase for phase in get_args(RunPhase)}
    wanted = [word for token in tokens for word in token.value.split(",")]
    for word in wanted:
        if word.lower() not in known:
            words = [*known.values()]
            raise Refused(f"--status {word}: must be one of {', '.join(words)}{perhaps(word, words)}")
    return [known[word.lower()] for word in wanted]


def _labels(hint: Any, tokens: Sequence[Token]) -> str:
    """Parses conditions on labels."""
    from flowdsl.runtime.status.selector import matches

    text = tokens[0].value.strip()
    try:
        matches(text, {})
    except ValueError as error:
        raise Refused(f"--selector: {line(str(error))}; write them as in team=vision,tier!=test") from None
    return text


def _pairs(hint: Any, tokens: Sequence[Token]) -> list[str]:
    """Parses NAME=VALUE pairs; in `-p NAME VALUE` the value would be taken for a file."""
    for token in tokens:
        if "=" not in token.value:
            raise Refused(f"-p {line(token.value)}: write -p NAME=VALUE")
    return [token.value for token in tokens]


def option(*names: str, converter: Callable[[Any, Sequence[Token]], Any] | None = None) -> Parameter:
    """An option with these names, else that of its argument; it has no negation, and its default is not shown."""
    return Parameter(name=names or None, negative="", show_default=False, converter=converter)


def written(options: DataclassInstance) -> list[str]:
    """The names of those options of a group that were given."""
    hints = get_type_hints(type(options), include_extras=True)
    found: list[str] = []
    for field in fields(options):
        if getattr(options, field.name) != field.default:
            hint = get_args(hints[field.name])
            named = [next(iter(one.name)) for one in hint if isinstance(one, Parameter) and one.name]
            found.append(named[0] if named else f"--{field.name.replace('_', '-')}")
    return found


FLAG = SEVERAL = option()
PARAMETERS = option("-p", "--parameter", converter=_pairs)
StatusOption = Annotated[list[RunPhase] | None, Parameter(negative="", converter=_phases)]
SelectorOption = Annotated[str, Parameter(name=["--selector", "-l"], show_default=False, converter=_labels)]
JsonOption = Annotated[bool, option("--json")]
OnlyJsonOption = Annotated[Literal["json"] | None, Parameter(name=["--output", "-o"], show=False)]
"""`-o json` of a command that has no other output to choose: it is known, and `--json` is what the help shows."""


def in_json(output: str | None, *, as_json: bool) -> bool:
    """Whether -o or --json request JSON: every command with output for programs takes both. Raises Refused."""
    if as_json and output not in (None, "json"):
        raise Refused(f"--json and -o {output}: choose one of them")
    return as_json or output == "json"


def filled(name: str, *texts: str | None) -> None:
    """Refuse an empty value of an option, which must not be taken for none at all. Raises Refused."""
    if "" in texts:
        raise Refused(f"{name}: it is empty, as that of an unset variable: give it, or leave out {name}")


def way_to_wait(timeout: str | None, **ways: bool) -> str:
    """The given option that waits for the end of a run, or nothing; `ways` are the possible ones. Raises Refused."""
    asked = [way for way, is_given in ways.items() if is_given]
    if len(asked) > 1:
        raise Refused(f"--{asked[0]} and --{asked[1]}: choose one of them")
    if timeout is not None and not asked:
        *words, last = (f"--{way}" for way in ways)
        raise Refused(f"--timeout is for waiting: add {', '.join(words)} or {last}")
    return asked[0] if asked else ""


def seconds_of(name: str, text: str, *, zero: bool = True, also: str = "") -> float:
    """The seconds of a duration that was given to an option: `90s`, `1d12h`; always with its unit. Raises Refused.

    `zero`: whether zero is allowed; `also`: the other values that the option accepts, for the end of the message.
    """
    from flowdsl.grammar.duration import seconds_in
    from flowdsl.grammar.error import GrammarError

    if text.isdecimal() and text.strip("0"):
        raise Refused(f"{name} {text}: write its unit, as in {text}s, {text}m, {text}h or {text}d")
    try:
        found = seconds_in(text)
    except GrammarError as error:
        raise Refused(f"{name} {line(text)}: {error}{also}") from None
    if found < 0 or (found == 0 and not zero):
        least = "must be 0 or longer" if zero else "must be longer than 0"
        raise Refused(f"{name} {text}: {least}, such as 90s, 20m or 6h")
    return found
