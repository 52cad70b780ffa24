"""What the images of steps have of Python: its version, and its own modules alone where they are those of Python."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.gone import unwritten
from flowdsl.compiler.checks.left_behind import Written, lies_beside
from flowdsl.compiler.checks.unbrought import read_by_name, unbrought, unmade
from flowdsl.compiler.findings import bodies as findings
from flowdsl.compiler.options import inherited
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.options import IN_THE_IMAGE
from flowdsl.pipeline import PipelineDef
from flowdsl.places.place import Definition
from flowdsl.values.later import known_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flowdsl.compiler.carry.carry import ModuleSource
    from flowdsl.compiler.carry.tree import Function
    from flowdsl.compiler.checks.variables import Variables
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Trace

_IMPORT = regex(r"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)
_PLAIN_IMAGE = regex(r"(?:docker\.io/)?(?:library/)?python(?:[:@].*)?")
_PUBLIC_IMAGE = regex(
    r"(?:docker\.io/)?(?:pytorch/pytorch|tensorflow/tensorflow|huggingface/[\w.-]+|nvidia/cuda|rocm/[\w.-]+)(?:[:@].*)?"
    r"|nvcr\.io/nvidia/.*"
)
_VERSION = regex(r"(?:docker\.io/)?(?:library/)?python:3\.(\d+)(?:[.@-].*)?")
_IN_EVERY_IMAGE = frozenset(("pip", "setuptools", "pkg_resources", "wheel", "flowdsl"))
# The versions 3.n since which there are parts of the syntax, by their nodes, and modules.
_SYNTAX = {
    "NamedExpr": ("`:=`", 8),
    "Match": ("`match`", 10),
    "TryStar": ("`except*`", 11),
    "TypeAlias": ("`type`", 12),
    "TemplateStr": ("a t-string", 14),
}
_MODULES = {"graphlib": 9, "zoneinfo": 9, "tomllib": 11, "annotationlib": 14}
# The same of what stands in modules that are older. Source: "New in version" of Python's documentation.
_NAMES = {
    "dataclasses": {"KW_ONLY": 10},
    "datetime": {"UTC": 11},
    "enum": {"StrEnum": 11, "verify": 11},
    "functools": {"cached_property": 8, "singledispatchmethod": 8, "cache": 9},
    "itertools": {"pairwise": 10, "batched": 12},
    "math": {
        "dist": 8,
        "isqrt": 8,
        "perm": 8,
        "prod": 8,
        "lcm": 9,
        "nextafter": 9,
        "ulp": 9,
        "cbrt": 11,
        "exp2": 11,
    },
    "statistics": {
        "fmean": 8,
        "geometric_mean": 8,
        "NormalDist": 8,
        "correlation": 10,
        "linear_regression": 10,
    },
    "typing": {
        **dict.fromkeys(("Final", "Literal", "Protocol", "TypedDict", "final", "runtime_checkable"), 8),
        "Annotated": 9,
        **dict.fromkeys(("Concatenate", "ParamSpec", "TypeAlias", "TypeGuard"), 10),
        **dict.fromkeys(("LiteralString", "Never", "NotRequired", "Required", "Self", "Unpack"), 11),
        **dict.fromkeys(("assert_never", "assert_type", "reveal_type"), 11),
        "override": 12,
    },
}
# The versions 3.n without modules that older ones have. Source: "What's New in Python", Removed.
_REMOVED = {
    **dict.fromkeys(("binhex",), 11),
    **dict.fromkeys(("asynchat", "asyncore", "distutils", "imp", "smtpd"), 12),
    **dict.fromkeys(
        ("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap"), 13
    ),
    **dict.fromkeys(("nis", "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib"), 13),
    **dict.fromkeys(("uu", "xdrlib"), 13),
}
_OF_DATACLASSES = frozenset(("slots", "kw_only", "match_args"))
"""Arguments of `dataclass` since 3.10."""


class Image(NamedTuple):
    """The image that a step is called with; `more`: packages or modules of the user's own are put into it.

    `elsewhere`: the step may begin in a folder that is not the image's. `brought`: files may come from elsewhere.
    """

    name: object
    more: bool
    elsewhere: bool
    brought: bool


def images_by_step(traces: Iterable[Trace]) -> dict[int, list[Image]]:
    """The images that each step is called with, by the id of the step."""
    found: dict[int, list[Image]] = {}
    for trace in traces:
        root = next(iter(trace.graphs.values())).owner
        for graph in trace.graphs.values():
            defaults = inherited(graph.owner, root)
            alike: set[int] = set()  # steps that were called here without options of the call: once is enough
            for call in graph.calls:
                target = call.target
                if isinstance(target, PipelineDef) or (not call.options and id(target) in alike):
                    continue
                if not call.options:
                    alike.add(id(target))
                found.setdefault(id(target), []).append(_image(call.options, target.options, defaults))
    return found


def _image(*levels: Mapping[str, object]) -> Image:
    """The image that the first of these options names."""
    asked = [options for options in levels if "packages" in options or "code" in options]
    brings = [known_options(options).get(word) for options in asked for word in ("packages", "code")]
    more = any(one and one != IN_THE_IMAGE for one in brings)
    elsewhere = any(options.get(word) is not None for options in levels for word in ("workdir", "argo"))
    brought = any(options.get(word) for options in levels for word in ("init", "mounts", "sidecars"))
    name = next((options["image"] for options in levels if "image" in options), None)
    return Image(name, more, elsewhere, brought)


def unsuited(written: Written, images_of: Callable[[], dict[int, list[Image]]]) -> Iterator[Diagnostic]:
    """Libraries that a step imports, where all its images have Python alone, and what is newer than their Python."""
    step, given, text = written
    body, module = given.node, given.module
    names = {*_IMPORT.findall(text)} - {"__future__"} if "import" in text else set[str]()
    # What nobody calls here may be called elsewhere, by a pipeline that brings packages.
    images = images_of().get(id(step)) or [_image(step.options)._replace(more=True)]
    if all(_is_public(one) and not one.elsewhere for one in images):
        for call, name in _own_files(given.variables, step.code.co_filename, text):
            yield Diagnostic(findings.FileBeside(name, str(images[0].name)), module.span(call))
    if all(_is_plain(one) and not (one.elsewhere or one.more or one.brought) for one in images):
        for call, name in unbrought(given, text):
            yield Diagnostic(findings.FileBeside(name, str(images[0].name), beside=False), module.span(call))
        for call, name, folder in unmade(given, text) if names <= sys.stdlib_module_names else ():
            why, way = (
                f"there is no folder `{folder}`",
                f"make it first: `Path({folder!r}).mkdir(parents=True)`",
            )
            fault = findings.Impossible(step.name, name, why, "FileNotFoundError", way)
            yield Diagnostic(fault, module.span(call))
        parts = unwritten(step, given, text) if names <= sys.stdlib_module_names else ()
        for value, lost in parts:
            yield Diagnostic(lost, module.span(value))
    # What Python runs here has been read by it, so it is not newer than that.
    older = [one for one in images if _version(one) < sys.version_info.minor]
    if older:
        newer = [*_new_syntax(body), *_new_modules(body, module, names), *_new_names(body, module, text)]
        for node, what, since in newer:
            for one in [one for one in older if _version(one) < since][:1]:
                finding = findings.NewerPython(str(one.name), f"3.{_version(one)}", what, f"3.{since}")
                yield Diagnostic(finding, module.span(node))
    plain = [one for one in images if not one.more and _is_plain(one)]
    gone = {name: _REMOVED[name] for name in names & _REMOVED.keys()}
    yield from _removed(step, body, module, gone, plain)
    tops = names - sys.stdlib_module_names - _IN_EVERY_IMAGE - gone.keys()
    if not tops or not plain or len(plain) < len(images) or ("pip" in text and "install" in text):
        return
    place = Related(Definition(step.code), f"needed by the step `{step.name}`")
    told: set[str] = set()
    for node, own in _imports(body, module):
        for top in _of(node, module) & tops - told:
            told.add(top)
            lacking = findings.NotInImage(str(plain[0].name), top)
            yield Diagnostic(lacking, module.span(node), () if own else (place,))


def _is_public(image: Image) -> bool:
    return _is_plain(image) or (type(image.name) is str and _PUBLIC_IMAGE.fullmatch(image.name) is not None)


def _own_files(variables: Variables, filename: str, text: str) -> Iterator[tuple[ast.Call, str]]:
    """Where a step reads files by names that it has not from anywhere else, and that lie beside its own file."""
    for node in variables.of(ast.Call):
        name = read_by_name(node)
        if not name or name[0] in "/~" or not lies_beside(filename, name):
            continue
        if text.count(f'"{name}"') + text.count(f"'{name}'") == 1:  # else it may be written first
            yield node, name


def _removed(
    step: StepDef, body: Function, module: ModuleSource, gone: Mapping[str, int], plain: list[Image]
) -> Iterator[Diagnostic]:
    """Imports of what the Python of an image has no more."""
    for node, own in _imports(body, module) if gone and plain else ():
        for top in sorted(_of(node, module) & gone.keys()):
            for one in [one for one in plain if _version(one) >= gone[top]][:1]:
                place = Related(Definition(step.code), f"needed by the step `{step.name}`")
                lacking = findings.NotInImage(str(one.name), top, f"3.{gone[top]}")
                yield Diagnostic(lacking, module.span(node), () if own else (place,))


def _is_plain(image: Image) -> bool:
    return type(image.name) is str and _PLAIN_IMAGE.fullmatch(image.name) is not None


def _version(image: Image) -> int:
    """The n of the Python 3.n in an image of Python; without one in its tag newer than any."""
    found = _VERSION.fullmatch(image.name) if type(image.name) is str else None
    return sys.maxsize if found is None else int(found[1])


def _new_syntax(body: Function) -> Iterator[tuple[ast.expr | ast.stmt, str, int]]:
    for node in ast.walk(body):
        if type(node).__name__ in _SYNTAX and isinstance(node, (ast.expr, ast.stmt)):
            yield node, *_SYNTAX[type(node).__name__]


def _new_modules(
    body: Function, module: ModuleSource, names: set[str]
) -> Iterator[tuple[ast.stmt, str, int]]:
    for node in (*body.body, *module.body):  # and not in `if`, which may ask for the version
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for top in sorted(_of(node, module) & names & _MODULES.keys()):
                yield node, f"the module `{top}`", _MODULES[top]


def _new_names(
    body: Function, module: ModuleSource, text: str
) -> Iterator[tuple[ast.expr | ast.stmt, str, int]]:
    """What a step takes from modules of Python that are older; `text` is its script.

    An import stands there on one line, with the names that are needed when it runs.
    """
    if "version_info" in text:
        return  # it may ask for the version
    for node in (*body.body, *module.body):
        match node:
            case ast.ImportFrom(str(source), names, 0) if source in _NAMES:
                for name in [alias.name for alias in names if alias.name in _NAMES[source]]:
                    if re.search(rf"^\s*from {source} import [^\n]*\b{name}\b", text, re.MULTILINE):
                        yield node, f"`{source}.{name}`", _NAMES[source][name]
            case ast.ClassDef(name, decorator_list=decorators) if f"class {name}" in text:
                for one in decorators:
                    if new := _of_dataclass(one):
                        yield one, f"`{new}` of a dataclass", 10
            case _:
                pass
    for part in ast.walk(body):
        match part:
            case ast.Attribute(ast.Name(name), attr):
                source = getattr(module.namespace.get(name), "__name__", "")
                since = _NAMES.get(source, {}).get(attr)
                if (
                    since is not None and source != "typing"
                ):  # whose names annotations have, which nobody evaluates
                    yield part, f"`{source}.{attr}`", since
            case _:
                pass


def _of_dataclass(decorator: ast.expr) -> str | None:
    """The first argument of a `dataclass(...)` that older ones do not have."""
    match decorator:
        case ast.Call(ast.Name("dataclass") | ast.Attribute(attr="dataclass"), [], keywords):
            return next((each.arg for each in keywords if each.arg in _OF_DATACLASSES), None)
        case _:
            return None


def _imports(body: Function, module: ModuleSource) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The imports of a function and of the top of its file: those without which it fails."""
    todo: list[tuple[ast.AST, bool]] = [(body, True), *((one, False) for one in module.body)]
    for node, own in todo:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, own
        elif own and not isinstance(node, ast.Try):
            todo.extend((one, True) for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt))


def _of(node: ast.Import | ast.ImportFrom, module: ModuleSource) -> set[str]:
    """The modules of an import, by their first names."""
    if isinstance(node, ast.ImportFrom):
        return {module.origin(node).partition(".")[0]} - {""}
    return {alias.name.partition(".")[0] for alias in node.names}
