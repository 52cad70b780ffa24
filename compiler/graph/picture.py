"""A diagram of tasks, in Mermaid and DOT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Graph = tuple[tuple["Node", ...], tuple[tuple[str, str], ...]]

WIDEST = 60
"""The maximum number of characters of a condition that are shown."""


AT_THE_END = "at the end"
"""The node that holds what runs at the end of the run; no task has this name."""


class Node(NamedTuple):
    """One task; `inside` and `edges` are the graph that it runs, once or, in a loop, once per item.

    `runs` is its template, empty if it would add nothing; `times` how often a loop runs, empty for once;
    `when` the condition under which it runs, empty for always.
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
    """Tasks and their dependencies, by node id: an edge is (before, after)."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]


def together(pictures: Sequence[Picture]) -> Picture:
    """Several pictures in one, each in its own node; a single one is unchanged."""
    if len(pictures) == 1:
        return pictures[0]
    nodes: dict[str, Node] = {}
    for number, each in enumerate(pictures, 1):
        identity = f"{each.name} {number}" if each.name in nodes else each.name
        inside = _below(f"{identity}/", each.nodes, each.edges)
        nodes[identity] = Node(identity, each.name, "", "", "", *inside)
    return Picture(", ".join(each.name for each in pictures), tuple(nodes.values()), ())


def _below(head: str, nodes: Iterable[Node], edges: Iterable[tuple[str, str]]) -> Graph:
    """Nodes and edges with another prefix of their ids."""
    moved: list[Node] = []
    for node in nodes:
        inside, within = _below(head, node.inside, node.edges)
        moved.append(node._replace(id=head + node.id, inside=inside, edges=within))
    return tuple(moved), tuple((head + one, head + two) for one, two in edges)


def short(text: str) -> str:
    """A condition, cut where it is too long to be read."""
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def also_named(task: str, template: str) -> str:
    """The template of a task, or nothing if the name says it: `train`, or `train-1e-3` where it is called often."""
    return "" if f"{task}-".startswith(f"{template}-") else template


def times(count: int | None, parallel: int | None) -> str:
    """How often a loop runs, as far as that is known, and how many at a time."""
    often = "once for each item" if count is None else f"{count} times" if count != 1 else "1 time"
    if parallel is None or (count is not None and count <= parallel):
        return often
    return f"{often}, {parallel} at a time"


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
