"""Files that a step writes in its own pod, and that another step reads by the same path."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.tree import local_names
from flowdsl.compiler.checks.paths import SAVE, TO_FILES
from flowdsl.compiler.findings.bodies import LeftBehind
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.values.later import known_options
from flowdsl.values.lift import is_dict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.compiler.carry.tree import Function
    from flowdsl.compiler.checks.body import Body
    from flowdsl.places.place import Span
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Call, Trace

_LIBRARIES = frozenset(("cv2", "geopandas", "joblib", "numpy", "pandas", "polars", "soundfile", "torch"))
_LOAD = frozenset(("imread", "load", "loadtxt"))
_READS = regex(r"open\(|read_|load")
BRINGS = regex(
    "chdir|clone|download|extract|fetch|pull|retrieve|shutil|subprocess|symlink|sync|system|unpack"
)
"""Functions that may create a file without naming its path."""
_OF_THE_MACHINE = ("/dev/", "/proc/", "/sys/")


class Written(NamedTuple):
    """The function of a step, and its script.

    `text`: of the script. `needs`: the lowest Python 3.n for its syntax. `lines`: where in the file its statements
    start.
    """

    body: Body
    text: str
    needs: int
    lines: Callable[[], tuple[int, ...]]

    @property
    def step(self) -> StepDef:
        """The step of the function."""
        return self.body.step


def lies_beside(filename: str, name: str) -> bool:
    """Whether a file of this name is beside the one of the step."""
    try:
        return (Path(filename).parent / name).is_file()
    except OSError:  # the name is too long
        return False


def left_behind(steps: Sequence[Written], traces: Iterable[Trace]) -> Iterator[Diagnostic]:
    """Reads of a file that another step of the pipelines writes, unless the file is on a volume."""
    some = [one for one in steps if _READS.search(one.text) and not BRINGS.search(one.text)]
    files = {id(one.step): _Files(one) for one in some}
    readers = [one for one in some if files[id(one.step)].seen()]
    if not readers:
        return
    files.update({id(one.step): _Files(one) for one in steps if id(one.step) not in files})
    together = [{id(call.target) for call in trace.calls} for trace in traces]
    for one in readers:
        around = set[int]().union(*(some for some in together if id(one.step) in some))
        for path, node in files[id(one.step)].seen().items():
            if lies_beside(one.step.code.co_filename, path) or is_mounted(path, one.step, one.body.given):
                continue  # files beside the pipeline are reported as such
            for other in steps:
                place = files[id(other.step)].written.get(path)
                if other is not one and id(other.step) in around and place is not None:
                    finding = LeftBehind(one.step.name, path, other.step.name)
                    related = Related(place, "written here, in another pod")
                    yield Diagnostic(finding, one.body.module.span(node), (related,))
                    break


def is_mounted(path: str, step: StepDef, calls: Sequence[Call]) -> bool:
    """Whether something may be mounted at the path of a file."""
    for options in (known_options(step.options), *(known_options(call.options) for call in calls)):
        mounts: object = options.get("mounts") or {}
        if "argo" in options or "workdir" in options or not is_dict(mounts):
            return True
        if any(not isinstance(at, str) or f"{path}/".startswith(f"{at.rstrip('/')}/") for at in mounts):
            return True
        if mounts and not path.startswith("/"):
            return True
    return False


class _Files:
    """The files that a function reads and writes by literal paths."""

    def __init__(self, one: Written) -> None:
        self._module, self._text = one.body.module, one.text
        self._local = Counter(local_names(one.body.node))
        self._assigned = {
            target.id: value
            for statement in ast.walk(one.body.node)
            if isinstance(statement, ast.Assign)
            for target, value in [(statement.targets[0], statement.value)]
            if isinstance(target, ast.Name) and self._local[target.id] == 1
        }
        self._libraries = _imported(one.body.node, one.body.module)
        self._mentions: dict[str, set[int]] = {}
        self._names: dict[str, set[int]] = {}
        self._read: dict[str, ast.expr] = {}
        self._unclear = set[str]()
        self.written: dict[str, Span] = {}
        for statement in one.body.node.body:
            self._visit(statement, guarded=False)

    def seen(self) -> dict[str, ast.expr]:
        """The paths that the function only reads, and that no function that it uses touches."""
        return {
            path: node
            for path, node in self._read.items()
            if path not in self._unclear and path not in self.written and self._is_all(path)
        }

    def _is_all(self, path: str) -> bool:
        """Whether no other function of the script contains the path, or a name for it."""
        quoted = self._text.count(f'"{path}"') + self._text.count(f"'{path}'")
        names = [name for name in self._names if str(self._module.namespace[name]) == path]
        said = all(
            len(re.findall(rf"\b{name}\b", self._text)) <= len(self._names[name]) + 1 for name in names
        )
        return said and quoted <= max(len(self._mentions.get(path, ())), 1)

    def _visit(self, node: ast.AST, guarded: bool) -> None:
        match node:
            case ast.Call(ast.Name("open"), [first, *rest], keywords) if path := self._path(first):
                self._opened(
                    path, node, [*rest, *(one.value for one in keywords if one.arg == "mode")], guarded
                )
                inner: list[ast.AST] = []
            case ast.Call(ast.Attribute(first, verb), rest) if path := self._path(first):
                if verb in ("read_text", "read_bytes", "write_text", "write_bytes"):
                    self._note(path, node, verb[:1], guarded)
                elif verb == "open":
                    self._opened(path, node, rest, guarded)
                else:
                    self._unclear.add(path)
                inner = [*rest]
            case ast.Call(ast.Attribute(of, verb), arguments, keywords):
                library = isinstance(of, ast.Name) and of.id in self._libraries
                load = library and (verb in _LOAD or verb.startswith("read_"))
                save = verb in TO_FILES or (library and verb in SAVE)
                inner = [of, *(one.value for one in keywords)]
                for one in arguments:
                    path = self._path(one)
                    if path and (load or save):
                        self._note(path, node, "r" if load else "w", guarded)
                    else:
                        inner.append(one)
            case ast.Assign([ast.Name(name)], value) if name in self._assigned and self._path(value):
                inner = []
            case ast.expr() if path := self._path(node):
                self._unclear.add(path)
                inner = []
            case _:
                inner = [*ast.iter_child_nodes(node)]
        for part in inner:
            self._visit(part, guarded or isinstance(node, ast.Try))

    def _opened(self, path: str, node: ast.Call, mode: Sequence[ast.expr], guarded: bool) -> None:
        written = mode[0].value if mode and isinstance(mode[0], ast.Constant) else "" if mode else "r"
        kind = str(written).replace("b", "").replace("t", "")
        self._note(path, node, {"r": "r", "w": "w", "a": "w", "x": "w"}.get(kind, ""), guarded)

    def _note(self, path: str, node: ast.Call, kind: str, guarded: bool) -> None:
        if kind == "w":
            self.written.setdefault(path, self._module.span(node))
        elif kind == "r" and not guarded:
            self._read.setdefault(path, node)
        else:
            self._unclear.add(path)

    def _path(self, node: ast.expr) -> str:
        """The path that an expression denotes, if it is a literal; otherwise nothing."""
        match node:
            case ast.Constant(str() as text):
                self._mentions.setdefault(text, set()).add(id(node))
                found = text
            case ast.Call(ast.Name("Path") | ast.Attribute(attr="Path"), [inner], []):
                return self._path(inner)
            case ast.Name(name) if name in self._assigned:
                value = self._assigned[name]
                found = "" if isinstance(value, ast.Name) else self._path(value)
            case ast.Name(name) if name not in self._local:
                known = self._module.namespace.get(name)
                if not isinstance(known, (str, PurePath)):
                    return ""
                self._names.setdefault(name, set()).add(id(node))
                found = str(known)
            case _:
                return ""
        usual = found.startswith("/") or "." in found
        return found if usual and "://" not in found and not found.startswith(_OF_THE_MACHINE) else ""


def _imported(node: Function, module: ModuleSource) -> set[str]:
    """The names of libraries that read and write files, in a function."""
    found = set[str]()
    for one in (*ast.walk(node), *module.body):
        if isinstance(one, ast.Import):
            found |= {alias.asname or alias.name for alias in one.names if alias.name in _LIBRARIES}
    return found
