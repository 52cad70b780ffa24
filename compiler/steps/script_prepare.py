"""The first lines of a script whose step asks for packages or modules of the user's own, or runs on several pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.steps.script import quote

if TYPE_CHECKING:
    from flowdsl.compiler import ir

CODE = "/tmp/flowdsl/code"
"""Where the user's own modules are: a repository, or a folder of a volume."""

PACKAGES = "/tmp/flowdsl/packages"
"""An emptyDir for what pip installs: the image may be read-only, and owned by another user."""

PIP = '[sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]'
"""The command by which a script installs packages, before the folder and the packages."""

_FIRST = "from __future__ import annotations\n"
_HEAD = """

def _flowdsl_prepare():
    import {imports}
"""
_PIP = """
    packages = [{packages}]
    pip = {pip}
    work = os.path.join({folder}, "tmp")
    os.makedirs(work, exist_ok=True)
    variables = dict(os.environ, PIP_USER="0", TMPDIR=work)
    if subprocess.call([*pip, "--target", {target}, *packages], env=variables) != 0:
        sys.exit({failed})
"""
_TAIL = """
    folders = [{folders}]
    sys.path[:0] = folders
    os.environ["PYTHONPATH"] = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
"""
_CALL = """

_flowdsl_prepare()
"""
_START = """

def _flowdsl_start():
    import os, signal, socket, subprocess, sys, time

    if "RANK" in os.environ:
        return
{prepare}    first = os.environ["MASTER_ADDR"]
    for _ in range(600):
        try:
            socket.getaddrinfo(first, None)
            break
        except OSError:
            time.sleep(1)
    else:
        sys.exit(f"the first pod has had no address for ten minutes: {{first}}")
    each, node, running, ends, failed = int(os.environ["LOCAL_WORLD_SIZE"]), int(os.environ["NODE_RANK"]), [], [], 0
    started = []  # the next Popen would wait for those that nobody holds

    def end(number, frame):
        ends.append(number)
        for pid in running:
            try:
                os.kill(pid, signal.SIGKILL if number == signal.SIGALRM else signal.SIGTERM)
            except ProcessLookupError:
                pass
        signal.alarm(30)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGALRM, end)
    for local in range(each):
        variables = dict(os.environ, RANK=str(node * each + local), LOCAL_RANK=str(local))
        started.append(subprocess.Popen([sys.executable, *sys.argv], env=variables))
        running.append(started[-1].pid)
        if ends:  # it may not have been among them
            end(signal.SIGTERM, None)
            break
    while running:
        pid, status = os.wait()
        if pid in running:
            running.remove(pid)
            if status and not failed:
                failed = status >> 8 or 128 + status
                end(signal.SIGTERM, None)
    os._exit(failed)


_flowdsl_start()
"""


def folders(code: ir.Code) -> list[str]:
    """The folders that are put on the import path, in order."""
    found = [f"{PACKAGES}/site"] if code.packages else []
    if code.repository is not None:
        found.insert(0, f"{CODE}/{code.folder}".rstrip("/"))
    elif code.volume is not None:
        found.insert(0, CODE)
    return found


def prepared(script: str, step: str, code: ir.Code, *, spread: bool = False) -> str:
    """A script that makes the packages and modules of its step available before it executes the user's code.

    pip is that of the image, and gets its arguments as a list, without a shell. It installs into a
    separate folder. `PYTHONPATH` makes both available to programs that the step starts, too. `spread`: after that
    it starts the processes of its pod, which execute the rest.
    """
    found = folders(code)
    assert script.startswith(_FIRST)
    rest = script.removeprefix(_FIRST)
    prepare = _prepare(step, code, found) if found else ""
    if spread:
        # The processes that it starts inherit PYTHONPATH, and find what it has installed.
        return _FIRST + prepare + _START.format(prepare="    _flowdsl_prepare()\n" if found else "") + rest
    return _FIRST + prepare + _CALL + rest if found else script


def _prepare(step: str, code: ir.Code, found: list[str]) -> str:
    text = _HEAD.format(imports="os, subprocess, sys" if code.packages else "os, sys")
    if code.packages:
        failed = f"step {step}: pip could not install the packages of the step, for the reason above"
        text += _PIP.format(
            packages=", ".join(map(quote, code.packages)),
            pip=PIP,
            folder=quote(PACKAGES),
            target=quote(f"{PACKAGES}/site"),
            failed=quote(failed),
        )
    return text + _TAIL.format(folders=", ".join(map(quote, found)))
