"""The file system of a program: a root of its own, with the files of this machine mounted read-only.

It is part of the supervisor, so it imports built-in modules only. A sandbox belongs to one thread in its own mount
namespace and is created once; between two programs only the mounts that a manifest names are replaced, and files that
were written are removed. Changes are noticed by inotify: a program that writes nothing costs one call.
"""

from __future__ import annotations

import _thread
import ctypes
import errno
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NEWNS, NEWUSER, NEWPID, FS = 0x20000, 0x10000000, 0x20000000, 0x200
RDONLY, REMOUNT, BIND, REC, PRIVATE = 1, 32, 4096, 16384, 1 << 18
DETACH = 2
MOUNT_SETATTR, RECURSIVE = 442, 0x8000
CHANGED = 0x3C0
"""inotify mask: entries that are created in a folder, deleted from it, or moved from or to it."""
SHOWN = frozenset(("bin", "boot", "dev", "etc", "gnu", "nix", "sbin", "snap", "sys", "usr"))
"""Folders of the host that programs see as they are."""
OPENED = frozenset(("/home", "/opt", "/run", "/var"))
"""Folders in which a program sees the files of the host, and may create its own files and folders beside them."""
HIDDEN = {"/tmp": 0o1777, "/var/tmp": 0o1777, "/root": 0o700, "/mnt": 0o755, "/media": 0o755, "/srv": 0o755}
"""Folders that start empty, with their modes; other folders of the host do not exist, as in a container."""
LINUX = sys.platform == "linux"
SHORT = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
"""Errors of a machine that has no more space, files, processes or memory: no step is at fault."""

libc = ctypes.CDLL(None, use_errno=True)


def shown(name: str) -> bool:
    """Whether programs see an entry of the host's root folder as it is."""
    return name in SHOWN or name.startswith("lib")


def in_thread(function: Callable[[], object]) -> None:
    """Call a function in a thread. Raises OSError if the machine has no more processes."""
    try:
        _thread.start_new_thread(function, ())
    except RuntimeError:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from None


def check(code: int, what: str) -> int:
    """The result of a call to the C library. Raises OSError if it failed."""
    if code < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)
    return code


def mount(source: str, target: str, flags: int, kind: str = "") -> None:
    """Mount a folder, file or file system type. Raises OSError."""
    known = kind.encode() or None
    check(libc.mount(os.fsencode(source), os.fsencode(target), known, ctypes.c_ulong(flags), None), target)


def read_only(path: str) -> None:
    """Make a mount read-only, with all mounts below it where the kernel supports that (5.12)."""
    attributes = (ctypes.c_uint64 * 4)(1, 0, 0, 0)
    done = libc.syscall(MOUNT_SETATTR, -100, os.fsencode(path), RECURSIVE, attributes, ctypes.c_size_t(32))
    if done != 0:
        mount("none", path, REMOUNT | BIND | RDONLY | os.statvfs(path).f_flag & 14)  # nosuid, nodev, noexec


def mount_point(path: str, folder: bool) -> None:
    """Create a folder or file as a mount point. Raises OSError."""
    if folder:
        os.mkdir(path)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def remove(path: str) -> None:
    """Remove a file, or a folder with everything in it, even if it is write-protected."""
    try:
        os.rmdir(path)  # most of a sandbox is empty folders
        return
    except OSError:
        pass
    try:
        if os.path.islink(path) or not os.path.isdir(path):
            os.unlink(path)
            return
        os.chmod(path, 0o700)
        for name in os.listdir(path):
            remove(f"{path}/{name}")
        os.rmdir(path)
    except OSError:
        return


class Missing(Exception):
    """A program does not exist, in the words of Go's exec.LookPath."""


class Unstarted(Exception):
    """A program exists and cannot be started, in the words of Go's os.StartProcess."""


