"""Draws the tasks of a pipeline as SVG: a layered graph, with nested boxes for loops and sub-pipelines.

The layers, and the order in them, come from the extra `flowdsl[svg]` (grandalf: Sugiyama's method, positions by
Brandes and Köpf). Lengths are in pixels. The output is byte-identical on every machine: no font is measured, a text is
assumed to be as wide as in the widest of the usual fonts.
"""

from __future__ import annotations

import html
import importlib
import itertools
import math
import unicodedata
from typing import TYPE_CHECKING, Any

from flowdsl.cli.display.texts import visible
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flowdsl.compiler.graph.picture import Node, Picture

Point = tuple[float, float]

SIZE, LINE = 14, 20  # the font size, and the line height
PAD_X, PAD_Y = 14, 9  # between a box and its content
BESIDE, BELOW = 24, 12  # between boxes side by side, or one below the other
BETWEEN = 40  # between layers
STACK = 5  # how far the second sheet of a loop sticks out
MARGIN = 16

STYLE = """\
  text { font: 14px Helvetica, Arial, "Liberation Sans", sans-serif; fill: #57606a }
  .name { font-weight: 600; fill: #1f2328 }
  .task, .sheet { fill: #ffffff; stroke: #6e7781 }
  .graph { fill: #f3f5f8; stroke: #afb8c1 }
  .graph .graph { fill: #e6eaef }
  .if { stroke-dasharray: 5 3 }
  .edge { fill: none; stroke: #57606a; stroke-width: 1.3 }
  .head { fill: #57606a }"""
HEAD = """\
<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" \
markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0.5L8 4L0 7.5z"/></marker>"""


