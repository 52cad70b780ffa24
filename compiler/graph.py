"""A program as a picture: nodes and edges, and their text for Mermaid and DOT."""

from __future__ import annotations

from typing import NamedTuple

from flowdsl.compiler import ir


class Node(NamedTuple):
    """One task; `inside` are the nodes of the graph it runs, `note` says how often or when it runs."""

    id: str
    name: str
    template: str
    note: str
    inside: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]


class Picture(NamedTuple):
    """A pipeline's tasks and who waits for whom, by node id."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[str, str], ...]


def picture(program: ir.Program) -> Picture:
    """The picture of a program; loops and sub-pipelines hold the tasks they run."""
    templates = {template.name: template for template in program.templates}
    nodes, edges = _graph(templates, program.entrypoint, "")
    return Picture(program.name, nodes, edges)


def _graph(
    templates: dict[str, ir.Template], name: str, prefix: str
) -> tuple[tuple[Node, ...], tuple[tuple[str, str], ...]]:
    body = templates[name].body
    assert isinstance(body, ir.Graph)
    nodes = []
    edges = []
    for task in body.tasks:
        identity = f"{prefix}{task.name}"
        inside: tuple[Node, ...] = ()
        within: tuple[tuple[str, str], ...] = ()
        if isinstance(templates[task.template].body, ir.Graph):
            inside, within = _graph(templates, task.template, f"{identity}/")
        nodes.append(Node(identity, task.name, task.template, _note(task), inside, within))
        edges.extend((f"{prefix}{before}", identity) for before in task.after)
    return tuple(nodes), tuple(edges)


def _note(task: ir.Task) -> str:
    if task.loop is not None:
        return "for each item" if task.loop.items is None else f"{len(task.loop.items)} times"
    return "if" if task.when is not None else ""


def _label(node: Node) -> str:
    name = node.name if node.template == node.name else f"{node.name}: {node.template}"
    return f"{name} ({node.note})" if node.note else name


def mermaid(picture: Picture) -> str:
    """The picture as a Mermaid flowchart."""
    numbers = {node: f"n{index}" for index, node in enumerate(_ids(picture.nodes))}
    lines = ["flowchart TD"]

    def write(nodes: tuple[Node, ...], edges: tuple[tuple[str, str], ...], indent: str) -> None:
        for node in nodes:
            label = _label(node).replace('"', "#quot;")
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
    """The picture in Graphviz' language; sub-graphs are clusters."""
    lines = [f"digraph {_quoted(picture.name)} {{", "  compound=true;", "  node [shape=box];"]

    def first(node: Node) -> str:
        return first(node.inside[0]) if node.inside else node.id

    def write(nodes: tuple[Node, ...], edges: tuple[tuple[str, str], ...], indent: str) -> None:
        inner = {node.id: node for node in nodes}
        for node in nodes:
            if node.inside:
                lines.append(f"{indent}subgraph {_quoted(f'cluster {node.id}')} {{")
                lines.append(f"{indent}  label={_quoted(_label(node))};")
                write(node.inside, node.edges, indent + "  ")
                lines.append(f"{indent}}}")
            else:
                lines.append(f"{indent}{_quoted(node.id)} [label={_quoted(_label(node))}];")
        for one, two in edges:
            ends = []
            if inner[one].inside:
                ends.append(f"ltail={_quoted(f'cluster {one}')}")
            if inner[two].inside:
                ends.append(f"lhead={_quoted(f'cluster {two}')}")
            tail = f" [{', '.join(ends)}]" if ends else ""
            pair = f"{_quoted(first(inner[one]))} -> {_quoted(first(inner[two]))}"
            lines.append(f"{indent}{pair}{tail};")

    write(picture.nodes, picture.edges, "  ")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _ids(nodes: tuple[Node, ...]) -> list[str]:
    return [one for node in nodes for one in (node.id, *_ids(node.inside))]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