def found(name: str, path: str) -> str:
    """The file of a program, looked up as by Argo's emissary. Raises Missing."""
    if "/" in name:
        if not os.path.exists(name):
            raise Missing(f'exec: "{name}": stat {name}: no such file or directory')
        if not runnable(name):
            raise Missing(f'exec: "{name}": permission denied')
        return name
    for folder in path.split(":"):
        if folder and runnable(f"{folder}/{name}"):
            return f"{folder}/{name}"
    raise Missing(f'exec: "{name}": executable file not found in $PATH')


def runnable(path: str) -> bool:
    """Whether this is a file that may be executed."""
    return os.access(path, os.X_OK) and stat.S_ISREG(os.stat(path).st_mode)


class Changes:
    """Which sandboxes were written to: one inotify instance for all, because a user may only have few."""

    def __init__(self) -> None:
        self.lock = _thread.allocate_lock()
        self.sandboxes: dict[int, Sandbox] = {}
        try:
            self.queue = check(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), "inotify") if LINUX else -1
        except OSError:
            self.queue = -1

    def watch(self, sandbox: Sandbox) -> bool:
        """Start watching a sandbox for changes; returns whether that is possible."""
        if self.queue < 0:
            return False
        with self.lock:
            for path in sandbox.known:
                found = libc.inotify_add_watch(self.queue, os.fsencode(sandbox.root + path), CHANGED)
                if found < 0:
                    return False
                self.sandboxes[found] = sandbox
        return True

    def look(self) -> None:
        """Mark the sandboxes that have changed since the last call."""
        with self.lock:
            while True:
                try:
                    data = os.read(self.queue, 1 << 16)
                except BlockingIOError:
                    return
                at = 0
                while at < len(data):
                    watch = int.from_bytes(data[at : at + 4], sys.byteorder, signed=True)
                    at += 16 + int.from_bytes(data[at + 12 : at + 16], sys.byteorder)
                    changed = (
                        [self.sandboxes[watch]] if watch in self.sandboxes else [*self.sandboxes.values()]
                    )
                    for sandbox in changed:
                        sandbox.changed = True


class Layout:
    """The contents of the root of a sandbox before a program runs, created in a folder.

    `known`: the initial entries of each writable folder, by its path in the sandbox, with their targets if they are
    symbolic links. `mounts`: what to mount where, as source, path and file system type.
    """

    def __init__(self, root: str, host: str, needed: list[str]) -> None:
        self.root = root
        self.host = host
        self.known: dict[str, dict[str, str]] = {"": {}}
        self.mounts: list[tuple[str, str, str]] = []
        self.fill("")
        for path, mode in HIDDEN.items():
            if path in self.known:
                os.chmod(root + path, mode)
        for path in sorted(needed):
            self.show(path)
        self.folder("/run", "argo")
        if "run" not in self.known["/var"]:
            os.symlink("/run", f"{root}/var/run")
            self.known["/var"]["run"] = "/run"

    def folder(self, above: str, name: str) -> None:
        """Create a writable folder in another one."""
        os.mkdir(f"{self.root}{above}/{name}")
        self.known[above][name] = ""
        self.known[f"{above}/{name}"] = {}

    def fill(self, path: str) -> None:
        """Make the host's entries of a folder visible at the same path."""
        hidden = path in HIDDEN or not os.access(path or "/", os.R_OK)
        names = [] if hidden else os.listdir(path or "/")
        if not path:
            own = {one.strip("/") for one in (*HIDDEN, *OPENED) if one.count("/") == 1}
            names = sorted({one for one in names if shown(one)} | own | {"proc"})
        for name in names:
            one = f"{path}/{name}"
            to = ""
            try:
                if os.path.islink(one):
                    to = os.readlink(one)
                    os.symlink(to, self.root + one)
                elif one in OPENED or one in HIDDEN:
                    self.folder(path, name)
                    self.fill(one)
                else:
                    self.point(one)
            except OSError:
                continue  # a mount of another user, or one that has gone since
            self.known[path][name] = to

    def point(self, path: str) -> None:
        """Create a mount point for the host's file or folder at the same path. Raises OSError."""
        mount_point(self.root + path, stat.S_ISDIR(os.stat(path).st_mode))
        source = path if path in ("/dev", "/sys") else self.host + path
        self.mounts.append(("proc", path, "proc") if path == "/proc" else (source, path, ""))

    def show(self, path: str) -> None:
        """Make a path of the host visible, if it is in a hidden folder."""
        if os.path.lexists(self.root + path) or not os.path.exists(path):
            return
        at = ""
        *above, last = path.strip("/").split("/")
        for name in above:
            if not os.path.lexists(f"{self.root}{at}/{name}"):
                self.folder(at, name)
            at = f"{at}/{name}"
            if at not in self.known:
                return  # behind a symbolic link, or in a folder that is seen as it is
        self.point(path)
        self.known[at][last] = ""


