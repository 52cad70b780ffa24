"""A program as a diagram, in Mermaid and DOT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.grammar.named import NamedTuple
from flowdsl.values.expr import (
    Cell,
    Const,
    Either,
    Expr,
    Get,
    Item,
    Join,
    Op,
    Out,
    Param,
    Ran,
    RunField,
    Status,
)
from flowdsl.values.types import JSON

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

WIDEST = 60
"""The maximum number of characters of a condition that are shown."""


AT_THE_END = "at the end"
"""The node that holds what runs at the end of the run; no task has this name."""


class Node(NamedTuple):
    """One task; `inside` and `edges` are the graph that it runs, once or, in a loop, once per item.

    `runs` is its template, empty if it would add nothing; `times` how often a loop runs, empty for once;
    `when` the condition under which it runs, in Python's spelling, empty for always.
    """

    id: str
    name: str
    runs: str = ""
    times: str = ""
    when: str = ""
    inside: tuple[Node, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the node's label: its name, then the rest."""
        when = f"if {self.when}" if self.when else ""
        return (self.name, *(line for line in (self.runs, self.times, when) if line))


class Picture(NamedTuple):
    """The tasks of a pipeline and their dependencies, by node id: an edge is (before, after)."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]


def picture(program: ir.Program) -> Picture:
    """The picture of a program; loops and sub-pipelines contain the tasks they run."""
    templates = {template.name: template for template in program.templates}
    nodes, edges = _graph(templates, _body(templates, program.entrypoint), "")
    if program.exit is not None:
        inside = _graph(templates, _body(templates, program.exit), f"{AT_THE_END}/")
        nodes = (*nodes, Node(AT_THE_END, AT_THE_END, "", "", "", *inside))
    return Picture(program.name, nodes, edges)


def together(pictures: Sequence[Picture]) -> Picture:
    """Several pipelines in one picture, each in its own node; a single one is unchanged."""
    if len(pictures) == 1:
        return pictures[0]
    nodes: list[Node] = []
    for each in pictures:
        head = f"{each.name}/"
        nodes.append(Node(each.name, each.name, "", "", "", *_below(head, each.nodes, each.edges)))
    return Picture(", ".join(each.name for each in pictures), tuple(nodes), ())


def _below(
    head: str, nodes: Iterable[Node], edges: Iterable[tuple[str, str]]
) -> tuple[tuple[Node, ...], tuple[tuple[str, str], ...]]:
    """Nodes and edges with another prefix of their ids."""
    moved: list[Node] = []
    for node in nodes:
        inside, within = _below(head, node.inside, node.edges)
        moved.append(node._replace(id=head + node.id, inside=inside, edges=within))
    return tuple(moved), tuple((head + one, head + two) for one, two in edges)


def _body(templates: dict[str, ir.Template], name: str) -> ir.Graph:
    body = templates[name].body
    assert isinstance(body, ir.Graph)
    return body


def _graph(
    templates: dict[str, ir.Template], graph: ir.Graph, head: str
) -> tuple[tuple[Node, ...], tuple[tuple[str, str], ...]]:
    idle = {task.name: task.before for task in graph.tasks if _idle(templates, task)}
    tasks = [task for task in graph.tasks if task.name not in idle]
    nodes = tuple(_node(templates, task, head) for task in tasks)
    edges = ((before, task.name) for task in tasks for before in _shown(task.before, idle))
    return nodes, tuple((head + before, head + after) for before, after in dict.fromkeys(edges))


def _shown(before: Iterable[str], idle: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The tasks before another, with those before them in the place of idle ones."""
    for name in before:
        yield from _shown(idle[name], idle) if name in idle else (name,)


def _idle(templates: dict[str, ir.Template], task: ir.Task) -> bool:
    """Whether a task runs nothing, or an empty graph."""
    if task.template == ir.NOTHING:
        return True
    body = templates[task.template].body
    return (
        isinstance(body, ir.Graph)
        and bool(body.tasks)
        and all(one.template == ir.NOTHING for one in body.tasks)
    )


def _node(templates: dict[str, ir.Template], task: ir.Task, head: str) -> Node:
    identity = head + task.name
    # A task is usually named after its step: `train`, or `train-1e-3` where it is called often.
    runs = "" if f"{task.name}-".startswith(f"{task.template}-") else task.template
    when = "" if task.when is None else _short(_spelled(task.when))
    times = "" if task.loop is None else _times(task.loop, None)
    body = templates[task.template].body
    if isinstance(body, ir.Graph) and body.around:
        pods = max(templates[one.template].settings.distributed.pods for one in body.tasks)
        if pods:
            return Node(identity, task.name, runs, f"on {pods} pods at once" if pods > 1 else "", when)
        return _node(templates, body.tasks[0]._replace(name=task.name, when=task.when), head)
    if not isinstance(body, ir.Graph):
        return Node(identity, task.name, runs, times, when)
    if body.tasks and (loop := body.tasks[0].loop) is not None:
        # A loop is a graph of one task: what that runs is drawn in the loop itself.
        times, runs = _times(loop, body.parallelism), ""
        inner = templates[body.tasks[0].template].body
        if isinstance(inner, ir.Graph) and not inner.around:
            body, runs = inner, body.tasks[0].template
        else:
            body = ir.Graph((body.tasks[0]._replace(loop=None),))
    return Node(identity, task.name, runs, times, when, *_graph(templates, body, f"{identity}/"))