def svg(picture: Picture) -> str:
    """The picture as an SVG document without scripts: dark on light, at least as large as its texts need.

    Tasks run from top to bottom, or from left to right where that makes the longer side shorter.
    Raises `ModuleNotFoundError` without the extra.
    """
    drawings = [_arrange(picture.nodes, picture.edges, down) for down in (True, False)]
    drawing = min(drawings, key=lambda one: max(one.width, one.height))
    wide, high = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
    size = f'width="{_n(wide)}" height="{_n(high)}" viewBox="0 0 {_n(wide)} {_n(high)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{_text(picture.name)}</title>",
        f"<style>\n{STYLE}\n</style>",
        HEAD,
        f'<rect width="{_n(wide)}" height="{_n(high)}" fill="#ffffff"/>',
        *_drawn(drawing, (MARGIN, MARGIN)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


class Box(NamedTuple):
    """A node with its size, and the drawing inside it."""

    node: Node
    width: float
    height: float
    inside: Drawing | None


class Drawing(NamedTuple):
    """Boxes at their upper left corners, and edges: from layer to layer a curve, through a layer straight."""

    down: bool
    width: float
    height: float
    boxes: Sequence[tuple[Box, Point]]
    edges: Sequence[Sequence[Point]]


# --- where things are --------------------------------------------------------------------------------


def _arrange(nodes: Sequence[Node], edges: Sequence[tuple[str, str]], down: bool) -> Drawing:
    """Lay out one graph: its connected parts side by side, wrapped into rows if they are many."""
    boxes = {node.id: _box(node, down) for node in nodes}
    parts = [_layered(boxes, part, edges, down) for part in _parts(list(boxes), edges)]
    area = sum((part.width + BESIDE) * (part.height + BESIDE) for part in parts)
    limit = max(math.sqrt(area) * 1.5, *(part.width for part in parts)) if parts else 0
    placed: list[tuple[Box, Point]] = []
    routes: list[list[Point]] = []
    x = y = row = wide = 0.0
    for part in parts:
        if x and x + part.width > limit:
            x, y = 0.0, y + row + BESIDE
            row = 0.0
        placed += [(box, (x + left, y + top)) for box, (left, top) in part.boxes]
        routes += [[(x + left, y + top) for left, top in route] for route in part.edges]
        row, wide = max(row, part.height), max(wide, x + part.width)
        x += part.width + BESIDE
    return Drawing(down, wide, y + row, placed, routes)


def _box(node: Node, down: bool) -> Box:
    wide: float = max(_wide(line, bold=not index) for index, line in enumerate(node.lines)) + 2 * PAD_X
    high: float = len(node.lines) * LINE + 2 * PAD_Y
    inside = None
    if node.inside:
        inside = _arrange(node.inside, node.edges, down)
        wide, high = max(wide, inside.width + 2 * PAD_X), high + inside.height + PAD_X
    stack = STACK if node.times else 0
    return Box(node, wide + stack, high + stack, inside)


def _parts(ids: list[str], edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The connected parts of a graph, ordered by their first node."""
    beside: dict[str, list[str]] = {one: [] for one in ids}
    for one, two in edges:
        beside[one].append(two)
        beside[two].append(one)
    part_of: dict[str, int] = {}
    for number, first in enumerate(ids):
        todo = [first] if first not in part_of else []
        while todo:
            one = todo.pop()
            if one not in part_of:
                part_of[one] = number
                todo += beside[one]
    parts: dict[int, list[str]] = {}
    for one in ids:
        parts.setdefault(part_of[one], []).append(one)
    return list(parts.values())


class _Spot:
    """The view of a vertex that grandalf needs: its size, and the position of its centre."""

    def __init__(self, w: float, h: float) -> None:
        self.w, self.h = w, h
        self.xy: Point = (0.0, 0.0)


def _layered(
    boxes: dict[str, Box], ids: Sequence[str], edges: Sequence[tuple[str, str]], down: bool
) -> Drawing:
    """Lay out one connected part; computed from top to bottom, with x and y exchanged for left to right."""
    if len(ids) == 1:
        box = boxes[ids[0]]
        return Drawing(down, box.width, box.height, [(box, (0.0, 0.0))], [])
    graphs: Any = importlib.import_module("grandalf.graphs")
    layouts: Any = importlib.import_module("grandalf.layouts")
    vertices: dict[str, Any] = {}
    for one in ids:
        vertex = vertices[one] = graphs.Vertex(one)
        box = boxes[one]
        vertex.view = _Spot(box.width, box.height) if down else _Spot(box.height, box.width)
    joins = [graphs.Edge(vertices[one], vertices[two]) for one, two in edges if one in vertices]
    layout: Any = layouts.SugiyamaLayout(graphs.graph_core(list(vertices.values()), joins))
    layout.xspace = BESIDE if down else BELOW
    layout.dw = layout.dh = 4  # the space of an edge that passes through a layer
    layout.init_all(inverted_edges=[])
    layout.draw(8)

    layers = [list(layer) for layer in layout.layers]
    across = _spread(layers, layout.xspace)
    start = min(across[vertex] - vertex.view.w / 2 for layer in layers for vertex in layer)
    rank = {vertex: index for index, layer in enumerate(layers) for vertex in layer}
    # An edge is a list of vertices, one in each layer it touches.
    chains: list[list[Any]] = []
    for join in joins:
        passed: dict[int, Any] = layout.ctrls.get(join) or {0: join.v[0], 1: join.v[1]}
        chains.append([passed[index] for index in sorted(passed)])
    tops = _tops(layers, chains, across, rank)
    bands = {vertex: tops[layer] for vertex, layer in rank.items()}

    def point(x: float, y: float) -> Point:
        return (x - start, y) if down else (y, x - start)

    placed: list[tuple[Box, Point]] = []
    for one, vertex in vertices.items():
        top, bottom = bands[vertex]
        middle, half = (top + bottom) / 2, vertex.view.h / 2
        placed.append((boxes[one], point(across[vertex] - vertex.view.w / 2, middle - half)))
    routes = [[point(*end) for end in _route(chain, across, bands)] for chain in chains]
    wide = max(across[vertex] + vertex.view.w / 2 for layer in layers for vertex in layer) - start
    high = tops[-1][1]
    if not down:
        wide, high = high, wide
    return Drawing(down, wide, high, placed, routes)


def _route(
    chain: list[Any], across: Mapping[Any, float], bands: Mapping[Any, tuple[float, float]]
) -> Iterator[Point]:
    """The corners of an edge: from the lower side of its first box, through each layer, to the upper side of its last.

    `bands` has the top and the bottom of the layer of each vertex.
    """
    for vertex in chain:
        top, bottom = bands[vertex]
        x, middle, half = across[vertex], (top + bottom) / 2, vertex.view.h / 2
        yield x, middle + half if vertex is chain[0] else top
        yield x, middle - half if vertex is chain[-1] else bottom


def _spread(layers: list[list[Any]], apart: float) -> dict[Any, float]:
    """The positions of the vertices in their layers, moved apart where the layout lets two boxes overlap."""
    found: dict[Any, float] = {}
    for layer in layers:
        end = -math.inf
        for vertex in sorted(layer, key=lambda vertex: vertex.view.xy[0]):
            x = found[vertex] = max(vertex.view.xy[0], end + vertex.view.w / 2)
            end = x + vertex.view.w / 2 + apart
    return found


def _tops(
    layers: list[list[Any]], chains: list[list[Any]], across: dict[Any, float], rank: dict[Any, int]
) -> list[tuple[float, float]]:
    """The top and the bottom of each layer; with larger gaps where edges go far to the side."""
    gaps = [0.0] * len(layers)
    for chain in chains:
        for one, two in itertools.pairwise(chain):
            gaps[rank[one]] = max(gaps[rank[one]], abs(across[one] - across[two]))
    found: list[tuple[float, float]] = []
    top = 0.0
    for layer, aside in zip(layers, gaps, strict=True):
        bottom = top + max(vertex.view.h for vertex in layer)
        found.append((top, bottom))
        top = bottom + min(max(BETWEEN, aside / 6), 3 * BETWEEN)
    return found


# --- how they look -----------------------------------------------------------------------------------


def _drawn(drawing: Drawing, at: Point) -> Iterator[str]:
    for route in drawing.edges:
        path = _path([_moved(point, at) for point in route], drawing.down)
        yield f'<path class="edge" d="{path}" marker-end="url(#head)"/>'
    for box, corner in drawing.boxes:
        yield from _boxed(box, _moved(corner, at))


def _boxed(box: Box, at: Point) -> Iterator[str]:
    node = box.node
    stack = STACK if node.times else 0
    wide, high = box.width - stack, box.height - stack
    kind = ("graph" if node.inside else "task") + (" if" if node.when else "")
    yield f'<g class="{"of-graph" if node.inside else "of-task"}">'
    yield f"<title>{_text(', '.join(node.lines))}</title>"
    x, y = at
    if stack:
        yield _rect("sheet", (x + stack, y + stack), wide, high)
    yield _rect(kind, at, wide, high)
    for index, line in enumerate(node.lines):
        name = ' class="name"' if not index else ""
        left, anchor = (x + PAD_X, "") if node.inside else (x + wide / 2, ' text-anchor="middle"')
        base = y + PAD_Y + index * LINE + SIZE
        yield f'<text{name} x="{_n(left)}" y="{_n(base)}"{anchor}>{_text(line)}</text>'
    if box.inside is not None:
        head = len(node.lines) * LINE + 2 * PAD_Y
        yield from _drawn(box.inside, (x + (wide - box.inside.width) / 2, y + head))
    yield "</g>"


def _rect(kind: str, at: Point, wide: float, high: float) -> str:
    place = f'x="{_n(at[0])}" y="{_n(at[1])}" width="{_n(wide)}" height="{_n(high)}"'
    return f'<rect class="{kind}" {place} rx="6"/>'


def _path(points: Sequence[Point], down: bool) -> str:
    """A path along points: straight and curved in turns; curves begin and end in the direction of the flow."""
    said = [f"M{_at(points[0])}"]
    for index, ((x, y), (to_x, to_y)) in enumerate(itertools.pairwise(points)):
        end = _at((to_x, to_y))
        if not index % 2:
            said.append(f"L{end}" if end != _at((x, y)) else "")
        elif down:
            middle = (y + to_y) / 2
            said.append(f"C{_at((x, middle))} {_at((to_x, middle))} {end}")
        else:
            middle = (x + to_x) / 2
            said.append(f"C{_at((middle, y))} {_at((middle, to_y))} {end}")
    return "".join(said)


def _moved(point: Point, by: Point) -> Point:
    return point[0] + by[0], point[1] + by[1]


def _at(point: Point) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")


def _text(text: str) -> str:
    return html.escape(visible(text))


def _wide(text: str, *, bold: bool) -> float:
    """The largest width of a text: in DejaVu Sans, the widest of the fonts in use."""
    return math.ceil(sum(map(_advance, visible(text))) * SIZE * (1.1 if bold else 1.0))


def _advance(char: str) -> float:
    if char in " !',.:;I`ijl|":
        return 0.34
    if char in "()-/[]frt{}":
        return 0.42
    if char in "%@MWmw" or unicodedata.east_asian_width(char) in "WF":
        return 1.0
    return 0.76 if char.isupper() else 0.64
