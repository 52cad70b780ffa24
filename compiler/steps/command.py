"""The command line of a container step, learned once and bound to each call's forms."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.carry.text import argo_tags, control_characters, replaced_dollar
from flowdsl.compiler.checks.kinds import one_result, serves
from flowdsl.compiler.expressions import text_of
from flowdsl.compiler.findings import bodies, kinds
from flowdsl.compiler.findings.commands import (
    CommandPart,
    NoCommand,
    NotWritten,
    ShellText,
    UnknownOutputPath,
)
from flowdsl.compiler.findings.control import NotYetKnown
from flowdsl.compiler.findings.data import CheckpointUse
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.findings.surroundings import BadEnvName, SecretInText
from flowdsl.compiler.forms import (
    PLAIN,
    Absent,
    File,
    Form,
    Mounted,
    Parts,
    part_names,
    part_types,
    port_names,
)
from flowdsl.compiler.options.reading import is_mapping
from flowdsl.compiler.ports import IN
from flowdsl.compiler.steps.described import described
from flowdsl.compiler.steps.paths import FixedPath, fixed_paths
from flowdsl.diagnostic import Diagnostic, near
from flowdsl.grammar.command_line import is_command_line, shell_text_at
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_env_name
from flowdsl.grammar.template import is_filled
from flowdsl.mistakes.texts import DamagedText
from flowdsl.places.place import Argument, Place
from flowdsl.run import AT_THE_END
from flowdsl.tracing.trace import DAMAGED
from flowdsl.values import types as t
from flowdsl.values.expr import (
    Checkpoint,
    Const,
    Expr,
    Get,
    InPod,
    Join,
    Param,
    Poison,
    RunField,
    leaves,
    substitute,
)
from flowdsl.values.joined import literals, text
from flowdsl.values.lift import spelled
from flowdsl.values.value import expr_of, is_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.places.place import Site
    from flowdsl.step import Described, StepDef

_USUAL: Mapping[str, Expr] = {}


class CommandLine(NamedTuple):
    """The words of a command, and its environment variables, over the inputs of the step."""

    site: Site
    words: tuple[Expr, ...]
    env: tuple[tuple[str, Expr], ...]
    source: Expr | None = None  # a script that is passed to the command as a file
    stdout: bool = False  # whether what it prints is the result
    paths: tuple[FixedPath, ...] = ()  # the fixed paths of the program's files, if any

    def placed(self, forms: Mapping[str, Form]) -> dict[str, Expr]:
        """The fixed paths of the program, by the names of inputs and outputs."""
        return {
            one.name: Const(one.path, t.TEXT) if one.made is None else bind(one.made, forms)
            for one in self.paths
        }

    def fixed(self, forms: Mapping[str, Form]) -> dict[str, str]:
        """The same as texts, with tags for values of the run."""
        return {name: text_of(path, t.TEXT) for name, path in self.placed(forms).items()}

    def bound(
        self, forms: Mapping[str, Form], outputs: Mapping[str, Expr]
    ) -> tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...], Expr | None]:
        """The same with each input replaced by the parameter or path of its form, and each output by its path.

        `outputs` are the paths of outputs that have no fixed one.
        """
        fixed = self.placed(forms)

        def said(expr: Expr) -> Expr:
            return bind(expr, forms, fixed, {**outputs, **fixed})

        source = None if self.source is None else said(self.source)
        return tuple(map(said, self.words)), tuple((name, said(value)) for name, value in self.env), source


def command_line(definition: StepDef) -> tuple[CommandLine | None, list[Diagnostic]]:
    """What a container step runs, and the errors in it."""
    return described(definition, _read)


def _read(definition: StepDef, said: Described, found: list[Diagnostic]) -> CommandLine:
    words = _words(definition, said, found)
    env = _environment(definition, said, found)
    found += _flawed(definition, words, said)
    found += _printing(definition, said)
    parts: list[tuple[Expr, Place]] = [
        (word, Argument(said.site, position=position)) for position, word in enumerate(words)
    ]
    parts += [(value, Argument(said.site, "env", part=f"item:{name}")) for name, value in env]
    source = _source(definition, said, found)
    if source is not None:
        parts.append((source, Argument(said.site, "source")))
    written = _written(definition, said)
    paths = fixed_paths(definition, said, written, found)
    _outputs(definition, parts, said, written, {one.name for one in paths}, found)
    stdout = said.options["stdout"] is True
    return CommandLine(said.site, tuple(words), tuple(env), source, stdout, paths)


def _words(definition: StepDef, said: Described, found: list[Diagnostic]) -> list[Expr]:
    """The words of the command. The one that a shell executes as its program must not contain inputs."""
    places = [Argument(said.site, position=position) for position, _ in enumerate(said.arguments)]
    words = [
        _word(definition, argument, "a part of the command", place, found)
        for argument, place in zip(said.arguments, places, strict=True)
    ]
    text = shell_text_at([word.value if isinstance(word, Const) else None for word in words])
    if text is not None and any(isinstance(leaf, InPod) for leaf in leaves(words[text])):
        found.append(Diagnostic(ShellText(), places[text]))
    return words


def _environment(definition: StepDef, said: Described, found: list[Diagnostic]) -> list[tuple[str, Expr]]:
    """The environment variables of the command."""
    env: list[tuple[str, Expr]] = []
    for name, value in _variables(said, found).items():
        place = Argument(said.site, "env", part=f"item:{name}")
        if not isinstance(name, str) or not is_env_name(name):
            wrong = Argument(said.site, "env", part=f"key:{name}")
            found.append(Diagnostic(BadEnvName(str(name)), wrong))
        elif type(value) is str and bodies.is_secret(name, value):
            found.append(Diagnostic(SecretInText(name), place))
        env.append((name, _word(definition, value, f"the variable `{name}`", place, found)))
    return env


def _flawed(definition: StepDef, words: list[Expr], said: Described) -> Iterator[Diagnostic]:
    """The errors in the combination of the words of a command."""
    if not words:
        yield Diagnostic(NoCommand(definition.name), said.site)
        return
    pieces = _pieces(words[0])
    first = "".join(map(_shown, pieces)).strip()
    certain = isinstance(words[0], Const) and (not words[0].value or is_command_line(first))
    if certain or (len(words) == 1 and " " in first):
        filled = tuple(_shown(one)[1:-1] for one in pieces if not isinstance(one, str))
        kind = bodies.NoProgram if certain else bodies.OneWord
        finding = kind(first, tuple(definition.signature.by_name), filled, len(words) > 1)
        yield Diagnostic(finding, Argument(said.site, position=0))
    else:
        yield from _unfilled(definition, words, said)


def _pieces(word: Expr) -> tuple[str | Expr, ...]:
    """The literal parts of a word, and the values between them."""
    return word.parts if isinstance(word, Join) else (word.value,) if isinstance(word, Const) else (word,)


def _shown(piece: str | Expr) -> str:
    """A piece of a word as in an f-string."""
    match piece:
        case str():
            return piece
        case InPod(name, _, True):
            return f"{{output({name!r})}}" if name != "return" else "{output()}"
        case InPod(name):
            return f"{{{name}}}"
        case _:
            return "{...}"


def _printing(definition: StepDef, said: Described) -> Iterator[Diagnostic]:
    """The errors about `stdout`, which makes what the command prints the result."""
    stdout = said.options["stdout"]
    if is_value(stdout) or not isinstance(stdout, bool):
        flag = OptionType("stdout", "True or False", spelled(stdout))
        yield Diagnostic(flag, Argument(said.site, "stdout"))
    elif stdout and (several := one_result(definition, "what a command prints")) is not None:
        yield several


def _unfilled(definition: StepDef, words: list[Expr], said: Described) -> Iterator[Diagnostic]:
    """Words in which an input is in braces, as if they were an f-string."""
    inputs = tuple(definition.signature.by_name)
    for position, word in enumerate(words):
        if isinstance(word, Const) and (names := bodies.unfilled(word.value, inputs)):
            finding = bodies.NotFilled(word.value, names[0])
            yield Diagnostic(finding, Argument(said.site, position=position))


def _variables(said: Described, found: list[Diagnostic]) -> Mapping[Any, object]:
    env = said.options["env"]
    if not is_value(env) and is_mapping(env):
        return env
    finding = OptionType("env", "a dict of strings", spelled(env))
    found.append(Diagnostic(finding, Argument(said.site, "env")))
    return {}


def _source(definition: StepDef, said: Described, found: list[Diagnostic]) -> Expr | None:
    """The script of a command: text written by the user, which may contain no values but the paths of outputs."""
    source = said.options["source"]
    if source is None:
        return None
    place = Argument(said.site, "source")
    if is_value(source):
        found.append(Diagnostic(kinds.SourceInput(), place))
        return None
    if not isinstance(source, str):
        found.append(Diagnostic(OptionType("source", "a string", spelled(source)), place))
        return None
    made = text(source)
    if any(
        not (isinstance(leaf, (Const)) or (isinstance(leaf, InPod) and leaf.output)) for leaf in leaves(made)
    ):
        found.append(Diagnostic(kinds.SourceInput(), place))
        return None
    parts = made.parts if isinstance(made, Join) else (source,)
    for part in parts:
        if isinstance(part, str):
            flaws = (kinds.SourceText(definition.name, *flaw) for flaw in _flaws(part))
            found.extend(Diagnostic(flaw, place) for flaw in flaws)
    return made


def _flaws(source: str) -> Iterator[tuple[str, str, str]]:
    """What would be changed on the way in a script: what, why, and the remedy. See `carry_text`."""
    for _, name in control_characters(source):
        yield name, "Argo cannot pass on this character", "write it by its escape, or leave it out"
    for tag in argo_tags(source):
        yield (
            f"`{tag.text}`",
            "Argo would evaluate it",
            "take it apart, or pass the text as a variable: `env={...}`",
        )
    if (dollar := replaced_dollar(source)) is not None:
        shown = source[dollar:].partition(")")[0] + ")" if source[dollar + 1] == "(" else "$$"
        yield (
            f"`{shown}`",
            "Kubernetes would replace it",
            'write it in parts, such as `"$""$"`, or pass it by `env={...}`',
        )


def _word(definition: StepDef, argument: object, where: str, place: Place, found: list[Diagnostic]) -> Expr:
    if is_value(argument):
        return _steady(_single(definition, expr_of(argument), where, place, found), place, found)
    if isinstance(argument, (int, float)) and not isinstance(argument, bool):
        return Const(str(argument), t.TEXT)
    if not isinstance(argument, (str, PurePath)):
        have = type(argument).__name__
        found.append(Diagnostic(CommandPart(definition.name, have, where), place))
        return Poison()
    word = text(str(argument))
    for literal in literals(word):
        if "{{" in literal:
            from flowdsl.mistakes.literals import LiteralBraces

            if DAMAGED.search(literal):
                found.append(Diagnostic(DamagedText(), place))
            elif is_filled(literal):
                found.append(Diagnostic(LiteralBraces(literal), place))
    for part in word.parts if isinstance(word, Join) else ():
        if isinstance(part, InPod):
            _single(definition, part, where, place, found)
    return _steady(word, place, found)


def _single(definition: StepDef, expr: Expr, where: str, place: Place, found: list[Diagnostic]) -> Expr:
    """The same, unless it is an input with several files, which is reported: programs take single paths."""
    if isinstance(expr, InPod) and t.holds_file(expr.type):
        kind = t.without_none(expr.type)
        if not isinstance(kind, t.File):
            found.append(Diagnostic(CommandPart(definition.name, t.spell(kind), where, True), place))
    return expr


def _steady(word: Expr, place: Place, found: list[Diagnostic]) -> Expr:
    """The same, if it is the same for each task of the step, whenever that may run; else it is reported."""
    for leaf in leaves(word):
        if isinstance(leaf, RunField) and leaf.name in AT_THE_END:
            found.append(Diagnostic(NotYetKnown(leaf.name), place))
        if isinstance(leaf, Checkpoint):
            found.append(Diagnostic(CheckpointUse(), place))
    return word


def _written(definition: StepDef, said: Described) -> tuple[str, ...]:
    """The outputs that the program writes to files."""
    if serves(definition) or said.options["stdout"] is True:
        return ()
    return tuple(out.name for out in t.outputs(definition.signature.returns))


def _outputs(
    definition: StepDef,
    parts: list[tuple[Expr, Place]],
    said: Described,
    known: tuple[str, ...],
    fixed: set[str],
    found: list[Diagnostic],
) -> None:
    """Check that every output has a path, in the command line or `fixed`, and every path an output."""
    named = set(fixed)
    for word, place in parts:
        for leaf in leaves(word):
            if not isinstance(leaf, InPod) or not leaf.output or leaf.name in named:
                continue
            named.add(leaf.name)
            if leaf.name not in known:
                found.append(Diagnostic(UnknownOutputPath(leaf.name, known, definition.name), place))
                # It is a typo for the missing one.
                named.update(filter(None, [near(leaf.name, known)]))
    stdout = said.options["stdout"]
    if is_value(stdout) or not isinstance(stdout, bool):
        return  # what is printed may be meant to be the result
    missing = [NotWritten(definition.name, name) for name in known if name not in named]
    found.extend(Diagnostic(finding, said.site) for finding in missing)


def bind(
    expr: Expr,
    forms: Mapping[str, Form],
    fixed: Mapping[str, Expr] = _USUAL,
    outputs: Mapping[str, Expr] = _USUAL,
) -> Expr:
    """Convert an expression over the inputs and outputs of a step to the parameters and paths of its template.

    `fixed` are the paths of inputs that do not have the usual one, `outputs` those of outputs: the names of one may
    be those of the other.
    """

    def bound(one: Expr) -> Expr | None:
        match one:
            case InPod(name, _, True):
                return outputs.get(name) or Const("", t.TEXT)  # one that is not an output was reported
            case InPod(name, kind):
                # An optional file has its path, whether it exists or not.
                if isinstance(forms.get(name, PLAIN), (File, Absent)):
                    return fixed.get(name) or Const(f"{IN}/{name}", t.TEXT)
                return Param(name, kind)
            case Get(of, key):
                return _part(substitute(of, bound), of, str(key), forms)
            case _:
                return None

    return substitute(expr, bound)


def _part(whole: Expr, of: Expr, key: str, forms: Mapping[str, Form]) -> Expr | None:
    """A part of an input that is passed in parts, each of which is a separate input; None for any other."""
    name = of.name if isinstance(of, InPod) else whole.name if isinstance(whole, Param) else ""
    form = _form(name, forms)
    if not isinstance(form, Parts) or key not in part_names(form):
        return None
    at = part_names(form).index(key)
    inner = form.forms[at]
    port = f"{name}-{port_names(form)[at]}"
    kind = t.TEXT if isinstance(inner, Mounted) else part_kind(of.type, form, key)
    return Const(f"{IN}/{port}", t.TEXT) if isinstance(inner, (File, Absent)) else Param(port, kind)


def _form(name: str, forms: Mapping[str, Form]) -> Form | None:
    """The form of an input, or of the part of one for which a port is named."""
    if name in forms:
        return forms[name]
    for whole, form in forms.items():
        if isinstance(form, Parts) and name.startswith(f"{whole}-"):
            inner = {f"{whole}-{part}": one for part, one in zip(port_names(form), form.forms, strict=True)}
            return _form(name, inner)
    return None


def part_kind(kind: t.Type, form: Parts, key: str) -> t.Type:
    """The type of a part."""
    return part_types(kind, form)[part_names(form).index(key)]
