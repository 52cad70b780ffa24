"""Names and archives that somebody chose to do harm: nothing is written outside of the folder, and each is named."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
import struct
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowdsl.runtime.artifacts.paths import Names, fault, link_fault
from flowdsl.runtime.artifacts.trouble import Unfit
from flowdsl.runtime.artifacts.unpack import Limits, unpack
from tests.artifacts.objects import Objects
from tests.artifacts.runs import Known, command, plain, stored, there, told, workflow

Json = dict[str, Any]
On = Callable[[Json], Known]

FILE, FOLDER, LINK, HARD = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
FIFO, CHARACTER, BLOCK = tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE

Members = list[tuple[str, bytes, str]]
HOSTILE: dict[str, tuple[Members, str]] = {
    "up": ([("../x", FILE, "")], "`../x`: it leads upwards"),
    "up inside": ([("a/../../x", FILE, "")], "`a/../../x`: it leads upwards"),
    "absolute": ([("/tmp/x", FILE, "")], "`/tmp/x`: it is absolute"),
    "backslash": ([("..\\x", FILE, "")], "`..\\x`: it has a backslash"),
    "drive": ([("C:x", FILE, "")], "`C:x`: it begins with the letter of a drive"),
    "reserved": ([("a/NUL.txt", FILE, "")], "`a/NUL.txt`: `NUL.txt` is a reserved name"),
    "dot at the end": ([("a.", FILE, "")], "`a.`: a part of it ends with a dot or a blank"),
    "long": ([("x" * 256, FILE, "")], "a part of it is longer than 255 bytes"),
    "escape": ([("a\x1b[2J", FILE, "")], "it has a control character"),
    "link to an absolute path": ([("l", LINK, "/etc/passwd")], "`l`: it leads to an absolute path"),
    "link upwards": ([("a/l", LINK, "../../x")], "`a/l`: it leads out of the folder"),
    "link down and up": ([("a/l", LINK, "b/../../../x")], "`a/l`: it leads upwards after it went down"),
    "file below a link": ([("l", LINK, "."), ("l/x", FILE, "")], "`l/x`: it is below the link `l`"),
    "chain": ([("c/y", LINK, "."), ("x", LINK, "c/y/../..")], "`x`: it leads upwards after it went down"),
    "link over a folder": ([("a/b", FILE, ""), ("a", LINK, "b")], "`a`: `a` is a folder, too"),
    "hard link out": ([("h", HARD, "../x")], "`h`: it leads upwards"),
    "hard link to nothing": ([("h", HARD, "x")], "`h`: it leads to something that is not a file before it"),
    "hard link by a link": (
        [("d/f", FILE, ""), ("l", LINK, "d"), ("h", HARD, "l/f")],
        "`h`: it leads to something that is not a file before it",
    ),
    "pipe": ([("p", FIFO, "")], "`p`: it is a device or a pipe"),
    "character device": ([("p", CHARACTER, "")], "`p`: it is a device or a pipe"),
    "block device": ([("p", BLOCK, "")], "`p`: it is a device or a pipe"),
    "twice": ([("a", FILE, ""), ("a", FILE, "")], "`a`: it is there twice"),
    "case": ([("a/Model", FILE, ""), ("a/model", FILE, "")], "are one name on some file systems"),
    "accents": ([("é", FILE, ""), (unicodedata.normalize("NFD", "é"), FILE, "")], "are one name on some"),
    "file and folder": ([("a", FILE, ""), ("a/b", FILE, "")], "`a/b`: `a` is a file, too"),
    "not UTF-8": ([("a\udcff", FILE, "")], "it is not UTF-8"),
}
FIT: dict[str, Members] = {
    "links inside": [("m/a", FILE, ""), ("m/d/l", LINK, "../a"), ("m/h", HARD, "m/a"), ("m/s", LINK, "d/l")],
    "one alone": [("clean.txt", FILE, "")],
    "odd names": [("a b/ü:1+%2e", FILE, ""), ("a b/.hidden", FILE, ""), ("a b/...x", FILE, "")],
    "from here": [("./", FOLDER, ""), ("./a", FILE, ""), ("./b/", FOLDER, ""), ("./b/c", FILE, "")],
    "folders again": [("a", FOLDER, ""), ("a/b", FILE, ""), ("a", FOLDER, ""), ("empty", FOLDER, "")],
}


def tar(members: Members) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.GNU_FORMAT) as archive:
        for name, kind, link in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.mode = kind, link, 0o4777
            member.size = 4 if kind == FILE else 0
            archive.addfile(member, io.BytesIO(b"data") if kind == FILE else None)
    return made.getvalue()


def zipped(names: list[str], mode: int = 0) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo("placeholder")
            info.filename = name
            info.external_attr = mode << 16
            archive.writestr(info, b"" if name.endswith("/") else b"data")
    return made.getvalue()


def inside(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_kept_packed_and_said_to_be(
    name: str, on: On, objects: Objects, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    members, reason = HOSTILE[name]
    objects.put("a.tgz", tar([*members, ("harmless", FILE, "")]))
    on(workflow(objects.endpoint, {"make": {"artifacts": [stored("a", "a.tgz")]}}))
    before = inside(tmp_path.parent)
    assert command([]) == 1
    said = capsys.readouterr().err
    assert reason in said
    assert "\x1b" not in said
    assert "make.a is kept packed: " in said
    assert inside(tmp_path.parent) - before == {
        f"{tmp_path.name}/{one}"
        for one in (
            "demo",
            "demo/.flowdsl",
            "demo/.flowdsl/lock",
            "demo/make",
            "demo/make/a.tgz",
            "demo/run.json",
        )
    }
    assert reason in told(tmp_path / "demo")["refused"][0]["reason"]
    objects.asked.clear()
    assert command([]) == 1
    assert objects.gets() == []


@pytest.mark.parametrize("name", FIT)
def test_what_is_right_is_unpacked(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.tgz").write_bytes(tar(FIT[name]))
    made = unpack(tmp_path / "a.tgz", tmp_path / "out", "tar", Limits())
    assert made.exists()
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) == sum(kind in (FILE, HARD) for _, kind, _ in FIT[name])
    assert all(path.stat().st_mode & 0o7000 == 0 for path in files)


@pytest.mark.parametrize(
    ("names", "mode", "reason"),
    [
        (["../x"], 0, "it leads upwards"),
        (["/x"], 0, "it is absolute"),
        (["a\\..\\..\\x"], 0, "it has a backslash"),
        (["a", "A"], 0, "are one name on some file systems"),
        (["a", "a"], 0, "it is there twice"),
        (["a"], 0o120777, "it is a link, a device or a pipe"),
        (["a"], 0o010777, "it is a link, a device or a pipe"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_hostile_zips(tmp_path: Path, names: list[str], mode: int, reason: str) -> None:
    (tmp_path / "a.zip").write_bytes(zipped(names, mode))
    (tmp_path / "in").mkdir()
    with pytest.raises(Unfit, match=reason):
        unpack(tmp_path / "a.zip", tmp_path / "in/out", "zip", Limits())
    assert inside(tmp_path) <= {"a.zip", "in", "in/out", "in/out/a"}


@pytest.mark.parametrize("name", ["/tmp/argo/outputs/artifacts/x", "/mainctrfs/vol/x"])
def test_a_file_that_the_executor_has_zipped_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.zip").write_bytes(zipped([name], stat.S_IFREG | 0o755))
    made = unpack(tmp_path / "a.zip", tmp_path / "out", "zip", Limits())
    assert made == tmp_path / "out/x"
    assert made.stat().st_mode & stat.S_IXUSR


def test_a_zip_that_names_its_folders(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped(["d/", "d/e/f", "empty/"]))
    unpack(tmp_path / "a.zip", tmp_path / "out", "zip", Limits())
    assert inside(tmp_path / "out") == {"d", "d/e", "d/e/f", "empty"}


def test_a_zip_with_a_nul_in_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped(["good_bad"]).replace(b"good_bad", b"good\0bad"))
    with pytest.raises(Unfit, match="it has a NUL"):
        unpack(tmp_path / "a.zip", tmp_path / "out", "zip", Limits())


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_damaged_archive_is_refused_in_words(tmp_path: Path, kind: str) -> None:
    """With any byte changed, or cut there, it can still be unpacked, or is said to be wrong."""
    whole = zipped(["a", "b"]) if kind == "zip" else gzip.compress(tar([("a", FILE, ""), ("b", FILE, "")]))
    source = tmp_path / "archive"
    for at, byte in enumerate(whole):
        for number, rest in enumerate((b"", bytes([byte ^ 0xFF]) + whole[at + 1 :])):
            source.write_bytes(whole[:at] + rest)
            with contextlib.suppress(Unfit):
                unpack(source, tmp_path / f"{at}-{number}", kind, Limits())


@pytest.mark.parametrize("kind", ["tar", "zip"])
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(size=1 << 20), "more than 1048576 bytes: --max-size allows more"),
        (Limits(modest=1 << 16), "more than 200 times its size"),
        (Limits(members=1), "more than 1 members"),
    ],
)
def test_archives_that_would_fill_the_disk(tmp_path: Path, kind: str, limits: Limits, reason: str) -> None:
    path = tmp_path / "a"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in "ab":
                archive.writestr(name, bytes(8 << 20))
    else:
        with tarfile.open(path, "w:gz") as packed:
            for name in "ab":
                member = tarfile.TarInfo(name)
                member.size = 8 << 20
                packed.addfile(member, io.BytesIO(bytes(8 << 20)))
    with pytest.raises(Unfit, match=reason):
        unpack(path, tmp_path / "out", kind, limits)
    assert sum(one.stat().st_size for one in (tmp_path / "out").rglob("*")) <= 8 << 20


def test_a_name_that_would_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "a.tgz").write_bytes(tar([("x" * (8 << 20), FILE, "")]))
    with pytest.raises(Unfit, match="the headers of a member are longer than"):
        unpack(tmp_path / "a.tgz", tmp_path / "out", "tar", Limits())


def test_a_sparse_file_that_is_longer_than_the_limit(tmp_path: Path) -> None:
    member = tarfile.TarInfo("sparse")
    member.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.realsize": str(1 << 40),
    }
    data = b"1\n0\n0\n".ljust(512, b"\0")
    member.size = len(data)
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(data))
    (tmp_path / "a.tgz").write_bytes(made.getvalue())
    with pytest.raises(Unfit):
        unpack(tmp_path / "a.tgz", tmp_path / "out", "tar", Limits())


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_a_cut_archive_is_not_unpacked(tmp_path: Path, cut: int) -> None:
    data = tar(FIT["links inside"])
    (tmp_path / "a.tgz").write_bytes(data[: len(data) - 1 - cut])
    with pytest.raises(Unfit, match="not a valid archive"):
        unpack(tmp_path / "a.tgz", tmp_path / "out", "tar", Limits())


def test_a_wrong_checksum_is_seen(tmp_path: Path) -> None:
    data = tar(FIT["one alone"])
    (tmp_path / "a.tgz").write_bytes(data[:-8] + struct.pack("<I", 1) + data[-4:])
    with pytest.raises(Unfit, match="CRC"):
        unpack(tmp_path / "a.tgz", tmp_path / "out", "tar", Limits())


def test_gzip_alone_is_a_file(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("a.gz", gzip.compress(b"text", mtime=0))
    on(workflow(objects.endpoint, {"make": {"artifacts": [stored("a", "a.gz")]}}))
    assert command([]) == 0
    assert there(tmp_path / "demo") == {"make/a": gzip.compress(b"text", mtime=0)}


# --- keys -------------------------------------------------------------------------------------------------


KEYS = {
    "con.txt": "is a reserved name",
    "back\\slash": "it has a backslash",
    "Good": "are one name on some file systems",
    "x" * 300: "a part of it is longer than 255 bytes",
    "C:/x": "it begins with the letter of a drive",
}


@pytest.mark.parametrize("key", KEYS)
def test_the_rest_of_a_folder_with_a_hostile_key_arrives(
    key: str, on: On, objects: Objects, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects.put("demo/f/good", b"good")
    objects.put(f"demo/f/{key}", b"bad")
    on(workflow(objects.endpoint, {"make": {"artifacts": [plain("f", "demo/f")]}}))
    assert command([]) == 1
    assert KEYS[key] in capsys.readouterr().err
    found = there(tmp_path / "demo")
    assert len(found) == 1
    assert found.popitem()[0].casefold() == "make/f/good"


def test_each_key_of_a_folder_that_is_hostile_is_said(
    on: On, objects: Objects, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects.put("demo/f/con.txt", b"bad")
    objects.put("demo/f/nul.txt", b"bad")
    on(workflow(objects.endpoint, {"make": {"artifacts": [plain("f", "demo/f")]}}))
    assert command([]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == [f"make.f: `{one}.txt`: `{one}.txt` is a reserved name" for one in ("con", "nul")]
    assert there(tmp_path / "demo") == {}


@pytest.mark.parametrize("name", ["../../x", "/x", "..", "a/b", "run.json/x", "a\0b"])
def test_hostile_names_of_steps_and_outputs(
    name: str, on: On, objects: Objects, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects.put("a", b"a")
    before = inside(tmp_path.parent)
    run = workflow(
        objects.endpoint,
        {"make": {"artifacts": [plain(name, "a")]}, "fine": {"artifacts": [plain("a", "a")]}},
    )
    on(run)
    command([])
    made = {one for one in inside(tmp_path.parent) - before if not one.startswith(f"{tmp_path.name}/demo")}
    assert made == set()
    assert (tmp_path / "demo/fine/a").read_bytes() == b"a"


@pytest.mark.parametrize("step", ["run.json", ".flowdsl"])
def test_steps_that_are_called_as_what_a_fetch_makes(
    step: str, on: On, objects: Objects, tmp_path: Path
) -> None:
    objects.put("a", b"a")
    on(workflow(objects.endpoint, {step: {"artifacts": [plain("lock", "a")]}}))
    assert command([]) == 1
    assert there(tmp_path / "demo") == {}
    assert told(tmp_path / "demo")["refused"][0]["kind"] == "unfit"


def test_two_steps_with_one_object(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("a", b"a")
    on(workflow(objects.endpoint, {name: {"artifacts": [plain("a", "a")]} for name in ("make", "memo")}))
    assert command([]) == 0
    assert there(tmp_path / "demo") == {"make/a": b"a", "memo/a": b"a"}


def test_two_outputs_with_one_name(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("a", b"a")
    objects.put("b", b"b")
    on(workflow(objects.endpoint, {"make": {"artifacts": [plain("model", "a"), plain("Model", "b")]}}))
    assert command([]) == 1
    assert there(tmp_path / "demo") == {"make/model": b"a"}


PATHS = st.lists(
    st.sampled_from(["..", ".", "", "a", "A", "é", "b\\", "con", "x.", "l", "\0", "c:"]), max_size=4
)


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(PATHS.map("/".join), st.sampled_from([FILE, FOLDER, LINK, HARD]), PATHS.map("/".join)),
        max_size=6,
    )
)
def test_no_archive_leads_out(tmp_path_factory: pytest.TempPathFactory, members: Members) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.tgz").write_bytes(tar(members))
    with contextlib.suppress(Unfit):
        unpack(folder / "a.tgz", folder / "out", "tar", Limits())
    assert {one.name for one in folder.iterdir()} <= {"a.tgz", "out"}
    root = os.path.realpath(folder / "out")
    for at, folders, files in os.walk(folder / "out"):
        for name in (*folders, *files):
            assert f"{os.path.realpath(Path(at, name))}/".startswith(f"{root}/")


@given(PATHS.map("/".join))
def test_a_path_that_is_fit_stays_below(path: str) -> None:
    if not fault(path):
        assert os.path.normpath(Path("/root", path)) == f"/root/{path}"


@given(PATHS.map("/".join), PATHS.map("/".join))
def test_a_link_that_is_fit_stays_below(path: str, target: str) -> None:
    if not fault(path) and not link_fault(path, target):
        assert f"{os.path.normpath(Path('/root', path).parent / target)}/".startswith("/root/")


def test_names_are_told_apart_by_more_than_their_spelling() -> None:
    names = Names()
    assert names.add("straße") == ""
    assert names.add("STRASSE") != ""
    assert names.add("a/b/c") == ""
    assert names.add("a/B/d") != ""
