"""Which images a step has, and what these do not have: files, modules, names of a newer Python."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.left_behind import Written, lies_beside
from flowdsl.compiler.checks.missing_files import unwritten
from flowdsl.compiler.checks.python_versions import NEWEST, first_names, newer
from flowdsl.compiler.checks.relative_files import read_by_name, unbrought, unmade
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
    from collections.abc import Callable, Iterable, Iterator, Mapping, Set

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
# The versions 3.n that lack modules of older ones. Source: "What's New in Python", Removed.
_REMOVED = {
    **dict.fromkeys(("binhex",), 11),
    **dict.fromkeys(("asynchat", "asyncore", "distutils", "imp", "smtpd"), 12),
    **dict.fromkeys(
        ("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap"), 13
    ),
    **dict.fromkeys(("nis", "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib"), 13),
    **dict.fromkeys(("uu", "xdrlib"), 13),
}


class Image(NamedTuple):
    """The image of a step's call; `more`: the user's packages or modules are added to it.

    `elsewhere`: the working directory may not be the image's. `brought`: files may come from elsewhere.
    """

    name: object
    more: bool
    elsewhere: bool
    brought: bool


def images_by_step(traces: Iterable[Trace]) -> dict[int, list[Image]]:
    """The images of the calls of each step, by the id of the step."""
    found: dict[int, list[Image]] = {}
    for trace in traces:
        root = trace.root.owner
        for graph in trace.graphs.values():
            defaults = inherited(graph.owner, root)
            alike: set[int] = set()  # steps already called here without options of the call
            for call in graph.calls:
                target = call.target
                if isinstance(target, PipelineDef) or (not call.options and id(target) in alike):
                    continue
                if not call.options:
                    alike.add(id(target))
                found.setdefault(id(target), []).append(_image(call.options, target.options, defaults))
    return found


def _image(*levels: Mapping[str, object]) -> Image:
    """The image of the first options that have one."""
    asked = [options for options in levels if "packages" in options or "code" in options]
    brings = [known_options(options).get(word) for options in asked for word in ("packages", "code")]
    more = any(one and one != IN_THE_IMAGE for one in brings)
    elsewhere = any(options.get(word) is not None for options in levels for word in ("workdir", "argo"))
    brought = any(options.get(word) for options in levels for word in ("init", "mounts", "sidecars"))
    name = next((options["image"] for options in levels if "image" in options), None)
    return Image(name, more, elsewhere, brought)


def unsuited(written: Written, images_of: Callable[[], dict[int, list[Image]]]) -> Iterator[Diagnostic]:
    """What a step needs and its images do not have: files, modules, and a newer Python."""
    # A step without calls here may be called elsewhere, by a pipeline that adds packages.
    images = images_of().get(id(written.step)) or [_image(written.step.options)._replace(more=True)]
    names = {*_IMPORT.findall(written.text)} - {"__future__"} if "import" in written.text else set[str]()
    yield from _files(written, images, names)
    yield from _newer(written, images, names)
    yield from _removed(written, images, names)
    yield from _lacking(written, images, names)


def _files(written: Written, images: list[Image], names: set[str]) -> Iterator[Diagnostic]:
    """Files and folders that are used in a pod that nothing brings them to, or that are never written there."""
    step, given, text = written.step, written.body, written.text
    span, image = given.module.span, str(images[0].name)
    if all(_is_public(one) and not one.elsewhere for one in images):
        for call, name in _own_files(given.variables, step.code.co_filename, text):
            yield Diagnostic(findings.FileBeside(name, image), span(call))
    if not all(_is_plain(one) and not (one.elsewhere or one.more or one.brought) for one in images):
        return
    for call, name in unbrought(given, text):
        yield Diagnostic(findings.FileBeside(name, image, beside=False), span(call))
    if not names <= sys.stdlib_module_names:
        return
    for call, name, folder in unmade(given, text):
        why = f"there is no folder `{folder}`"
        way = f"make it first: `Path({folder!r}).mkdir(parents=True)`"
        yield Diagnostic(findings.Impossible(step.name, name, why, "FileNotFoundError", way), span(call))
    for value, lost in unwritten(given, text):
        yield Diagnostic(lost, span(value))


def _newer(written: Written, images: list[Image], names: set[str]) -> Iterator[Diagnostic]:
    """What is newer than the Python of an image."""
    older = [one for one in images if _version(one) < NEWEST]
    for new in newer(written, names) if older else ():
        for one in [one for one in older if _version(one) < new.since][:1]:
            finding = findings.NewerPython(str(one.name), f"3.{_version(one)}", new.what, f"3.{new.since}")
            yield Diagnostic(finding, new.place, _needed_by(written.step, new.own))


def _removed(written: Written, images: list[Image], names: set[str]) -> Iterator[Diagnostic]:
    """Imports of modules that the Python of an image no longer has."""
    gone = {name: _REMOVED[name] for name in names & _REMOVED.keys()}
    plain = _only_python(images)
    for node, top, own in _imported(written, gone.keys()) if plain else ():
        for one in [one for one in plain if _version(one) >= gone[top]][:1]:
            lacking = findings.NotInImage(str(one.name), top, f"3.{gone[top]}")
            yield Diagnostic(lacking, written.body.module.span(node), _needed_by(written.step, own))


def _lacking(written: Written, images: list[Image], names: set[str]) -> Iterator[Diagnostic]:
    """Imports of libraries that none of the images has."""
    text = written.text
    if len(_only_python(images)) < len(images) or ("pip" in text and "install" in text):
        return
    told: set[str] = set()
    tops = names - sys.stdlib_module_names - _IN_EVERY_IMAGE - _REMOVED.keys()
    for node, top, own in _imported(written, tops):
        if top not in told:
            told.add(top)
            lacking = findings.NotInImage(str(images[0].name), top)
            yield Diagnostic(lacking, written.body.module.span(node), _needed_by(written.step, own))


def _needed_by(step: StepDef, own: bool) -> tuple[Related, ...]:
    """The step, as a place that explains a finding outside of its `own` function."""
    return () if own else (Related(Definition(step.code), f"needed by the step `{step.name}`"),)


def _only_python(images: list[Image]) -> list[Image]:
    """The images with nothing but Python, to which a user adds nothing."""
    return [one for one in images if not one.more and _is_plain(one)]


def _is_public(image: Image) -> bool:
    return _is_plain(image) or (type(image.name) is str and _PUBLIC_IMAGE.fullmatch(image.name) is not None)


def _own_files(variables: Variables, filename: str, text: str) -> Iterator[tuple[ast.Call, str]]:
    """Reads of files by literal names that occur nowhere else, and that are beside the step's own file."""
    for node in variables.of(ast.Call):
        name = read_by_name(node)
        if not name or name[0] in "/~" or not lies_beside(filename, name):
            continue
        if text.count(f'"{name}"') + text.count(f"'{name}'") == 1:  # otherwise it may be written before
            yield node, name


def _is_plain(image: Image) -> bool:
    return type(image.name) is str and _PLAIN_IMAGE.fullmatch(image.name) is not None


def _version(image: Image) -> int:
    """The n of Python 3.n in a Python image; without one in its tag, newer than any."""
    found = _VERSION.fullmatch(image.name) if type(image.name) is str else None
    return sys.maxsize if found is None else int(found[1])


def _imported(written: Written, modules: Set[str]) -> Iterator[tuple[ast.Import | ast.ImportFrom, str, bool]]:
    """The imports of these modules without which the function fails, and whether each is in the function itself."""
    module = written.body.module
    todo: list[tuple[ast.AST, bool]] = []
    if modules:
        todo = [(written.body.node, True), *((one, False) for one in module.body)]
    for node, own in todo:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for top in sorted(first_names(node, module) & modules):
                yield node, top, own
        elif own and not isinstance(node, ast.Try):
            todo.extend((one, True) for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt))