class SandboxBase:
    """The part that all sandboxes share: a file system in memory, with their mount points and common layout.

    Creating a folder on a disk takes up to a millisecond if many were removed shortly before, and a sandbox has
    fifty. So each sandbox is an overlay of one layout in memory and of a folder on the disk for what programs write.
    Where the kernel does not support that overlay (before 5.11 without root, on NFS, in a container that is on one
    itself), the layout is created on the disk for each sandbox. `needed`: as of the supervisor. Raises OSError.
    """

    def __init__(self, folder: str, needed: list[str]) -> None:
        self.folder = folder
        self.needed = needed
        self.memory = f"{folder}/memory"
        self.host = f"{self.memory}/host"
        os.mkdir(self.memory)
        mount("tmpfs", self.memory, 0, "tmpfs")
        os.mkdir(self.host)
        mount("/", self.host, BIND | REC)
        read_only(self.host)
        os.mkdir(f"{self.memory}/layout")
        self.layout = Layout(f"{self.memory}/layout", self.host, needed)
        self.overlays = True

    def root(self, name: str, at: str) -> tuple[str, Layout]:
        """Mount the root of a new sandbox, without the mounts in it; returns the folder for written files."""
        written, work = f"{self.folder}/{name}", f"{name}-work"
        os.mkdir(written)
        if self.overlays:
            os.chdir(self.folder)  # paths in the options must not have commas
            os.mkdir(work)
            options = f"lowerdir=memory/layout,upperdir={name},workdir={work}"
            for more in ("", ",userxattr"):
                if libc.mount(b"overlay", os.fsencode(at), b"overlay", 0, (options + more).encode()) == 0:
                    os.chdir("/")
                    return written, self.layout
            remove(work)
            os.chdir("/")
            self.overlays = False
        mount(written, at, BIND)
        return written, Layout(written, self.host, self.needed)


