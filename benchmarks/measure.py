"""One measurement = one child process, run with the interpreter of the tool that is measured.

Times are CPU seconds (user and system together), so they do not depend on what else the machine runs.
A build is timed inside the child with `time.process_time`, after a warm-up with a small pipeline of the
same kind and with the tool imported; an import or a whole command is the resource usage of the child,
from its start to its end. Peak memory is the high-water mark of the resident set of the child.
What builds with a peer is a program in text, so nothing here imports any.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks import pipelines
from benchmarks.tools import Tool


class Sample(NamedTuple):
    """What one child process reported."""

    seconds: float  # CPU seconds
    peak: float  # MiB
    size: int  # bytes of YAML; 0 for an import


class CrashError(Exception):
    """A tool failed; the text is the end of its standard error."""


# Linux resets VmHWM at exec; ru_maxrss, used elsewhere, starts at the size of the parent.
_PEAK = """
def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))
    except OSError:
        import resource, sys
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return size / (1024 * 1024 if sys.platform == "darwin" else 1024)
"""

_TIMED = """
import json, sys, time, types
from pathlib import Path
{peak}
{build}
build(prepare(sys.argv[1]))
ready = prepare(sys.argv[2])
start = time.process_time()
text = build(ready)
seconds = time.process_time() - start
Path(sys.argv[3]).write_text(json.dumps([seconds, peak(), len(text.encode())]))
"""

# The documents come from another process, so no cache of the compiler is warm.
_DOCUMENTS = """
import sys, json
from pathlib import Path
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
compiled = compile_loaded(load(Path(sys.argv[1])))
Path(sys.argv[2]).write_text(json.dumps([compiled.documents, compiled.text]))
"""

_EMISSION = """
import json, sys, time
from pathlib import Path
from flowdsl.compiler.yaml.emit import emit
small, _ = json.loads(Path(sys.argv[1]).read_text())
documents, expected = json.loads(Path(sys.argv[2]).read_text())
emit(small), json.dumps(small)
start = time.process_time()
text = emit(documents)
middle = time.process_time()
json.dumps(documents)
end = time.process_time()
if text != expected:
    sys.exit("emit gives another text than the compiler did")
Path(sys.argv[3]).write_text(json.dumps([middle - start, end - middle]))
"""

_IMPORT = """
{statement}
{peak}
import sys
with open(sys.argv[1], "w") as out:
    out.write(str(peak()))
"""


def timed_build(python: Path, tool: Tool, source: str, small: str) -> Sample:
    """Measure the CPU seconds from the pipeline file to the YAML text, in a warm process.

    `source` is the text of the timed pipeline file, `small` that of the one for warm-up.
    Raises `CrashError` when the tool does.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, "small.py", small)
        _write(folder, "measured.py", source)
        program = _write(folder, "child.py", _TIMED.format(peak=_PEAK, build=tool.build))
        _run([str(python), str(program), "small.py", "measured.py", "result.json"], folder)
        seconds, peak, size = json.loads((folder / "result.json").read_text())
        return Sample(seconds, peak, size)


def timed_import(python: Path, statement: str) -> Sample:
    """Measure the CPU seconds of a process that executes one statement, from its start to its end.

    The statement `pass` is bare Python, which starts without `site`: what an environment loads at the
    start then counts as part of the import, and is not taken off.
    """
    options = ["-S"] if statement == "pass" else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = _write(folder, "child.py", _IMPORT.format(statement=statement, peak=_PEAK))
        seconds, _ = _run([str(python), *options, str(program), "peak.txt"], folder)
        return Sample(seconds, float((folder / "peak.txt").read_text()), 0)


def timed_command(python: Path, tool: Tool, source: str) -> Sample:
    """Measure the CPU seconds of the tool's own command, from process start to YAML, as a user runs it.

    The command is the console script beside the interpreter. Peak memory is at least that of this process.
    """
    command = [str(python.parent / tool.name), *tool.command]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, "x.py", source)
        seconds, peak = _run(command, folder)
        size = (folder / tool.written).stat().st_size
        if size == 0:
            raise CrashError(f"{' '.join(command)}: wrote nothing")
        return Sample(seconds, peak, size)


def timed_emission(python: Path, tasks: int) -> tuple[float, float]:
    """Measure the CPU seconds of flowdsl's emitter and of `json.dumps` on the manifest of a chain."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents = _write(folder, "documents.py", _DOCUMENTS)
        for label, count in (("small", 10), ("measured", tasks)):
            _write(folder, f"{label}.py", pipelines.flowdsl_chain(count, loop=False))
            _run([str(python), str(documents), f"{label}.py", f"{label}.json"], folder)
        program = _write(folder, "child.py", _EMISSION)
        _run([str(python), str(program), "small.json", "measured.json", "result.json"], folder)
        emission, dumps = json.loads((folder / "result.json").read_text())
        return emission, dumps


def versions(python: Path, tool: Tool) -> str:
    """Return the version of a tool and of the Python that runs it."""
    statement = (
        f"import platform, importlib.metadata as metadata; "
        f"print(metadata.version({tool.name!r}), 'on Python', platform.python_version())"
    )
    try:
        done = subprocess.run([str(python), "-c", statement], capture_output=True, text=True, check=False)
    except OSError:
        return "not installed"
    return done.stdout.strip() or "not installed"


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def _run(argv: list[str], folder: Path) -> tuple[float, float]:
    """Run a child in `folder`; return its CPU seconds and peak MiB; it prints to `folder`/stdout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with (folder / "stdout").open("w") as out, (folder / "stderr").open("w") as err:
        try:
            child = subprocess.Popen(argv, cwd=folder, env=environment, stdout=out, stderr=err)
        except OSError as wrong:
            raise CrashError(f"{argv[0]}: {wrong.strerror}") from wrong
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        last = (folder / "stderr").read_text().strip().splitlines()[-15:]
        raise CrashError("\n".join([f"{' '.join(argv)}: exit code {child.returncode}", *last]))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
