"""A change of one call changes its own block and those of its dependants, and nothing else.

Every example is changed in every way below, at every statement, and compiled before and after. The parts
of the two manifests are compared one by one: tasks, and templates without their tasks.
"""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from flowdsl.compiler.argo.provenance import SOURCE, SPEC
from flowdsl.compiler.compile import Compiled, compile_loaded
from flowdsl.compiler.load import load

ROOT = Path(__file__).resolve().parents[1]
FILES = {path.parent.name: path for path in sorted(ROOT.glob("examples/*/pipeline.py"))}
LOOPS = ("fan_out", "sweep")

#: A step that every changed example may call; a definition that no pipeline calls has no effect.
PROBE = """
from flowdsl import step

@step(image="busybox:1.37.0")
def probe(number: int = 0) -> int:
    return number
"""


# --- changing a source -----------------------------------------------------------------------------


class Block(NamedTuple):
    """A list of statements in the body of a pipeline, and the names that are defined before it."""

    pipeline: str
    path: tuple[int, ...]  # of the `with` statements that lead to it
    statements: list[ast.stmt]
    known: frozenset[str]


class Called(NamedTuple):
    """A call of a step as a statement: alone, assigned, or returned."""

    block: Block
    position: int
    call: ast.Call
    target: str | None  # the variable it is assigned to
    step: str


def tree_of(name: str) -> ast.Module:
    tree = ast.parse(FILES[name].read_text(encoding="utf-8"))
    at = next(index for index, node in enumerate(tree.body) if isinstance(node, ast.FunctionDef))
    tree.body[at:at] = ast.parse(PROBE).body
    return tree


def decorated(tree: ast.Module, *words: str) -> dict[str, ast.FunctionDef]:
    """The functions with one of these decorators, by name."""
    found: dict[str, ast.FunctionDef] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names = {
                each.id for one in node.decorator_list for each in ast.walk(one) if isinstance(each, ast.Name)
            }
            if names & set(words):
                found[node.name] = node
    return found


def blocks(tree: ast.Module) -> list[Block]:
    """The body of every pipeline, and the bodies of the `with` statements in it."""
    found: list[Block] = []

    def walk(pipeline: str, path: tuple[int, ...], statements: list[ast.stmt], known: frozenset[str]) -> None:
        found.append(Block(pipeline, path, statements, known))
        for position, one in enumerate(statements):
            if isinstance(one, ast.With):
                ends = ast.unparse(one.items[0]) in ("on_exit()", "on_failure()")  # where no task is visible
                inner = frozenset[str]() if ends else assigned(statements[:position])
                walk(pipeline, (*path, position), one.body, known | inner)

    for name, function in decorated(tree, "pipeline").items():
        walk(name, (), function.body, frozenset(argument.arg for argument in function.args.args))
    return found


def assigned(statements: list[ast.stmt]) -> frozenset[str]:
    """The variables that statements of one block assign."""
    return frozenset(
        target.id
        for one in statements
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    )


def calls(tree: ast.Module) -> list[Called]:
    """The calls of steps that are statements of their own."""
    steps = {name: name for name in decorated(tree, "step", "container", "pipeline")}
    found: list[Called] = []
    for block in blocks(tree):
        for position, one in enumerate(block.statements):
            if not isinstance(one, (ast.Assign, ast.Expr, ast.Return)) or not isinstance(one.value, ast.Call):
                continue
            call = one.value
            target = (
                one.targets[0].id
                if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
                else None
            )
            if (
                isinstance(call.func, ast.Attribute)
                and isinstance(call.func.value, ast.Name)
                and target is not None
            ):
                if call.func.attr == "options":
                    steps[target] = steps[call.func.value.id]
            elif isinstance(call.func, ast.Name):
                named = call.args[0] if call.func.id in LOOPS else call.func
                assert isinstance(named, ast.Name)
                if named.id in steps:
                    found.append(Called(block, position, call, target, steps[named.id]))
    return found