class Sandbox:
    """The root folder of a thread, which is restored after each program.

    `written`: the host folder with the files that programs write. `bare`: the same files as in the root, without
    the mounts there. `blank`: an unused log without a name.
    """

    def __init__(self, name: str, base: SandboxBase, changes: Changes) -> None:
        self.root = f"{base.memory}/{name}"
        self.bare = f"{self.root}-bare"
        self.shadows = f"{base.folder}/{name}-shadows"
        self.targets: list[str] = []
        self.made = 0
        self.changed = False
        self.blank = -1
        self.programs: dict[tuple[str, str], str] = {}
        self.changes = changes
        self.enter = os.open("/", os.O_PATH | os.O_CLOEXEC)
        os.mkdir(self.root)
        os.mkdir(self.bare)
        self.written, layout = base.root(name, self.root)
        self.known = layout.known
        mount(self.root, self.bare, BIND)
        for source, path, kind in layout.mounts:
            try:
                mount(source, self.root + path, 0 if kind else BIND | REC, kind)
            except OSError:
                continue  # a mount of another user, or one that has gone since
        self.watched = changes.watch(self)

    def dirty(self) -> bool:
        """Whether something was written since the sandbox was clean."""
        if self.watched:
            self.changes.look()
        return self.changed or self.made > 0 or not self.watched

    def clean(self) -> bool:
        """Remove the written files, and nothing in mounts. Raises OSError.

        Returns whether the sandbox is restored: a program may have removed a part of its layout.
        """
        for path, names in self.known.items():
            at = self.bare + path
            if not os.path.isdir(at):
                return False
            found = os.listdir(at)
            for name in found:
                if name not in names:
                    remove(f"{at}/{name}")
            for name in names.keys() - set(found):
                if names[name]:
                    os.symlink(names[name], f"{at}/{name}")
        remove(self.shadows)
        self.made = 0
        if self.watched:
            self.changes.look()
        self.changed = False
        return True

    def program(self, name: str, path: str) -> str:
        """The file of a program, seen from inside; cached for a sandbox without extra mounts. Raises Missing."""
        if self.targets or "/" in name:
            return found(name, path)
        if (name, path) not in self.programs:
            self.programs[name, path] = found(name, path)
        return self.programs[name, path]

    def inside(self) -> None:
        """Enter the file system of the program; for this thread only."""
        os.chroot(self.root)

    def outside(self) -> None:
        """Return to the file system of the host."""
        os.fchdir(self.enter)
        os.chroot(".")

    def place(self, source: str, path: str, only_read: bool) -> None:
        """Mount a folder or file of the host at a path of the program."""
        folder = os.path.isdir(source)
        self.inside()
        try:
            target = self.target(path, folder)
        finally:
            self.outside()
        try:
            mount(source, f"/proc/self/fd/{target}", BIND | REC)
        finally:
            os.close(target)
        self.targets.append(path)
        if only_read:
            self.inside()
            target = os.open(path, os.O_PATH | os.O_CLOEXEC)
            self.outside()
            read_only(f"/proc/self/fd/{target}")
            os.close(target)

    def target(self, path: str, folder: bool) -> int:
        """A descriptor of a mount point, which is created, even in a read-only folder."""
        while True:
            try:
                if not os.path.exists(path):
                    os.makedirs(path if folder else os.path.dirname(path) or "/", exist_ok=True)
                    if not folder:
                        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
                return os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                above = os.path.dirname(path.rstrip("/"))
                while not os.path.isdir(above):
                    above = os.path.dirname(above)
                real = os.path.realpath(above)
                if real in self.targets or real == "/":
                    raise
                self.shadow(real)

    def shadow(self, path: str) -> None:
        """Mount a folder over another one: it has the same entries, and more can be created."""
        self.made += 1
        behind = os.open(path, os.O_PATH | os.O_CLOEXEC)
        self.outside()
        front = f"{self.shadows}/{self.made}"
        os.makedirs(front)
        mount(front, f"/proc/self/fd/{behind}", BIND)
        self.inside()
        self.targets.append(path)
        before = os.open(path, os.O_PATH | os.O_CLOEXEC)
        self.outside()
        source, at = f"/proc/self/fd/{behind}", f"/proc/self/fd/{before}"
        for name in os.listdir(source):
            if os.path.islink(f"{source}/{name}"):
                os.symlink(os.readlink(f"{source}/{name}"), f"{at}/{name}")
                continue
            mount_point(f"{at}/{name}", os.path.isdir(f"{source}/{name}"))
            mount(f"{source}/{name}", f"{at}/{name}", BIND | REC)
        os.close(behind)
        os.close(before)
        self.inside()

    def undo(self) -> None:
        """Remove the mounts of a program, the last one first. Raises OSError."""
        if self.targets:
            self.inside()
            try:
                while self.targets:
                    check(libc.umount2(os.fsencode(self.targets.pop()), DETACH), "umount")
            finally:
                self.outside()


class PlainSandbox(Sandbox):
    """No sandbox: where nothing can be mounted, paths in programs are those of the runner's folders."""

    def __init__(self) -> None:
        self.written = ""
        self.blank = -1

    def dirty(self) -> bool:
        """Never: nothing is written to a sandbox."""
        return False

    def inside(self) -> None:
        """Nothing: there is one view."""

    def outside(self) -> None:
        """Nothing: there is one view."""

    def place(self, source: str, path: str, only_read: bool) -> None:
        """Nothing: there is one view."""

    def program(self, name: str, path: str) -> str:
        """The file of a program, which another one may have created. Raises Missing."""
        return found(name, path)

    def undo(self) -> None:
        """Nothing: there is one view."""