def _times(loop: ir.Loop, parallel: int | None) -> str:
    if loop.items is None:
        often = "once for each item"
    else:
        often = f"{len(loop.items)} times" if len(loop.items) != 1 else "1 time"
    return often if parallel is None else f"{often}, {parallel} at a time"


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _spelled(expr: Expr) -> str:
    """A condition as it was probably written."""
    match expr:
        case Const(value):
            return repr(value)
        case Param(name) | Item(name) | Ran(name):
            return name or "item"
        case RunField(name):
            return f"run.{name}"
        case Status(task):
            return f"{task}.status"
        case Out(task, name, kind):
            return f"{task}{_field('return' if name == 'results' and kind == JSON else name)}"
        case Get(of, str() | int() as key):
            return f"{_operand(of)}[{key!r}]"
        case Cell(Out(str() as task), None, name):
            return f"{task.removesuffix('-best')}.best{_field(name)}"
        case Cell(rows, int() as index, name):
            return f"{_operand(rows)}[{index}]{_field(name)}"
        case Either((made, Const(value))) if not value or value != value:
            return _spelled(made)  # the other one is the default where the task did not run
        case Either(choices):
            return f"either({', '.join(map(_spelled, choices))})"
        case Join(several):
            inside = (one if isinstance(one, str) else f"{{{_spelled(one)}}}" for one in several)
            return f'f"{"".join(inside)}"'
        case Op("not", (asked,)):
            return f"not {_operand(asked)}"
        case Op("?:", (asked, one, two)):
            return f"{_operand(one)} if {_operand(asked)} else {_operand(two)}"
        case Op(sign, args):
            return f" {sign} ".join(map(_operand, args))
        case _:
            return "…"


def _operand(expr: Expr) -> str:
    return f"({_spelled(expr)})" if isinstance(expr, Op) else _spelled(expr)


def _field(name: str) -> str:
    """The part of an output's name that the user wrote; empty for a step with one result."""
    return "" if name == "return" else f".{name}"


def mermaid(picture: Picture) -> str:
    """The picture as a Mermaid flowchart."""
    numbers: dict[str, str] = {}
    lines = ["flowchart TD"]

    def write(nodes: tuple[Node, ...], edges: tuple[tuple[str, str], ...], indent: str) -> None:
        for node in nodes:
            numbers[node.id] = f"n{len(numbers)}"
            label = "<br>".join(_plain(line).translate(_MERMAID) for line in node.lines)
            if node.inside:
                lines.append(f'{indent}subgraph {numbers[node.id]}["{label}"]')
                write(node.inside, node.edges, indent + "  ")
                lines.append(f"{indent}end")
            else:
                lines.append(f'{indent}{numbers[node.id]}["{label}"]')
        lines.extend(f"{indent}{numbers[one]} --> {numbers[two]}" for one, two in edges)

    write(picture.nodes, picture.edges, "  ")
    return "\n".join(lines) + "\n"


def dot(picture: Picture) -> str:
    """The picture in the Graphviz language; graphs inside a task are clusters."""
    lines = [
        f"digraph {_quoted(picture.name)} {{",
        "  compound=true;",
        '  graph [fontname="Helvetica", style="rounded"];',
        '  node [fontname="Helvetica", shape=box, style="rounded"];',
    ]

    def write(nodes: tuple[Node, ...], edges: tuple[tuple[str, str], ...], indent: str) -> None:
        inner = {node.id: node for node in nodes}
        for node in nodes:
            label = 'label="' + "\\n".join(map(_escaped, node.lines)) + '"'
            if node.inside:
                lines.append(f"{indent}subgraph {_quoted(f'cluster {node.id}')} {{")
                lines.append(f"{indent}  {label};")
                write(node.inside, node.edges, indent + "  ")
                lines.append(f"{indent}}}")
            else:
                lines.append(f"{indent}{_quoted(node.id)} [{label}];")
        for one, two in edges:
            # An edge of Graphviz joins nodes: it is clipped at the borders of their clusters.
            ends = [f"ltail={_quoted(f'cluster {one}')}"] if inner[one].inside else []
            ends += [f"lhead={_quoted(f'cluster {two}')}"] if inner[two].inside else []
            tail = f" [{', '.join(ends)}]" if ends else ""
            pair = f"{_quoted(_end(inner[one], -1))} -> {_quoted(_end(inner[two], 0))}"
            lines.append(f"{indent}{pair}{tail};")

    write(picture.nodes, picture.edges, "  ")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _end(node: Node, which: int) -> str:
    """The first or the last of the leaf nodes in a node."""
    return _end(node.inside[which], which) if node.inside else node.id


# Mermaid escapes characters as HTML does, with # for &. Quotes would end a label; `%%{` would begin a
# directive in it; and in a line with `style` and `:` the last semicolon is dropped.
_MERMAID = {ord(char): f"#{ord(char)};" for char in '"#%&:;<>`\\'}


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return _plain(text).replace("\\", "\\\\").replace('"', '\\"')


def _plain(text: str) -> str:
    """The text on one line, without control characters."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)
