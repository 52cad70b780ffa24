"""The tools that are measured, flowdsl and its peers: for each how it is imported, built with and called.

A new peer is a record here, with the files that `benchmarks.pipelines` writes for it, and its package in the group
`bench` of pyproject.toml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from benchmarks import pipelines

# `prepare` is outside the timer: the file is read there. For flowdsl it is executed there, too, which only defines the
# steps and pipelines; the file of Hera builds the workflow as it is executed, so that is inside.
_CODE = """
def prepare(path):
    import linecache, pathlib
    linecache.getlines(path)
    return compile(pathlib.Path(path).read_text(), path, "exec")

def execute(code):
    module = sys.modules["measured"] = types.ModuleType("measured")
    exec(code, module.__dict__)
    return module
"""

_FLOWDSL = """
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load

def prepare(path):
    return load(Path(path))

def build(loaded):
    compiled = compile_loaded(loaded)
    if not compiled.text:
        findings = [diagnostic.finding for diagnostic in compiled.diagnostics[:20]]
        sys.exit("\\n".join(f"{finding.code}: {finding.message}" for finding in findings))
    return compiled.text
"""

_HERA = """
import hera.workflows

def build(code):
    return execute(code).w.to_yaml()
"""

_KFP = """
import tempfile
from kfp import compiler, dsl

def build(code):
    with tempfile.TemporaryDirectory() as folder:
        target = folder + "/pipeline.yaml"
        compiler.Compiler().compile(execute(code).pipeline, target)
        with open(target) as written:
            return written.read()
"""


class Tool(NamedTuple):
    """One tool; its name is that of its package, of its command, and of its column.

    `build` defines the functions `prepare` and `build` of the child that is timed. `command` is what its command is
    told to compile `x.py`, into the file `written`. `chains` write a chain of so many tasks over so many steps, by
    form; `sweep` is the form of a sweep, and what writes one of so many points.
    """

    name: str
    imports: str
    build: str
    command: tuple[str, ...]
    written: str
    chains: Mapping[str, Callable[[int, int], str]]
    sweep: tuple[str, Callable[[int], str]]


FLOWDSL = Tool(
    "flowdsl",
    pipelines.FLOWDSL_IMPORT,
    _FLOWDSL,
    ("compile", "x.py"),
    "stdout",
    {
        "straight": partial(pipelines.flowdsl_chain, loop=False),
        "loop": partial(pipelines.flowdsl_chain, loop=True),
    },
    ("random", pipelines.flowdsl_sweep),
)

PEERS = (
    Tool(
        "hera",
        pipelines.HERA_IMPORT,
        _CODE + _HERA,
        ("generate", "yaml", "x.py"),
        "stdout",
        {
            "result": partial(pipelines.hera_chain, form="result"),
            "parameter": partial(pipelines.hera_chain, form="parameter"),
        },
        ("with_items", pipelines.hera_sweep),
    ),
    Tool(
        "kfp",
        pipelines.KFP_IMPORT,
        _CODE + _KFP,
        ("dsl", "compile", "--py", "x.py", "--output", "y.yaml"),
        "y.yaml",
        {"loop": pipelines.kfp_chain},
        ("ParallelFor", pipelines.kfp_sweep),
    ),
)

TOOLS = (FLOWDSL, *PEERS)
