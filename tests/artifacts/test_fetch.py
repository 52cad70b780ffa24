"""What a run made arrives in a folder: whole, once, under the names of its author."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from flowdsl.runtime.local.controller.names import fnv32a
from tests.artifacts.objects import Objects, endless, thing, whole
from tests.artifacts.runs import Known, command, plain, stored, there, told, workflow

Json = dict[str, Any]
On = Callable[[Json], Known]


def tgz(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return made.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def certificate(path: Path) -> Path:
    """A certificate for this machine that only itself vouches for, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, begin, begin + timedelta(days=36500))
    made = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    form = serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    path.write_bytes(made + secret)
    return path


@pytest.fixture
def run(objects: Objects) -> Json:
    objects.put("demo/model.tgz", tgz({"model/weights": b"w" * 100, "model/sub/x": b"x"}))
    objects.put("demo/one.tgz", tgz({"clean.txt": b"clean"}))
    objects.put("demo/notes.txt", b"notes")
    objects.put("demo/z.zip", zipped({"z/a": b"a", "z/b": b"b"}))
    objects.put("demo/train/model/0/w.bin", b"0")
    objects.put("demo/train/model/1/w.bin", b"1")
    objects.put("demo/main.log", b"said\n")
    make = {
        "parameters": [{"name": "rows", "value": "12"}, {"name": "flowdsl-index", "value": "/0"}],
        "exitCode": "0",
        "artifacts": [
            stored("model", "demo/model.tgz"),
            stored("clean", "demo/one.tgz"),
            plain("notes", "demo/notes.txt"),
            stored("packed", "demo/z.zip", archive={"zip": {}}),
            stored("main-logs", "demo/main.log"),
            {"name": "said", "raw": {"data": "raw text"}},
        ],
    }
    rounds = {
        f"train({number})": {"artifacts": [plain("model", f"demo/train/model/{number}")]} for number in (0, 1)
    }
    return workflow(objects.endpoint, {"make": make, **rounds})


EVERYTHING = {
    "make/clean": b"clean",
    "make/model/sub/x": b"x",
    "make/model/weights": b"w" * 100,
    "make/notes": b"notes",
    "make/packed/a": b"a",
    "make/packed/b": b"b",
    "make/said": b"raw text",
    "train/0/model/w.bin": b"0",
    "train/1/model/w.bin": b"1",
}


