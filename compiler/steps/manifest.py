"""The object of a `resource` step, learned once."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.findings import kinds as findings
from flowdsl.compiler.findings.kinds import WORDS
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.options.reading import is_mapping, said
from flowdsl.compiler.steps.described import described
from flowdsl.compiler.steps.manifest_rules import judged
from flowdsl.diagnostic import Diagnostic, near, suggest
from flowdsl.grammar import jq, kube_path
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.grammar.scalar import plain
from flowdsl.mistakes import mistake
from flowdsl.places.place import Argument, Place
from flowdsl.tracing.trace import TOKEN, current, parts
from flowdsl.values import types as t
from flowdsl.values.expr import Expr, InPod, Poison
from flowdsl.values.later import of_run
from flowdsl.values.lift import lift, spelled
from flowdsl.values.value import expr_of, is_value, value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.ir import Managed, Origin
    from flowdsl.step import Described, StepDef

_SEVERAL = regex(r"\[\*\]|\.\.|\[\?|\brange\b|\[-?\d*:|\}.*\{")
_MARK = regex("flowdslinput(\\d+)x")
_MERGE = "tag:yaml.org,2002:merge"


class Manifest(NamedTuple):
    """An object over the inputs of its step, and where each result is read in it.

    `text`: as it was written, in YAML, without inputs. `file`: the input that contains it.
    """

    body: Expr | None
    text: str | None
    file: str | None
    outputs: Mapping[str, tuple[Origin, str]]


def manifest(definition: StepDef, managed: Managed) -> tuple[Manifest | None, list[Diagnostic]]:
    """The object of a step, and the errors in it."""

    def read(step: StepDef, told: Described, found: list[Diagnostic]) -> Manifest:
        return _read(step, told, managed, found)

    return described(definition, read)


def _read(step: StepDef, told: Described, managed: Managed, found: list[Diagnostic]) -> Manifest:
    written = told.arguments[0]
    place = Argument(told.site, position=0)
    outputs = _outputs(step, told, managed, found)
    if is_value(written):
        expr = expr_of(written)
        if isinstance(expr, InPod) and isinstance(expr.type, t.File):
            if managed.owner:
                problem = "comes from a file, in which Argo puts no owner"
                way = "leave `owner` out, or write the object here"
                found.append(Diagnostic(findings.BadManifest(step.name, problem, way), place))
            return Manifest(None, None, expr.name, outputs)
        if not isinstance(expr, Poison):
            problem, way = (
                "is an input that is not a file",
                "write the object as a dict, or take it as a `Path`",
            )
            found.append(Diagnostic(findings.BadManifest(step.name, problem, way), place))
        return Manifest(None, None, None, outputs)
    text = written if isinstance(written, str) and not TOKEN.search(written) else None
    if isinstance(written, str):
        written = _parsed(step, written, place, found)
        if written is None:
            return Manifest(None, None, None, outputs)
    body = _lifted(step, written, place, found)
    if body is not None:
        found.extend(judged(step, body, managed, place))
    return Manifest(body, text, None, outputs)


def _lifted(step: StepDef, written: object, place: Argument, found: list[Diagnostic]) -> Expr | None:
    """The object as an expression; None after an error."""
    wrong: list[Diagnostic] = []

    def complain(kind: str, **data: Any) -> None:

        where = place._replace(path=data.get("inside", ()))

        if kind == "WrongType" and "Path" in data["have"]:
            way = "take the path as a `str`, or give the file alone: `manifest(file)`"
            refused = findings.CannotTake(WORDS[step.kind], "use", "the input", "a file in an object", way)
            wrong.append(Diagnostic(refused, where))
        elif kind == "WrongType":
            problem = f"holds {data['have']}"
            finding = findings.BadManifest(
                step.name, problem, "use dicts, lists, strings, numbers and inputs"
            )
            wrong.append(Diagnostic(finding, where))
        else:
            wrong.append(Diagnostic(mistake(kind, **data), where))

    keys = _keys_with_inputs(written)
    if keys:
        problem, way = "has an input in a key", "put inputs into values"
        wrong.append(Diagnostic(findings.BadManifest(step.name, problem, way), place))
        found.extend(wrong)
        return None
    body = lift(written, t.JSON, complain, nested=True)
    found.extend(wrong)
    return None if wrong or isinstance(body, Poison) else body


def _keys_with_inputs(thing: object) -> bool:
    if is_value(thing):
        return False
    if is_mapping(thing):
        return any(
            (isinstance(key, str) and TOKEN.search(key)) or _keys_with_inputs(item)
            for key, item in thing.items()
        )
    return isinstance(thing, (list, tuple)) and any(map(_keys_with_inputs, cast("list[object]", thing)))


# --- text -----------------------------------------------------------------------------------------


def _parsed(step: StepDef, text: str, place: Place, found: list[Diagnostic]) -> object:
    """The data of a YAML text, with its inputs in their places; None after an error.

    Each input is parsed as a single word, so that its value cannot change how the text is parsed.
    """
    import textwrap

    import yaml

    marked: list[str] = []

    def mark(token: re.Match[str]) -> str:
        marked.append(token[0])
        return f"flowdslinput{len(marked) - 1}x"

    way = "correct the text, or write the object as a dict"
    try:
        documents = list(yaml.load_all(TOKEN.sub(mark, textwrap.dedent(text)), Loader=_loader()))
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        problem = f"is not YAML: {error.problem}{line}"
        found.append(Diagnostic(findings.BadManifest(step.name, problem, way), place))
        return None
    except yaml.YAMLError:
        problem = "is not YAML: it holds a character that YAML does not have"
        found.append(Diagnostic(findings.BadManifest(step.name, problem, way), place))
        return None
    if len(documents) != 1:
        problem, way = f"is {len(documents)} objects", "give each object a step of its own"
        if not documents:
            problem, way = "is an empty text", "write what the object is"
        found.append(Diagnostic(findings.BadManifest(step.name, problem, way), place))
        return None
    return _restored(documents[0], marked)


def _loader() -> Any:
    """A YAML loader like that of Kubernetes: unquoted scalars get the same types."""
    import yaml

    from flowdsl.compiler.yaml.nodes import PLAIN, unresolved

    loader = unresolved(yaml.SafeLoader)
    loader.yaml_implicit_resolvers["<"] = [(_MERGE, re.compile("<<$"))]
    loader.add_constructor(PLAIN, _scalar)
    return loader


class _Whole(NamedTuple):
    """An input that stands alone and unquoted: a value of its own type."""

    number: int


def _scalar(loader: Any, node: Any) -> object:
    """A scalar without quotes and tag."""
    found = _MARK.fullmatch(node.value)
    return plain(node.value) if found is None else _Whole(int(found[1]))


def _restored(thing: object, marked: list[str]) -> object:
    if isinstance(thing, _Whole):
        (part,) = parts(marked[thing.number], current())
        return part if isinstance(part, str) else value(part)
    if is_mapping(thing):
        return {_key(key, marked): _restored(item, marked) for key, item in thing.items()}
    if isinstance(thing, list):
        return [_restored(item, marked) for item in cast("list[object]", thing)]
    return _text(thing, marked)


def _key(thing: object, marked: list[str]) -> object:
    """A key, which is a text in JSON, with its inputs restored."""
    if isinstance(thing, _Whole):
        return marked[thing.number]
    return _text(thing, marked) if isinstance(thing, str) else json.dumps(thing)


def _text(thing: object, marked: list[str]) -> object:
    """A text with its inputs restored; anything else unchanged."""
    return _MARK.sub(lambda found: marked[int(found[1])], thing) if isinstance(thing, str) else thing


# --- results --------------------------------------------------------------------------------------


def _outputs(
    step: StepDef, told: Described, managed: Managed, found: list[Diagnostic]
) -> dict[str, tuple[Origin, str]]:
    """Where each result is read."""
    kinds = {out.name: out.type for out in t.outputs(step.signature.returns)}
    known = list(kinds)
    paths = _paths(step, told, known, found)
    if paths is None:
        return {}
    if managed.action == "delete" and (paths or known):
        place = next((place for _, place in paths.values()), told.site)
        problem = f"`{step.name}` reads results off an object that is deleted"
        way = "return None, and read them in a step before this one"
        found.append(Diagnostic(findings.ResultPath(problem, "nothing is left of it", way), place))
        return {}
    made: dict[str, tuple[Origin, str]] = {}
    missing = [name for name in known if name not in paths]
    for name, (path, place) in paths.items():
        if name in known:
            read = _path(path, kinds[name])
            if isinstance(read, findings.ResultPath):
                found.append(Diagnostic(read, place))
            else:
                made[name] = read
            continue
        close = near(name, missing)
        missing = [one for one in missing if one != close]
        label = suggest(name, known) or "it returns nothing"
        problem = f"`{step.name}` has no result `{name}`" if known else f"`{step.name}` returns nothing"
        way = "name the results of its return annotation, or add one there"
        found.append(Diagnostic(findings.ResultPath(problem, label, way), place))
    for name in missing:
        label = "which part of the object is it?"
        way = 'add its path: manifest(..., "{.metadata.uid}")'
        if known != ["return"]:
            way = f'add its path: outputs={{"{name}": "{{.metadata.uid}}"}}'
        problem = f"`{step.name}` does not say where its result{'' if known == ['return'] else f' `{name}`'} is read"
        found.append(Diagnostic(findings.ResultPath(problem, label, way), told.site))
    return made


def _paths(
    step: StepDef, told: Described, known: list[str], found: list[Diagnostic]
) -> dict[str, tuple[object, Place]] | None:
    """What is passed as the path of each result, and where; None after an error."""
    single, several = told.arguments[1], told.options["outputs"]
    paths: dict[str, tuple[object, Place]] = {}
    if single is not None:
        paths["return"] = single, Argument(told.site, position=1)
        if known and known != ["return"]:
            problem = f"`{step.name}` has several results, and one path has no name"
            way = f'write outputs={{"{known[0]}": "{{.status...}}"}}'
            about = findings.ResultPath(problem, "of which result?", way)
            found.append(Diagnostic(about, paths["return"][1]))
            return None
    if several is not None:
        if is_value(several) or not is_mapping(several):
            wrong = OptionType("outputs", "a dict of strings", spelled(several))
            found.append(Diagnostic(wrong, Argument(told.site, "outputs")))
            return None
        for name, path in several.items():
            paths[str(name)] = path, Argument(told.site, "outputs", part=f"item:{name}")
    return paths


def _path(path: object, kind: t.Type) -> tuple[Origin, str] | findings.ResultPath:
    """How a result of a type is read by a path, or why it cannot be."""
    reason = _unreadable(path)
    if reason or not isinstance(path, str):
        shown = "a run-time value"
        if not is_value(path):
            shown = f"`{TOKEN.sub('...', path if isinstance(path, str) else said(path))}`"
        way = 'write a JSONPath, "{.metadata.uid}", or a filter of jq, ".status.succeeded"'
        if isinstance(path, str) and reason == _NO_DOT:
            bare = path.strip().strip("{}").lstrip("$").lstrip(".")
            way = f'write "{{.{bare}}}", a JSONPath, or ".{bare}", a filter of jq'
        return findings.ResultPath(f"{shown} is not a path to a result", reason, way)
    text = path.strip()
    if not text.startswith("{"):
        return "jq", text
    if not t.is_text(kind) and _SEVERAL.search(text):
        problem = f"`{text}` finds several values, and kubectl writes them with blanks between"
        way = f'use a filter of jq, which writes JSON: "[{text[1:-1].replace("[*]", "[]")}]"'
        return findings.ResultPath(problem, f"no {t.spell(kind)}", way)
    return "json path", text


def _unreadable(path: object) -> str:
    """Why a text is not a path to a result; empty if it may be one."""
    if of_run(path) or not isinstance(path, str):
        return "it must be a string that is known now"
    text = path.strip()
    if not text:
        return "it is empty"
    if "{{" in text:
        return "Argo would read `{{` as the beginning of a tag"
    for opening, closing in ("{}", "[]", "()"):
        if text.count(opening) != text.count(closing):
            return f"`{opening}` and `{closing}` come in pairs"
    if text.startswith("{") and not text.endswith("}"):
        return "a JSONPath ends with `}`"
    if text.startswith("{"):
        try:
            kube_path.check(text)
        except GrammarError as error:
            return str(error)
        return ""
    try:
        jq.check(text)
    except GrammarError as error:
        return _NO_DOT if _BARE_PATH.fullmatch(text) else str(error)
    return ""


_NO_DOT = "a path begins with a dot"
_BARE_PATH = regex(r"(\$|[A-Za-z_]\w*)(?:\.[A-Za-z_][\w-]*|\[\d*\])*")