def names_in(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def inserted(tree: ast.Module, block: Block, position: int, statement: ast.stmt) -> ast.Module:
    """A copy of a tree with one more statement in a block."""
    changed = copy.deepcopy(tree)
    (same,) = (one for one in blocks(changed) if one[:2] == block[:2])
    same.statements.insert(position, copy.deepcopy(statement))
    return changed


class Renaming(ast.NodeTransformer):
    """Replaces a name by another one, in code and in definitions."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new, node.ctx) if node.id == self.old else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.name = self.new if node.name == self.old else node.name
        return node


class Change(NamedTuple):
    """A changed source, and the affected tasks, by the name of their pipeline."""

    said: str
    tree: ast.Module
    pipeline: str
    touched: frozenset[str]
    alike: bool = False  # a second unassigned call of a step, which needs a name
    last: bool = False  # the last reader of a file: its producer no longer gives it a key


def positions(block: Block, needed: set[str]) -> Iterator[int]:
    """The positions in a block for a statement that uses these names."""
    for position in range(len(block.statements) + 1):
        before = block.statements[:position]
        if before and isinstance(before[-1], ast.Return):
            return
        if needed <= block.known | assigned(before):
            yield position


def insertions(tree: ast.Module) -> Iterator[Change]:
    """A call of a new step, or a repeated existing call, at each possible position."""
    found = calls(tree)
    local = {name for block in blocks(tree) for name in assigned(block.statements) | block.known}
    for block in blocks(tree):
        for position in positions(block, set()):
            for text, task in (("fresh = probe()", "fresh"), ("probe()", "probe")):
                said = f"{text} at {block.pipeline}{[*block.path, position]}"
                new = inserted(tree, block, position, ast.parse(text).body[0])
                yield Change(said, new, block.pipeline, frozenset({task}))
        for one in found:
            if one.block.pipeline != block.pipeline:
                continue
            alone = any(
                each.target is None and each.step == one.step and each.block.pipeline == block.pipeline
                for each in found
            )
            for position in positions(block, names_in(one.call) & local):
                where = f"at {block.pipeline}{[*block.path, position]}"
                fresh = ast.Assign([ast.Name("fresh", ast.Store())], one.call)
                new = inserted(tree, block, position, fresh)
                yield Change(f"fresh = {one.step} {where}", new, block.pipeline, frozenset({"fresh"}))
                new = inserted(tree, block, position, ast.Expr(one.call))
                task = one.step.replace("_", "-")
                yield Change(f"{one.step} {where}", new, block.pipeline, frozenset({task}), alone)


def removals(tree: ast.Module) -> Iterator[Change]:
    """Each source without one of the calls whose results are unused."""
    for one in calls(tree):
        function = decorated(tree, "pipeline")[one.block.pipeline]
        uses = sum(each.id == one.target for each in ast.walk(function) if isinstance(each, ast.Name))
        if one.target is not None and uses > 1:
            continue
        changed = copy.deepcopy(tree)
        (same,) = (block for block in blocks(changed) if block[:2] == one.block[:2])
        if isinstance(same.statements[one.position], ast.Return):
            decorated(changed, "pipeline")[one.block.pipeline].returns = ast.Constant(None)
        same.statements[one.position] = ast.Pass()
        task = (one.target or one.step).replace("_", "-")
        yield Change(f"no {one.step}", changed, one.block.pipeline, frozenset({task}), last=True)


def renamings(tree: ast.Module) -> Iterator[Change]:
    """Another name for a variable, or for a step."""
    found = calls(tree)
    for one in found:
        if one.target is not None:
            changed = copy.deepcopy(tree)
            function = decorated(changed, "pipeline")[one.block.pipeline]
            function.body = [Renaming(one.target, "renamed").visit(each) for each in function.body]
            touched = frozenset({one.target.replace("_", "-"), "renamed"})
            yield Change(f"{one.target} renamed", changed, one.block.pipeline, touched)
    for step in dict.fromkeys(one.step for one in found):
        changed = Renaming(step, "renamed").visit(copy.deepcopy(tree))
        for pipeline in decorated(tree, "pipeline"):
            here = [one for one in found if one.step == step and one.block.pipeline == pipeline]
            named = {(one.target or name).replace("_", "-") for one in here for name in (step, "renamed")}
            yield Change(f"step {step} renamed", changed, pipeline, frozenset(named))


# --- comparing manifests ---------------------------------------------------------------------------


def without_digests(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata without its two digests, which differ after every change."""
    held = copy.deepcopy(metadata)
    del held["labels"][SPEC], held["annotations"][SOURCE]
    return held


Part = tuple[str, ...]  # ("spec",), (template,) or (template, task)


class Parts:
    """The parts of a manifest, in order, and their relations."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.entry: str = document["spec"]["entrypoint"]
        templates = document["spec"]["templates"]
        spec = {key: value for key, value in document["spec"].items() if key not in ("templates", "volumes")}
        self.found: dict[Part, Any] = {("metadata",): without_digests(document["metadata"]), ("spec",): spec}
        self.uses: dict[str, set[str]] = {}  # template -> templates of its tasks
        self.tasks: dict[str, dict[str, Any]] = {}  # those that the body of the pipeline calls
        self.graphs: dict[str, str] = {}  # their templates: the entrypoint, or that of the exit handler
        self.returned: set[str] = set()  # those of them whose outputs the pipeline returns
        for volume in document["spec"].get("volumes", ()):
            self.found["volumes", volume["name"]] = volume
        for template in templates:
            tasks = template.get("dag", {}).get("tasks", [])
            self.found[template["name"],] = {key: value for key, value in template.items() if key != "dag"}
            self.uses[template["name"]] = {task["template"] for task in tasks if "template" in task}
            for task in tasks:
                self.found[template["name"], task["name"]] = task
            if template["name"] in (self.entry, spec.get("onExit")):
                self.tasks |= {task["name"]: task for task in tasks}
                self.graphs |= {task["name"]: template["name"] for task in tasks}
            if template["name"] == self.entry:
                text = json.dumps(template.get("outputs"))
                self.returned = {name for name in self.tasks if f"tasks.{name}." in text}

    def below(self, tasks: set[str]) -> set[str]:
        """The templates of tasks of the entrypoint, and those that they call."""
        called = [self.tasks[name] for name in tasks if name in self.tasks]
        waiting = [task["template"] for task in called if "template" in task]
        found: set[str] = set()
        while waiting:
            if (one := waiting.pop()) not in found:
                found.add(one)
                waiting.extend(self.uses[one])
        return found

    def dependants(self, tasks: set[str]) -> set[str]:
        """The tasks, and those that wait for one of them."""
        found = tasks & set(self.tasks)
        for name, task in self.tasks.items():  # in order of definition: a task follows its dependencies
            if found & set(task.get("depends", "").split(" && ")):
                found.add(name)
        return found

    def before(self, tasks: set[str]) -> set[str]:
        """The tasks that they wait for; of one that picks the best of a sweep, also the sweep."""
        waiting = [self.tasks[name].get("depends", "") for name in tasks & set(self.tasks)]
        found = {one for depends in waiting for one in depends.split(" && ")}
        return found | {name for name in self.tasks if f"{name}-best" in found}

    def mounts(self, templates: set[str]) -> set[str]:
        """The volumes that templates mount."""
        return {
            mount["name"]
            for template in templates
            for kind in ("script", "container")
            for mount in self.found[template,].get(kind, {}).get("volumeMounts", ())
        }


def strangers(before: Parts, after: Parts, change: Change) -> list[str]:
    """The parts that differ, and belong neither to the touched tasks nor to tasks that wait for them."""
    touched = set(change.touched) | {f"{name}-best" for name in change.touched}
    allowed: set[Part] = set()
    free: set[str] = set()
    for parts in (before, after):
        allowed |= {(parts.graphs[name], name) for name in parts.dependants(touched)}
        allowed |= {("volumes", name) for name in parts.mounts(parts.below(touched))}
        if parts.returned & touched:
            allowed.add((parts.entry,))
        # The exit handler takes the parameters of the run that it uses.
        allowed |= {(parts.graphs[name],) for name in touched & set(parts.tasks)} - {(parts.entry,)}
        free |= parts.below(touched)
    free -= before.below(set(before.tasks) - touched) & after.below(set(after.tasks) - touched)
    if change.last:
        free |= before.below(before.before(touched))
    every = {**before.found, **after.found}
    differing = [part for part in every if before.found.get(part) != after.found.get(part)]
    return [" / ".join(part) for part in differing if part not in allowed and part[0] not in free]


def in_order(before: Parts, after: Parts) -> bool:
    """Whether the common parts are in the same order."""
    kept = [part for part in before.found if part in after.found]
    return kept == [part for part in after.found if part in before.found]


def compiled(folder: Path, tree: ast.Module) -> Compiled:
    file = folder / "pipeline.py"
    file.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
    return compile_loaded(load(file))


def by_entry(result: Compiled) -> dict[str, Parts]:
    return {parts.entry: parts for parts in map(Parts, result.documents)}


def check(folder: Path, tree: ast.Module, changes: Iterator[Change]) -> None:
    before = by_entry(compiled(folder, tree))
    wrong: list[str] = []
    tried = 0
    for change in changes:
        tried += 1
        result = compiled(folder, change.tree)
        codes = [one.finding.code for one in result.diagnostics]
        # It may have been the only call of its branch, or the only one that took a parameter of the pipeline.
        codes = [code for code in codes if code not in ("FD354", "FD890")]
        if codes:
            if codes != ["FD293"] or not change.alike:
                wrong.append(f"{change.said}: {codes}")
            continue
        after = by_entry(result)
        if not in_order(before[change.pipeline], after[change.pipeline]):
            wrong.append(f"{change.said}: another order")
        found = strangers(before[change.pipeline], after[change.pipeline], change)
        wrong.extend(f"{change.said}: {part}" for part in found)
    assert tried
    assert not wrong, "\n" + "\n".join(wrong)


# --- the tests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_inserting_a_call(name: str, tmp_path: Path) -> None:
    tree = tree_of(name)
    check(tmp_path, tree, insertions(tree))


@pytest.mark.parametrize("name", FILES)
def test_removing_a_call(name: str, tmp_path: Path) -> None:
    tree = tree_of(name)
    check(tmp_path, tree, removals(tree))


@pytest.mark.parametrize("name", FILES)
def test_renaming_a_variable_or_a_step(name: str, tmp_path: Path) -> None:
    tree = tree_of(name)
    check(tmp_path, tree, renamings(tree))