def test_all_arrives(on: On, run: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    on(run)
    assert command([]) == 0
    assert sorted(capsys.readouterr().err.splitlines()) == [
        "make.clean: 5 bytes",
        "make.model: 2 files, 101 bytes",
        "make.notes: 5 bytes",
        "make.packed: 2 files, 2 bytes",
        "make.said: 8 bytes",
        "train(0).model: 1 file, 1 byte",
        "train(1).model: 1 file, 1 byte",
    ]
    assert there(tmp_path / "demo") == EVERYTHING
    assert sorted(one.name for one in (tmp_path / "demo/.flowdsl").iterdir()) == ["lock"]


def test_manifest_says_where_all_is_from(on: On, run: Json, tmp_path: Path) -> None:
    on(run)
    assert command([]) == 0
    found = told(tmp_path / "demo")
    assert len(found["outputs"]) == 7
    for one in found["outputs"]:
        for file in one["files"]:
            path = tmp_path / "demo" / one["target"] / file.get("path", "")
            assert hashlib.sha256(path.read_bytes()).hexdigest() == file["sha256"]


def test_manifest_says_all_of_the_run(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("demo/notes.txt", b"notes")
    missing = plain("gone", "demo/gone.txt")
    made = {"artifacts": [plain("notes", "demo/notes.txt"), missing], "exitCode": "1"}
    run = workflow(objects.endpoint, {"make": made})
    run["metadata"] |= {"labels": {"team": "ml"}, "annotations": {"note": "x"}}
    times = {"startedAt": "2026-11-21T12:00:01Z", "finishedAt": "2026-11-21T12:00:02Z"}
    run["status"] |= {**times, "phase": "Failed", "message": "child failed"}
    run["status"]["outputs"] = {"parameters": [{"name": "loss", "value": "0.5"}]}
    run["spec"] = {
        "arguments": {"parameters": [{"name": "rate", "value": "0.1"}]},
        "templates": [{"name": "make", "container": {"image": "python:3.12-slim"}}],
    }
    given = [{"name": "rate", "value": "0.1"}, {"name": "flowdsl-index", "value": "/0"}]
    more = {"phase": "Failed", "message": "main: Error (exit code 1)", "hostNodeName": "node-1"}
    run["status"]["nodes"]["demo-0"] |= {**times, **more, "inputs": {"parameters": given}}
    on(run)
    assert command([]) == 1
    found = told(tmp_path / "demo")
    digests = {word: found["outputs"][0].pop(word) for word in ("etag", "version")}
    assert digests["etag"] == f'"{hashlib.md5(b"notes").hexdigest()}"'
    assert found == {
        "flowdsl": 1,
        "run": {"name": "demo", "namespace": "default", "uid": "u-1"},
        "phase": "Failed",
        "message": "child failed",
        "created": "2026-11-21T12:00:00Z",
        "started": times["startedAt"],
        "finished": times["finishedAt"],
        "labels": {"team": "ml"},
        "annotations": {"note": "x"},
        "parameters": {"rate": "0.1"},
        "values": {"loss": "0.5"},
        "steps": [
            {
                "step": "make",
                "phase": "Failed",
                "message": "main: Error (exit code 1)",
                "template": "make",
                "image": "python:3.12-slim",
                "node": "demo-0",
                "pod": f"demo-make-{fnv32a('demo.make')}",
                "host": "node-1",
                "started": times["startedAt"],
                "finished": times["finishedAt"],
                "inputs": {"rate": "0.1"},
                "outputs": {"exitCode": "1"},
            }
        ],
        "outputs": [
            {
                "step": "make",
                "output": "notes",
                "target": "make/notes",
                "source": "s3://argo/demo/notes.txt",
                "digest": hashlib.sha256(b"notes").hexdigest(),
                "mode": "",
                "checked": ["etag"],
                "refused": [],
                "also": [],
                "files": [{"size": 5, "sha256": hashlib.sha256(b"notes").hexdigest()}],
            }
        ],
        "refused": [
            {
                "step": "make",
                "output": "gone",
                "source": "s3://argo/demo/gone.txt",
                "kind": "missing",
                "reason": "there is no object s3://argo/demo/gone.txt, and none below it",
            }
        ],
    }


def test_what_is_there_is_not_fetched_again(on: On, run: Json, objects: Objects, tmp_path: Path) -> None:
    on(run)
    assert command([]) == 0
    manifest = (tmp_path / "demo/run.json").read_bytes()
    objects.asked.clear()
    assert command([]) == 0
    assert objects.gets() == []
    assert (tmp_path / "demo/run.json").read_bytes() == manifest


def test_a_part_is_fetched_by_its_name_and_the_rest_stays(on: On, run: Json, tmp_path: Path) -> None:
    on(run)
    assert command(["make.notes", "train(1)"]) == 0
    assert list(there(tmp_path / "demo")) == ["make/notes", "train/1/model/w.bin"]
    assert command(["train"]) == 0
    outputs = [f"{one['step']}.{one['output']}" for one in told(tmp_path / "demo")["outputs"]]
    assert outputs == ["make.notes", "train(0).model", "train(1).model"]


def test_archives_and_logs_on_request(on: On, run: Json, tmp_path: Path) -> None:
    on(run)
    assert command(["--no-unpack", "--logs", "make"]) == 0
    assert sorted(there(tmp_path / "demo")) == [
        "make/clean.tgz",
        "make/main-logs",
        "make/model.tgz",
        "make/notes",
        "make/packed.zip",
        "make/said",
    ]
    assert command(["make"]) == 0
    assert (tmp_path / "demo/make/model/sub/x").read_bytes() == b"x"


def test_list_asks_no_store(on: On, run: Json, objects: Objects, capsys: pytest.CaptureFixture[str]) -> None:
    on(run)
    assert command(["--list", "make"]) == 0
    assert objects.asked == []
    assert capsys.readouterr().out == (
        "STEP  OUTPUT  KIND   VALUE OR PLACE\n"
        "make  rows    value  12\n"
        "make  model   file   s3://argo/demo/model.tgz\n"
        "make  clean   file   s3://argo/demo/one.tgz\n"
        "make  notes   file   s3://argo/demo/notes.txt\n"
        "make  packed  file   s3://argo/demo/z.zip\n"
        "make  said    file   text in the workflow\n"
    )
    assert command(["--list", "--json", "make.rows", "make.model"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"step": "make", "output": "rows", "kind": "value", "value": "12"},
        {"step": "make", "output": "model", "kind": "file", "place": "s3://argo/demo/model.tgz"},
    ]
    assert command(["--json"]) == 2
    assert "--json is for --list" in capsys.readouterr().err


def test_unknown_name(on: On, run: Json, capsys: pytest.CaptureFixture[str]) -> None:
    on(run)
    assert command(["make.modle"]) == 2
    assert "no step or output `make.modle`; did you mean `make.model`?" in capsys.readouterr().err


def test_missing_objects_are_named_and_the_rest_arrives(
    on: On, run: Json, objects: Objects, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    on(run)
    del objects.things["demo/notes.txt"]
    assert command([]) == 1
    assert "make.notes: there is no object s3://argo/demo/notes.txt" in capsys.readouterr().err
    assert there(tmp_path / "demo").keys() == EVERYTHING.keys() - {"make/notes"}
    assert [one["kind"] for one in told(tmp_path / "demo")["refused"]] == ["missing"]
    objects.put("demo/notes.txt", b"notes")
    assert command([]) == 0
    assert there(tmp_path / "demo") == EVERYTHING


def test_deleted_artifacts_are_said_to_be(on: On, run: Json, capsys: pytest.CaptureFixture[str]) -> None:
    run["status"]["nodes"]["demo-0"]["outputs"]["artifacts"][2]["deleted"] = True
    on(run)
    assert command(["make.notes"]) == 1
    assert "clean-up of the run's artifacts has deleted it" in capsys.readouterr().err


def test_an_object_that_is_replaced_replaces_what_is_there(
    on: On, run: Json, objects: Objects, tmp_path: Path
) -> None:
    on(run)
    assert command([]) == 0
    objects.put("demo/notes.txt", b"newer notes")
    assert command([]) == 0
    assert (tmp_path / "demo/make/notes").read_bytes() == b"newer notes"


def test_what_somebody_else_put_there_stays(
    on: On, run: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on(run)
    path = tmp_path / "demo/make/notes"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"mine")
    assert command([]) == 1
    assert path.read_bytes() == b"mine"
    assert "is there and is not as a fetch has left it" in capsys.readouterr().err
    assert there(tmp_path / "demo").keys() == EVERYTHING.keys()


def test_links_in_the_folder_lead_nowhere(on: On, run: Json, tmp_path: Path) -> None:
    on(run)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/make").symlink_to(tmp_path / "elsewhere")
    assert command([]) == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("text", ["{}", "[]", "hello"])
def test_a_manifest_of_another_program_is_not_overwritten(
    on: On, run: Json, tmp_path: Path, text: str
) -> None:
    on(run)
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/run.json").write_text(text)
    assert command([]) == 2
    assert (tmp_path / "demo/run.json").read_text() == text


def test_another_run_goes_elsewhere(
    on: On, run: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on(run)
    assert command([]) == 0
    run["metadata"]["uid"] = "u-2"
    assert command([]) == 2
    assert "holds another run of this name: name another folder with -o" in capsys.readouterr().err
    assert command(["-o", "-"]) == 2
    assert capsys.readouterr().err == "flowdsl: - is not a folder: name the one to write into\n"
    (tmp_path / "file").touch()
    assert command(["-o", "file"]) == 2
    assert capsys.readouterr().err == "flowdsl: file is a file: name a folder to write into\n"
    assert command(["-o", "second"]) == 0
    assert there(tmp_path / "second") == EVERYTHING


def on_the_web(name: str, objects: Objects, key: str, **more: object) -> Json:
    return {"name": name, "http": {"url": f"http://{objects.endpoint}/argo/{key}", **more}}


# --- stores -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", ["s3", "http"])
def test_answers_that_break_off_go_on(on: On, objects: Objects, tmp_path: Path, over: str) -> None:
    big = endless(5 << 20)
    objects.things["big"] = big
    objects.cut = 1 << 20
    artifact = plain("big", "big") if over == "s3" else on_the_web("big", objects, "big")
    on(workflow(objects.endpoint, {"make": {"artifacts": [artifact]}}))
    assert command([]) == 0
    assert (tmp_path / "demo/make/big").read_bytes() == b"".join(whole(big))


def test_an_etag_that_is_no_digest_costs_a_second_look(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.things["a"] = thing(b"encrypted")._replace(tag='"0123456789abcdef0123456789abcdef"')
    on(workflow(objects.endpoint, {"make": {"artifacts": [plain("a", "a")]}}))
    assert command([]) == 0
    assert objects.gets() == ["a", "a"]
    assert told(tmp_path / "demo")["outputs"][0]["checked"] == ["twice"]


def test_bytes_that_differ_from_their_digest_are_not_kept(
    on: On, objects: Objects, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = iter(range(1, 100))

    def part(at: int, most: int) -> bytes:
        return b"%04d" % next(numbers)

    objects.things["a"] = thing(b"0000")._replace(part=part)
    on(workflow(objects.endpoint, {"make": {"artifacts": [plain("a", "a")]}}))
    assert command([]) == 3
    assert "came twice with different bytes" in capsys.readouterr().err
    assert there(tmp_path / "demo") == {}


def test_parts_of_an_upload_are_checked(on: On, objects: Objects, tmp_path: Path) -> None:
    data = b"".join(whole(endless(20 << 20)))
    sums = [hashlib.md5(data[at : at + (16 << 20)]).digest() for at in (0, 16 << 20)]
    tag = f'"{hashlib.md5(b"".join(sums)).hexdigest()}-2"'
    objects.things["a"] = thing(data)._replace(tag=tag)
    on(workflow(objects.endpoint, {"make": {"artifacts": [plain("a", "a")]}}))
    assert command([]) == 0
    assert told(tmp_path / "demo")["outputs"][0]["checked"] == ["etag"]


def test_a_secret_that_may_not_be_read(
    on: On,
    run: Json,
    objects: Objects,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    known = on(run)
    known.refused = True
    assert command(["make.notes"]) == 3
    said = capsys.readouterr().err
    assert "cannot get Secret `s3cred` in namespace `default`" in said
    assert "--own-credentials" in said
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "mine, too")
    assert command(["make.notes", "--own-credentials"]) == 0
    assert there(tmp_path / "demo") == {"make/notes": b"notes"}


def test_credentials_are_not_mixed(
    on: On, run: Json, objects: Objects, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    on(run)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "another")
    assert command(["make.notes"]) == 0
    assert objects.signed == {("access", "")}
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    file = tmp_path / "credentials"
    file.write_text("[team]\naws_access_key_id = mine\naws_secret_access_key = s\naws_session_token = t\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "team")
    objects.signed.clear()
    assert command(["make.notes", "--own-credentials"]) == 0
    assert objects.signed == {("mine", "t")}


def test_a_store_that_is_elsewhere(
    on: On, run: Json, objects: Objects, capsys: pytest.CaptureFixture[str]
) -> None:
    run["status"]["artifactRepositoryRef"]["artifactRepository"]["s3"]["endpoint"] = "127.0.0.1:9"
    on(run)
    assert command([]) == 3
    said = capsys.readouterr().err
    assert "cannot be reached from here" in said
    assert "--endpoint http://localhost:PORT" in said
    assert command(["--endpoint", f"http://{objects.endpoint}"]) == 0

    assert command(["--endpoint", "http://127.0.0.1:8", "-o", "again"]) == 3
    said = capsys.readouterr().err
    assert "http://127.0.0.1:8, which stands for s3://" in said


@pytest.mark.parametrize(
    ("code", "reason", "said"),
    [
        (400, "ExpiredToken", "refused to give {}: the credentials have expired"),
        (403, "ExpiredToken", "refused to give {}: the credentials have expired"),
        (403, "InvalidAccessKeyId", "refused to give {}: it does not know the access key"),
        (403, "SignatureDoesNotMatch", "refused to give {}: the secret key is not that of the access key"),
        (403, "RequestTimeTooSkewed", "refused to give {}: the clock of this machine is wrong"),
        (403, "AccessDenied", "refused to give {} (AccessDenied): the credentials do not allow it"),
        (301, "PermanentRedirect", "is in another region: set AWS_REGION"),
    ],
)
def test_why_a_store_refuses(
    on: On,
    run: Json,
    objects: Objects,
    capsys: pytest.CaptureFixture[str],
    code: int,
    reason: str,
    said: str,
) -> None:
    on(run)
    objects.refusal = (code, reason)
    assert command(["make.notes"]) == 3
    place = f"s3://argo at {objects.endpoint}"
    assert f"make.notes: {place} {said.format('s3://argo/demo/notes.txt')}\n" in capsys.readouterr().err
    objects.refusal = None
    assert command(["make.notes"]) == 0


def test_a_page_is_no_object(
    on: On, run: Json, objects: Objects, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    on(run)
    objects.page = b"<html>the console of a store</html>"
    assert command(["make.notes", "--endpoint", f"http://{objects.endpoint}"]) == 3
    store = f"http://{objects.endpoint}, which stands for s3://argo at {objects.endpoint},"
    assert (
        f"make.notes: {store} is not a store of objects: it answers whatever it is" in capsys.readouterr().err
    )
    assert there(tmp_path / "demo") == {}


def test_a_store_without_etags(on: On, run: Json, objects: Objects, tmp_path: Path) -> None:
    on(run)
    objects.tags = False
    assert command([]) == 0
    assert there(tmp_path / "demo") == EVERYTHING


def test_a_certificate_that_nobody_vouches_for(
    on: On, run: Json, objects: Objects, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    on(run)
    objects.encrypt(certificate(tmp_path / "own.pem"))
    endpoint = f"https://{objects.endpoint}"
    assert command(["make.notes", "--endpoint", endpoint]) == 3
    said = capsys.readouterr().err
    assert f"make.notes: {endpoint}, which stands for s3://argo at {objects.endpoint}, has a cert" in said
    assert "is not trusted here: name that of its authority, SSL_CERT_FILE=ca.pem" in said


def test_a_run_that_does_not_say_its_bucket(
    on: On, run: Json, objects: Objects, capsys: pytest.CaptureFixture[str]
) -> None:
    del run["status"]["artifactRepositoryRef"]["artifactRepository"]
    on(run)
    assert command(["make.notes"]) == 1
    said = "make.notes: the workflow does not say in which bucket it is\n"
    assert (capsys.readouterr().err, objects.asked) == (said, [])


@pytest.mark.parametrize(
    "endpoint", ["http://localhost:99999", "my minio:9000", "http://", "http://[bad", "ftp://x", "-"]
)
def test_what_is_no_address_of_a_store(
    on: On, run: Json, capsys: pytest.CaptureFixture[str], endpoint: str
) -> None:
    run["status"]["artifactRepositoryRef"]["artifactRepository"]["s3"]["endpoint"] = endpoint
    on(run)
    assert command([]) == 3
    assert f"`{endpoint}` is not an address" in capsys.readouterr().err
    assert command(["--endpoint", endpoint]) == 2
    assert "is not an address" in capsys.readouterr().err


def test_a_plain_address(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("web", b"page")
    on(workflow(objects.endpoint, {"make": {"artifacts": [on_the_web("web", objects, "web")]}}))
    assert command([]) == 0
    assert there(tmp_path / "demo") == {"make/web": b"page"}


def test_what_is_on_the_web_is_asked_for_with_its_headers(
    on: On, objects: Objects, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects.put("web", b"page")
    objects.wanted = {"X-Token": "t"}
    given = [{"name": "X-Token", "value": "t"}]
    artifacts = [
        on_the_web("with", objects, "web", headers=given),
        on_the_web("without", objects, "web"),
        on_the_web("gone", objects, "gone", headers=given),
        {"name": "nobody", "http": {"url": "http://127.0.0.1:9/page"}},
    ]
    on(workflow(objects.endpoint, {"make": {"artifacts": artifacts}}))
    assert command([]) == 3
    assert there(tmp_path / "demo") == {"make/with": b"page"}
    said = capsys.readouterr().err
    assert f"http://{objects.endpoint}/argo/web was refused: HTTP 403" in said
    assert f"there is nothing at http://{objects.endpoint}/argo/gone" in said
    assert "http://127.0.0.1:9/page cannot be reached" in said


@pytest.mark.parametrize("url", ["file:///etc/hostname", "http://[web"])
def test_what_is_no_address_of_the_web_is_refused(
    url: str, on: On, objects: Objects, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on(workflow(objects.endpoint, {"make": {"artifacts": [{"name": "web", "http": {"url": url}}]}}))
    assert command([]) == 3
    assert f"make.web: '{url}' is not an http or https address" in capsys.readouterr().err
    assert there(tmp_path / "demo") == {}


def test_google(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("demo/g/x", b"google")
    run = workflow(objects.endpoint, {"make": {"artifacts": [{"name": "g", "gcs": {"key": "demo/g"}}]}})
    reference = {"name": "s3cred", "key": "gcs"}
    run["status"]["artifactRepositoryRef"]["artifactRepository"] = {
        "gcs": {"bucket": "argo", "serviceAccountKeySecret": reference}
    }
    on(run).store = objects.endpoint
    assert command([]) == 0
    assert there(tmp_path / "demo") == {"make/g/x": b"google"}


def test_azure(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("account/box/demo/z", b"azure")
    place = {"container": "box", "blob": "demo/z", "endpoint": f"http://{objects.endpoint}/account"}
    artifact = {"name": "z", "azure": {**place, "accountKeySecret": {"name": "s3cred", "key": "azure"}}}
    on(workflow(objects.endpoint, {"make": {"artifacts": [artifact]}}))
    assert command([]) == 0
    assert there(tmp_path / "demo") == {"make/z": b"azure"}


def test_stores_that_are_not_supported(on: On, objects: Objects, capsys: pytest.CaptureFixture[str]) -> None:
    on(workflow("x", {"make": {"artifacts": [{"name": "a", "hdfs": {"path": "/x"}}, {"name": "b"}]}}))
    assert command([]) == 1
    said = capsys.readouterr().err
    assert "make.a: it is in a store of the kind `hdfs`, which is not supported" in said
    assert "make.b: the workflow does not say where it is" in said


# --- runs -------------------------------------------------------------------------------------------------


def test_values_of_the_run_itself(
    on: On, run: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = {"name": "flowdsl-digest-return", "value": "0f"}
    run["status"]["nodes"]["demo"]["outputs"] = {"parameters": [{"name": "return", "value": "0.75"}, ours]}
    run["status"]["outputs"] = {"parameters": [{"name": "global", "value": "x"}]}
    on(run)
    assert command(["--list"]) == 0
    assert capsys.readouterr().out.endswith("demo      return  value  0.75\ndemo      global  value  x\n")
    assert command([]) == 0
    assert told(tmp_path / "demo")["values"] == {"return": "0.75", "global": "x"}


def test_a_run_without_files_is_told_as_one(on: On, run: Json, capsys: pytest.CaptureFixture[str]) -> None:
    for node in run["status"]["nodes"].values():
        node.pop("outputs", None)
    on(run)
    assert command([]) == 0
    assert capsys.readouterr().out == "demo: no files; the values are in run.json\n"


def test_what_a_graph_hands_on_is_said_beside_its_file(
    on: On, run: Json, tmp_path: Path, objects: Objects
) -> None:
    run["status"]["nodes"]["demo"]["outputs"] = {"artifacts": [plain("best", "demo/train/model/1")]}
    on(run)
    assert command([]) == 0
    outputs = {f"{one['step']}.{one['output']}": one["also"] for one in told(tmp_path / "demo")["outputs"]}
    assert outputs["train(1).model"] == ["best"]
    assert outputs["train(0).model"] == []


def test_a_file_that_the_run_hands_on_by_its_key_is_named(
    on: On, run: Json, tmp_path: Path, objects: Objects, capsys: pytest.CaptureFixture[str]
) -> None:
    best = {"parameters": [{"name": "best", "value": "demo/train/model/1"}]}
    run["status"]["nodes"]["demo"]["outputs"] = run["status"]["outputs"] = best
    on(run)
    assert command(["--list"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["demo", "best", "file", "train(1).model"]
    assert command([]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "best of the run is demo/train/1/model"
    outputs = {f"{one['step']}.{one['output']}": one["also"] for one in told(tmp_path / "demo")["outputs"]}
    assert outputs["train(1).model"] == ["best"]


def test_of_several_attempts_the_last_one_counts(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("last", b"last")
    made = workflow(
        objects.endpoint,
        {"a(0)": {"artifacts": [plain("f", "first")]}, "b": {"artifacts": [plain("f", "last")]}},
    )
    nodes = made["status"]["nodes"]
    retry = {"id": "r", "name": "demo.make", "displayName": "make", "type": "Retry", "boundaryID": "demo"}
    nodes["r"] = {**retry, "phase": "Succeeded", "children": ["demo-0", "demo-1"]}
    nodes["demo-0"] |= {"displayName": "make(0)", "nodeFlag": {"retried": True}, "phase": "Failed"}
    nodes["demo-1"] |= {"displayName": "make(1)", "nodeFlag": {"retried": True}}
    on(made)
    assert command([]) == 0
    assert there(tmp_path / "demo") == {"make/f": b"last"}


def test_a_run_whose_entrypoint_is_tried_again(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("last", b"last")
    made = workflow(objects.endpoint, {"make": {"artifacts": [plain("f", "last")]}})
    nodes = made["status"]["nodes"]
    nodes["demo"] |= {"type": "Retry", "children": ["first", "second"]}
    for name in ("first", "second"):
        flag = {"nodeFlag": {"retried": True}, "phase": "Succeeded"}
        nodes[name] = {"id": name, "name": f"demo({name})", "displayName": name, "type": "DAG", **flag}
    nodes["demo-0"]["boundaryID"] = "second"
    on(made)
    assert command([]) == 0
    assert there(tmp_path / "demo") == {"make/f": b"last"}


def test_a_folder_for_a_claim_that_the_run_has_not(
    on: On, run: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on(run)
    assert command(["--mount", f"data={tmp_path}"]) == 2
    assert (
        "--mount data: no file of the run is on a claim of that name; it has none" in capsys.readouterr().err
    )


def test_steps_that_go_on_are_said_to(on: On, run: Json, capsys: pytest.CaptureFixture[str]) -> None:
    run["status"]["nodes"]["demo-1"] |= {"phase": "Running", "outputs": {}}
    on(run)
    assert command([]) == 0
    assert "the run continues: 1 step has not ended. To fetch the rest later:" in capsys.readouterr().out


def test_a_run_that_has_not_begun_is_said_to_go_on(
    on: On, run: Json, capsys: pytest.CaptureFixture[str]
) -> None:
    del run["status"]
    on(run)
    assert command([]) == 0
    assert "the run continues. To fetch the rest later:" in capsys.readouterr().out
