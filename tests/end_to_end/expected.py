"""What each pipeline gives: its steps called as functions, as its body calls them.

`m` is the module of the pipeline, and `volumes` holds the folders of the volumes by the names of their claims.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.end_to_end.plain import Plain

Volumes = dict[str, Path]


# --- tests/lowering --------------------------------------------------------------------------------


def straight(plain: Plain, m: Any, volumes: Volumes, title: str = "run", base: float = 0.5) -> None:
    data = plain("data", m.read, "x")
    fitted = plain("fitted", m.fit, data, m.Mode.EXACT, [base, base * 2, 1.0])
    text = f"{title}: {fitted.loss}"
    plain("report", m.report, fitted.model, fitted.loss + 1, fitted.notes["depth"], text)


def branches(
    plain: Plain, m: Any, volumes: Volumes, limit: float = 0.5, force: bool = False, kind: str = "fast"
) -> None:
    score = plain("score", m.measure, kind)
    model: Any
    if score > limit or force:
        model = plain("good", m.build, 1)
        why = plain("why", m.note, 2)
        if score * 2 > limit:
            plain("ship", m.ship, model, "nothing to say" if why is None else why, score / 2)
    else:
        model = plain("bad", m.build, 3)
    if not force and kind == "fast":
        plain("hurry", m.ship, model, "quick")
    plain("ship-1-0", m.ship, model, f"score {score}")


def containers(plain: Plain, m: Any, volumes: Volumes, target: str = "prod", level: int = 2) -> None:
    binary = plain.folder / "binary"
    binary.write_text("".join(path.read_text() for path in sorted((volumes["datasets"] / "src").iterdir())))
    built = plain.given("built", m.compile_c, m.Built(binary, f"-O{level} C $(5) $$"))
    stripped = plain.folder / "stripped"
    stripped.write_text(binary.read_text().splitlines(keepends=True)[-1])
    plain.given("strip", m.strip, m.Stripped(stripped, binary.stat().st_size))
    plain.given("deploy", m.deploy, None, f"{built.version} s$$cret\n{stripped.read_text()}")
    plain.given("announce", m.announce, None, f"{built.version}\n")


def computed(
    plain: Plain, m: Any, volumes: Volumes, rows: int = 3, rate: float = 0.5, name: str = "a"
) -> None:
    words = (
        rows * 4,
        f"--epochs={rows + 1}",
        rate / 2,
        str(rows > 2).lower(),
        f"{name}-{name}",
        "true",
        rows - 1,
    )
    plain.given("plan", m.plan, "".join(f"{word}|" for word in words))


def loops(plain: Plain, m: Any, volumes: Volumes, total: int = 3) -> None:
    data = volumes["datasets"]
    made = plain("made", m.names, total)
    counted = [plain(f"counted.count({n})", m.count, name, data / "words") for n, name in enumerate(made)]
    pairs = [(size, speed) for size in (1, 2) for speed in (0.5, 1.0)]
    doubled = [plain(f"doubled.double({n})", m.double, *pair) for n, pair in enumerate(pairs)]
    hard = ['say "hi"', "a\\b", "{"]
    texts = [plain(f"texts.count({n})", m.count, name, data / "words") for n, name in enumerate(hard)]
    checked = [plain(f"checked.check({n})", m.check, one) for n, one in enumerate(counted)]
    numbers = [plain(f"numbers.again({n})", m.again, n) for n in range(3)]
    files = [plain(f"files.count({n})", m.count, "x", data / name) for n, name in enumerate("ab")]
    again = [plain(f"check.check({n})", m.check, one) for n, one in enumerate(files)]
    plain("other", m.join, texts, doubled, again, numbers[1])
    plain("join", m.join, counted, doubled, checked, counted[0].words)


def combinations(
    plain: Plain, m: Any, volumes: Volumes, size: int = 2, seeds: Sequence[int] = (1, 12345678901234567)
) -> None:
    found = plain("found", m.rates, size)
    trained = [
        plain(f"losses.train({n})", m.train, rate, seed, kind)
        for n, (kind, rate, seed) in enumerate(product(("small", "large"), found, seeds))
    ]
    some = [
        plain(f"some.train({n})", m.train, *point)
        for n, point in enumerate(product((found[0], 0.1), (3, size)))
    ]
    files = plain("shards", m.shards, 3)
    judged = [
        plain(f"judged.judge({n})", m.judge, *point) for n, point in enumerate(product(files, some, seeds))
    ]
    walked = [
        plain(f"walked.train({n})", m.train, *point)
        for n, point in enumerate(zip(found, (size, 4), strict=True))
    ]
    lists: list[list[str]] = []
    for at, one in enumerate(walked):
        own = plain(f"folds.folds({at}).shards", m.shards, 2)
        lists.append(
            [
                plain(f"folds.folds({at}).judge.judge({n})", m.judge, shard, one, fold)
                for n, (shard, fold) in enumerate(product(own, seeds))
            ]
        )
    plain("count", m.count, lists)
    plain("report", m.report, trained, judged, [])


def nested(plain: Plain, m: Any, volumes: Volumes, count: int = 2) -> None:
    def parts(name: str, data: Path, count: int) -> Any:
        first = plain(f"{name}.first", m.half, data, count)
        return plain(f"{name}.second", m.half, first.left, first.size + 1)

    one = parts("one", volumes["datasets"] / "raw", count)
    two = parts("two", one.left, one.size)
    names = plain("names", m.label, two)
    many = [parts(f"many.parts({n})", one.left, number) for n, number in enumerate([1, 2, 3])]
    plain("merge", m.merge, many, names, [one.size, two.size, 7])


def scattered(plain: Plain, m: Any, volumes: Volumes, names: tuple[str, ...] = ("a", "b")) -> None:
    found: list[Any] = []
    every: list[Any] = []
    pairs: list[Any] = []
    for number, name in enumerate(names):
        where = f"found.search({number})"
        if name == "b":
            found.append(plain(f"{where}.other", m.usual, name))
        else:
            runs = [
                plain(f"{where}.runs.train({n})", m.train, name, rate) for n, rate in enumerate([0.2, 0.1])
            ]
            found.append(min(runs, key=lambda one: one.loss))
        where = f"every.all-of({number}).train"
        every.append([plain(f"{where}.train({n})", m.train, name, rate) for n, rate in enumerate([0.1, 0.2])])
        where = f"pairs.both({number})"
        pairs.append(
            [plain(f"{where}.usual", m.usual, name).model, plain(f"{where}.train", m.train, name, 0.5).model]
        )
    plain("compare", m.compare, found, every, pairs)
    others = [plain(f"others.usual({number})", m.usual, name) for number, name in enumerate(names)]
    plain("lists", m.compare, others, [found, others], pairs)
    for number, run in enumerate(found):
        plain(f"show.show({number})", m.show, run)


def returned(plain: Plain, m: Any, volumes: Volumes, configs: list[Any] | None = None) -> None:
    found: list[Any] = []
    for number, config in enumerate(
        configs or [m.Config("ab", [3.0, 16.0]), m.Config('c"', [3.0, 32.0], "n")]
    ):
        where = f"found.tuned({number})"
        rates = enumerate([0.5, 2.0, 1.0])
        runs = [plain(f"{where}.runs.train({n})", m.train, config.name, rate) for n, rate in rates]
        usual = [
            plain(f"{where}.usual.train({n})", m.train, config.name, rate)
            for n, rate in enumerate([4.0, 8.0])
        ]
        best = max(one.score for one in runs)
        if best > config.rates[0]:
            best = plain(f"{where}.more", m.train, config.name, config.rates[1]).score
        found.append(
            m.Found(usual[1].model, config.name, config.rates[0], best / usual[0].score, config.note, None)
        )
    runs = [plain(f"best.train.train({n})", m.train, "xyz", rate) for n, rate in enumerate([0.5, 2.0])]
    last = max(runs, key=lambda one: one.score)
    for number, one in enumerate(found):
        plain(f"title.title({number})", m.title, one)
    plain("show", m.show, found, m.Found(last.model, "last", last.score, last.score / 2, None, None), "ab")


def files_of_loops(plain: Plain, m: Any, volumes: Volumes, more: bool = True) -> None:
    for number, name in enumerate(["ab", "c"]):
        where = f"groups.rates-of({number}).train"
        runs = [plain(f"{where}.train({n})", m.train, name, rate) for n, rate in enumerate([0.5, 2.0])]
        plain(f"compare.compare({number})", m.compare, m.Group(runs, name))
    usual = plain("usual", m.train, "d", 1.0)
    models: list[Any] = [usual.model, None]
    if more:
        runs = [plain(f"runs.train({n})", m.train, "e", rate) for n, rate in enumerate([4.0, 8.0])]
        models = [runs[1].model, runs[0].model]
    plain("show", m.show, models[0])
    plain("show-any", m.show_any, models[1])
    for number, model in enumerate((volumes["datasets"] / "words", None)):
        plain(f"each.show-any({number})", m.show_any, model)


def sweeps(plain: Plain, m: Any, volumes: Volumes, points: list[Any], least: float = 0.5) -> None:
    data = plain("data", m.prepare)
    judged: list[Any] = []
    for n, (rate, layers) in enumerate(points):
        trained = plain(f"trials.trial({n}).trained", m.train, data, rate, layers)
        judged.append(plain(f"trials.trial({n}).judge", m.judge, trained.model, data, trained.loss))
    best = max(judged, key=lambda one: one.score)
    if best.score >= least:
        plain("publish", m.publish, best.model, best.score, judged)
    grid = [(0.001 * number, layers) for number in range(1, 252) for layers in (1, 2)]
    many = [plain(f"many.train({n})", m.train, data, *point, "rnn") for n, point in enumerate(grid)]
    loss = min(one.loss for one in many)
    plain("announce", m.announce, next(one.model for one in many if one.loss == loss), loss)


def volume(plain: Plain, m: Any, volumes: Volumes, month: str = "2026-11") -> None:
    data = volumes["datasets"]
    first = plain("first", m.clean, data / "raw" / month)
    second = plain("second", m.clean, first)
    plain("train", m.train, second)
    plain("direct", m.train, data / "runs/volume-00001")
    plain("last", m.train, data / "all")


def lists(plain: Plain, m: Any, volumes: Volumes, count: int = 2) -> None:
    files = plain("files", m.split, count)
    sizes = [
        plain(f"sizes.size({n})", m.size, one, extra)
        for n, (one, extra) in enumerate(zip(files, [1, 2], strict=True))
    ]
    found = plain("found", m.rows, count)
    texts = [plain(f"texts.told({n})", m.told, one) for n, one in enumerate(found)]
    more = [plain(f"more.inner({n}).told", m.told, one) for n, one in enumerate(found)]

    def nested(name: str, number: int) -> list[int]:
        several = plain(f"{name}.split", m.split, number)
        return [
            plain.given(f"{name}.counted.counted({at})", m.counted, len(one.read_text()))
            for at, one in enumerate(several)
        ]

    sums = [nested(f"sums.nested({n})", number) for n, number in enumerate([count, 3])]
    plain("add", m.add, sums)
    told = [
        {"of": f'"{number}" $', "sizes": nested(f"recorded.recorded({n}).nested", number)}
        for n, number in enumerate([1, 2])
    ]
    spoken = f"{json.dumps(sums)} {json.dumps(told)}".replace("$", r"\u0024")
    plain.given("spoken", m.spoken, spoken)
    if plain("many", m.many, files):
        kept = plain("kept", m.split, 3)
        others = [plain(f"others.size({n})", m.size, one, count) for n, one in enumerate(kept)]
        plain("end", m.end, sizes, texts, others)
    plain("last", m.end, sizes, more, sizes)


# --- pipelines/ ------------------------------------------------------------------------------------


def choices(
    plain: Plain,
    m: Any,
    volumes: Volumes,
    size: int = 2,
    word: str = "ab",
    kind: str = "a",
    force: bool = False,
) -> None:
    def inner(name: str) -> Any:
        if size > 3:
            made = plain(f"{name}.large", m.search, word, size - 3)
            half = made.size / 2
        elif size > 1:
            made = plain(f"{name}.small", m.search, word, size)
            half = made.size * 0.5
        else:
            made = plain(f"{name}.least", m.search, word, size + 1)
            half = made.size + 0.5
        plain(f"{name}.half", m.tell, word, half, size > 2)
        return made

    found = plain("found", m.search, word, size)
    file = plain("file", m.perhaps, size - 1)
    speed = plain("speed", m.rate, size - 1)
    how = plain("how", m.mode, size)
    plain("show", m.show, found.note, how, kind, speed)
    plain("straight", m.tell, found.note or "no note", 0.5 if speed is None else speed, force, file)
    first, second, third, fourth = None, None, None, None
    if kind == "a":
        first = plain("first", m.rate, size)
        if how == m.Mode.FAST:
            second = plain("second", m.search, f"{word}!", size + 1)
            if not force:
                plain("deep", m.tell, word, size / 2, (size > 1) & force, second.file)
        else:
            third = plain("third", m.search, word, 1)
    else:
        fourth = plain("fourth", m.rate, size + 1)
    if found.note is None:
        plain("none", m.tell, "no note", float(size), force)
    if word != "ab" or found.note is not None:
        some = next((one for one in (first, fourth) if one is not None), 9.0)
        plain("some", m.tell, found.note or "-", some, force)
    if found.note == f"many of {word}" and speed != 2:
        plain("equal", m.tell, "equal", 1.0, speed == 1.0)
    best = (second or third or found).file
    picked = third or found
    plain("picked", m.tell, picked.note or "no note", picked.size / 2, force, picked.file)
    both = inner("both-inner")
    plain("both", m.tell, both.note or "nothing", float(both.size), both.size == size, both.file)
    note = (second.note if second else None) or f"{word} {size}"
    plain("last", m.tell, note, 0.25 if first is None else first, force, best)


def unpacked(
    plain: Plain, m: Any, volumes: Volumes, rates: Sequence[float] = (0.25,), least: float = 0.1
) -> None:
    def loop(name: str, step: Any, *lists: Sequence[Any]) -> list[Any]:
        return [
            plain(f"{name}.{step.__name__}({n})", step, *one)
            for n, one in enumerate(zip(*lists, strict=True))
        ]

    first, *others = loop("train", m.train, [0.5, rates[0], 1.0])
    sizes = loop("sizes", m.size, ["a", "a", "bb", "bb"], [1, 10, 1, 10])
    (letter, zero), (other, one) = loop("fold", m.fold, range(2))
    if first.loss > least:
        plain("show", m.show, first.model, [each.model for each in others], sum(sizes) / len(sizes))
    plain("odd", m.size, "odd", sum(sizes[1::2]) + 2 * next(reversed(sizes)))
    nested = [loop(f"part.part({n}).size", m.size, ["a", "bb"], [base] * 2) for n, base in enumerate((1, 3))]
    for number, (name, sized) in enumerate(zip((letter, other), nested, strict=True), 1):
        plain(f"size-{number}", m.size, name, sized[1] + zero + one)


def items(plain: Plain, m: Any, volumes: Volumes, size: int = 3) -> None:
    folder, other = volumes["data"] / "folder", volumes["data"] / "other"

    def loop(name: str, step: Any, *lists: list[Any]) -> list[Any]:
        short = step.__name__
        return [plain(f"{name}.{short}({n})", step, *one) for n, one in enumerate(zip(*lists, strict=True))]

    def each(name: str, label: str, number: int) -> Any:
        packed = plain(f"{name}.packed", m.pack, label, number)
        again = loop(f"{name}.again", m.pack, [packed.text] * 2, [1, 2])
        rows = loop(f"{name}.rows", m.unpack, again)
        last = plain(f"{name}.last", m.pack, label, plain(f"{name}.count", m.count, rows))
        return m.Packed(packed.file, last.text, last.weight)

    texts = plain("texts", m.words, size)
    packed = loop("packed", m.pack, texts, [size] * size)
    unpacked = loop("unpacked", m.unpack, packed)
    weights = loop("weights", m.weigh, plain("boxes", m.boxes, texts), [0.5] * size)
    table = loop("table", m.times, [1, 1, 2, 2], [0.5, 1e-07, 0.5, 1e-07], [texts] * 4)
    walked = loop("walked", m.times, [3, size], [1.5, size / 3], [["x", f"{size}"]] * 2)
    counts = loop("counts", m.count, loop("lists", m.pieces, unpacked))
    some = loop("some", m.count, loop("words", m.words, [1, 2, size]))
    pairs = loop("pairs", m.pack, ["one", "two", "three"], some)
    labels = enumerate(zip(unpacked, counts, strict=True))
    deep = [each(f"deep.each({n})", label, number) for n, (label, number) in labels]
    deeper = loop("deeper", m.unpack, deep)
    on_volume = loop("on-volume", m.read, [folder] * 2, ["a b", "c'd"])
    folders = loop("folders", m.read, [folder, other], ["a b"] * 2)
    plain("numbers", m.many, [size, size * 2, 7])
    plain("flat", m.flat, table)
    plain("pair-count", m.count, loop("unpack", m.unpack, pairs))
    plain("walked-sum", m.flat, walked)
    plain("deeper-count", m.count, deeper)
    plain("volume-count", m.count, on_volume)
    plain("folders-count", m.count, folders)
    kept = plain("kept", m.shelf, packed, f"shelf {size}")
    plain("total", m.total, unpacked, weights, kept, plain("paths", m.paths, size), packed[0])


def texts(plain: Plain, m: Any, volumes: Volumes, text: str = 'it\'s "$(HOME)" $$ {x}') -> None:
    given = plain("plain", m.same, text)
    quoted = plain("quoted", m.same, f'<{given}> of texts-00001 & "{text}" \\ {{x}} }}}}')
    wrapped = plain("wrapped", m.wrap, given)
    plain("unwrap", m.unwrap, wrapped)
    plain("nested", m.unwrap, [given, "{{=1+1}} $(A) $$ \x07", f"a {given}", quoted])
    labelled = plain("labelled", m.label, given, {"a b": text, "{{x}}": "$$", 'q"': "}}"})
    plain("show", m.show, labelled, {"k": [given, 1, None, {"{{": 2.5}], "e": text})
    for number, one in enumerate(m.HARD):
        plain(f"same.same({number})", m.same, one)
    first, *others = [
        plain(f"count.count({number})", m.count, *one)
        for number, one in enumerate(product(m.PROMPTS, [1, 2]))
    ]
    tried = [plain(f"tried.count({number})", m.count, one, 3) for number, one in enumerate(m.PROMPTS)]
    plain("lengths", m.same, f"{first} of {len(others)}, {max(tried)}")
    plain.given("variables", m.variables, ["$(FIRST) $$ $HOME 5$", "1", "$(FIRST)", '{"a": {"b": {}}}'])
    plain("braces", m.braces, given)
    file = plain("write", m.write, given)
    words = [given, f"--text={given} $$ $(FIRST)$", given, file.read_text(), "$(FIRST) $$ $HOME 5$"]
    plain.given("echo", m.echo, "|".join(words))


def records(plain: Plain, m: Any, volumes: Volumes, loss: float = 0.25) -> None:
    source = volumes["data"] / "source"

    def build(name: str, source: Path, loss: float) -> Any:
        model = plain(f"{name}.model", m.make, source, loss)
        return plain(f"{name}.join", m.join, model, plain(f"{name}.pair", m.pair, model, 2)[0])

    def twice(name: str, source: Path, loss: float) -> Any:
        first = plain(f"{name}.first", m.make, source, loss)
        return plain(f"{name}.second", m.make, first.weights, first.loss + 1)

    model = plain("model", m.make, source, loss)
    again = plain("again", m.make, model.weights, loss / 2)
    couple = plain("couple", m.pair, again, 3)
    parts = plain("parts", m.split, model, 3)
    none = plain("none", m.split, model, 0)
    files = plain("files", m.index, parts, [model, again])
    plain("empty", m.index, none, [])
    both = build("both", source, loss)
    nested = build("nested", both.extra, model.loss + 1)
    plain("worse", m.worse, both.model)
    branch, factor = ("high", 1) if loss > 0.5 else ("low", 2)
    chosen = plain(f"chosen.{branch}", m.make, again.weights, loss * factor)
    each = [twice(f"each.twice({n})", model.weights, one) for n, one in enumerate([0.1, 0.9, loss])]
    from_folder = plain("from-folder", m.make, source, 1.0)
    plain("first", m.show, both, files, [model, from_folder], couple)
    slow = [plain(f"slow.worse.worse({n})", m.worse, one) for n, one in enumerate([model, again])]
    for outer, models in enumerate([[model, again], [again, model]]):
        for number, one in enumerate(models):
            plain(f"slower.both-worse({outer}).worse.worse({number})", m.worse, one)
    plain("all-slow", m.index, parts, slow)
    last = m.Both(chosen, nested.extra, nested.names)
    plain("show", m.show, last, {"x": model.weights, "y": couple[0]}, each, (nested.extra, 5))


def parts(plain: Plain, m: Any, volumes: Volumes, rows: int = 2) -> None:
    def look(task: str, one: Any, name: str) -> None:
        plain(f"{task}.show", m.show, *one.model, *one.logs, one.shape, name)

    trained, name = plain("train", m.train, rows)
    look("look", trained, name)
    report = plain("handed.score", m.score, trained.model, 2)
    look("again", trained, "again")
    look("report", report.trained, "report")
    more = report.trained
    plain("show", m.show, report.text, trained.model.loss, trained.logs[0], more.logs[1], more.shape, name)
    runs = [plain(f"runs.trial({at}).train", m.train, one)[0] for at, one in enumerate([1, 2])]
    look("second", runs[1], "second")
    found = [plain(f"search.trial({at}).train", m.train, one)[0] for at, one in enumerate([2, 4, 3])]
    best = min(found, key=lambda one: one.model.loss)
    look("best", best, f"best of {best.model.loss}")
    task, count = ("large", rows) if rows > 2 else ("small", rows * 5)
    chosen, _ = plain(task, m.train, count)
    look("chosen", chosen, "chosen")
    plain("whole", m.whole, chosen, [trained, best, more])


def measured(plain: Plain, m: Any, volumes: Volumes, x: float = 0.5) -> None:
    def trials(where: str) -> list[Any]:
        plain.fails(where.format(2), m.train, 3.0)
        return [plain(where.format(at), m.train, one) for at, one in enumerate([x, 2.25])]

    small = min(trials("small.train({})"), key=lambda one: one.metrics.loss)
    large = max(trials("large.trial({}).train"), key=lambda one: one.metrics.test.rows)
    plain("show", m.show, large.metrics, large.name)
    plain("shown", m.show, small.metrics, small.name)


def inside(plain: Plain, m: Any, volumes: Volumes, size: int = 3) -> None:
    def each(name: str, step: Any, items: list[Any]) -> list[Any]:
        return [plain(f"{name}.{step.__name__}({at})", step, one) for at, one in enumerate(items)]

    made = m.Table(each("made.make", m.make, [size, 2]), size)
    plain("whole", m.shown, made)
    plain("part", m.shown, m.Table(made.rows, made.size + 1))
    rows = each("rows", m.make, [7, size])
    if size > 3:
        none = each("none", m.half, [4, 5])
        plain("branch", m.report, m.Report(made, {}, (rows, none), []), [none, []], none)
    numbers = each("numbers", m.half, [4, 5])
    nested = [each(f"nested.halves({at}).half", m.half, [x, 1]) for at, x in enumerate([5, size])]
    for name, its in (("taken", rows), ("of-a-pipeline", made.rows)):
        if its[1].loss > 0.5:
            given = its[0], its[1].name, its[0].loss * 2, nested[1], numbers[1]
            plain(f"{name}.picked", m.picked, *given)
        row = m.Row(its[1].name, numbers[0])
        plain(f"{name}.deep", m.picked, row, "", nested[0][1], numbers, nested[1][0])
        plain(f"{name}.shown", m.shown, m.Table(its, size))
    plain("item", m.picked, made.rows[1], made.rows[0].name, made.rows[1].loss, nested[1], nested[0][0])
    plain("added", m.added, each("long", m.long, [size, 2, 3, 4]))
    of = m.Report(m.Table(rows, 1), {"ä": numbers, "b": [1.5]}, (rows, numbers), nested)
    plain("report", m.report, of, [numbers, numbers], [[one._asdict() for one in rows], _plain(made)])


def _plain(table: Any) -> dict[str, Any]:
    """A table as it arrives where anything may."""
    return {"rows": [one._asdict() for one in table.rows], "size": table.size}


def numbered(
    plain: Plain, m: Any, volumes: Volumes, known: dict[int, str] | None = None, least: float = 1.0
) -> None:
    names = m.KNOWN if known is None else known
    scores = plain("scores", m.score, names, {10: 0.25})
    chosen = plain("first", m.shown, scores, scores.by_class[10], names[-1])
    if scores.by_class[-1] > least:
        chosen = plain("second", m.shown, plain("empty", m.score, {}), 0.5, "none")
    weights: list[Any] = [{2: 0.0}, {}, None]
    rows = [plain(f"rows.score({at})", m.score, names, one) for at, one in enumerate(weights)]
    plain("joined", m.joined, rows, chosen)


def trials(plain: Plain, m: Any, volumes: Volumes, least: float = 2.0, name: str = "n") -> None:
    def sweep(where: str, name: str, kinds: list[Any]) -> list[Any]:
        rows: list[Any] = []
        for number, (point, kind) in enumerate((point, kind) for point in points for kind in kinds):
            task = f"{where}.trial({number})"
            if point == 100:
                plain.fails(task, m.trial, point, kind, name)
            else:
                rows.append(plain(task, m.trial, point, kind, name))
        return rows

    def whole(where: str, points: list[float]) -> list[int]:
        tasks = {point: f"{where}.number({number})" for number, point in enumerate(points)}
        for point in points:
            if point < 0:
                plain.fails(tasks[point], m.number, point)
        return [plain(tasks[point], m.number, point) for point in points if point >= 0]

    def usable(rows: list[Any]) -> list[Any]:
        return [row for row in rows if math.isfinite(row.score)]

    points = [101.0, 2.04, 100.0, 2.01, 3.0, 102.0, 103.0, 1.0, 3.01]
    low = min(usable(sweep("low", name, [m.Kind.PLAIN])), key=lambda row: row.score)
    rows = sweep("high", f"{name}'s", [m.Kind.ODD, m.Kind.PLAIN])
    high = max(usable(rows), key=lambda row: row.score)
    numbers = whole("whole", [5.0, -1.0, 4.0, 7.0])
    plain("lowest", m.publish, *low)
    best = max(numbers)
    if high.score > least:
        plain("highest", m.publish, *high)
    else:
        best = min(whole("other", [1.0, 9.0]))
        plain("again", m.number, float(best))
    plain("table", m.table, rows, numbers)
    plain("either", m.number, float(best))
    plain("last", m.publish, high.model, low.score + max(numbers), low.note, high.rounds)


def in_loops(plain: Plain, m: Any, volumes: Volumes, names: list[str]) -> None:
    kept: list[Any] = []
    for number, name in enumerate(names):
        where = f"tuned.tuned({number})"
        points = enumerate([1.0, 3.0, 2.0])
        runs = [plain(f"{where}.runs.trial({n})", m.trial, point, m.Kind.ODD, name) for n, point in points]
        kept.append(plain(f"{where}.keep", m.keep, max(runs, key=lambda row: row.score), runs))
    plain("table", m.table, kept, [])


def integers(plain: Plain, m: Any, volumes: Volumes, size: int = 3) -> None:
    known = plain("known", m.numbers, size)
    plain("add", m.add, known)
    pairs = zip(known, [2**60 + 1, 7, 2], strict=True)
    taken = [plain(f"taken.take({n})", m.take, *pair) for n, pair in enumerate(pairs)]
    plain("all", m.add, taken)
    for n, one in enumerate(plain("number", m.large, size)):
        plain(f"large.take({n})", m.take, one)
    first = plain("first", m.take, known[0], known[-1])
    most = plain("most", m.sizes)
    plain("range", m.take, most["most"], most["least"])
    plain("equal", m.take, known[0] + 1, first)


def literals(plain: Plain, m: Any, volumes: Volumes, given: Any = True) -> None:
    size, nothing = plain("pair", m.pair, 3)
    plain("parts", m.parts, size, nothing, nothing, nothing)
    levels = [plain(f"levels.level({n})", m.level, one) for n, one in enumerate([1, True, "1"])]
    plain("spelled", m.spelled, levels, plain("last", m.level, plain("first", m.level, given)))


def ways(plain: Plain, m: Any, volumes: Volumes, word: str = "x", big: bool = False) -> None:
    nested = [plain(f"nested.outer({n}).inner.write", m.write, one) for n, one in enumerate([3, 4])]
    plain("join", m.join, nested)
    straight = [plain(f"straight.inner({n}).write", m.write, one) for n, one in enumerate([5, 6])]
    plain("again", m.join, straight)
    made = f"[{plain('number', m.write, 1)}]" if big else "none"
    found = plain("found", m.find, word) or "null"
    plain("show", m.show, found, f"<{found}>", made)


def deep(
    plain: Plain, m: Any, volumes: Volumes, far: bool = True, base: float = 0.75, more: bool = True
) -> None:
    found = plain("found", m.loss, base) if far else 0.0
    if far:
        plain("best.found", m.loss, base)
    value = -2.0
    if found > 0.5:
        value = plain("high", m.loss, found + 10) if more else found + 1
        first = plain("best.first", m.train, "first") if more else None
        second = plain("best.second", m.train, "second")
        model = first or second
    elif far:
        model = plain("best.third", m.train, "third")
    else:
        model = plain("best.fourth", m.train, "fourth")
    plain("show", m.show, model, value)


def left_out(plain: Plain, m: Any, volumes: Volumes, counts: list[int] = [2, 4]) -> None:  # noqa: B006
    for number, count in enumerate(counts):
        name = f"inner.inner({number})"
        parts = plain(f"{name}.parts", m.split, count)
        for one, part in enumerate(parts):
            (plain.fails if one == 1 else plain)(f"{name}.checked.check({one})", m.check, part)
        files = [plain.calls[f"{name}.checked.check({one})"].value for one in range(count) if one != 1]
        for one, file in enumerate(files):
            (plain if one else plain.fails)(f"{name}.sizes.size({one})", m.size, file)
        plain(f"{name}.say", m.say, [1], [])
        plain(f"{name}.last", m.say, [0], [*range(2, count)])


def handed_on(plain: Plain, m: Any, volumes: Volumes, name: str = "n") -> None:
    def lowest(where: str, name: str) -> float:
        points = enumerate([3.0, 1.0, 2.0])
        rows = [plain(f"{where}.runs.trial({n})", m.trial, point, m.Kind.ODD, name) for n, point in points]
        return float(min(row.score for row in rows))

    plain("half", m.number, lowest("lowest", name))
    points = enumerate([1.0, 4.0])
    rows = [plain(f"highest.runs.trial({n})", m.trial, point, m.Kind.PLAIN, name) for n, point in points]
    plain("double", m.number, max(row.score for row in rows))
    each = [lowest(f"each.lowest({n})", one) for n, one in enumerate([name, "m"])]
    for n, one in enumerate(each):
        plain(f"number.number({n})", m.number, one)


def small(plain: Plain, m: Any, volumes: Volumes, start: int = 1, text: str = "t") -> None:
    large(plain, m, volumes, start, text, 9)


def large(plain: Plain, m: Any, volumes: Volumes, start: int = 1, text: str = "t", count: int = 95) -> None:
    first = plain("first", m.both, start, text)
    kept = plain("kept", m.keep, first.left)
    yes, middle, late = None, None, None
    if first.left > 4:
        yes = plain("yes", m.both, first.left, "yes")
        branch = plain("yes-file", m.keep, yes.left, kept)
        value = yes.left
    else:
        value = plain("no", m.add, first.left, 40)
        branch = plain("no-file", m.keep, value)
    last = first.left
    for number in range(count):
        last = plain(f"a{number}", m.add, last, number)
    total = last
    if total > 4500 and first.right is None:
        middle = plain("middle", m.both, total, text)
    last = plain("joined", m.add, value, total if middle is None else middle.left)
    for number in range(count):
        last = plain(f"b{number}", m.add, last, start * number)
    counted = [plain(f"counted.add({n})", m.add, x, total) for n, x in enumerate([1, last, 3])]
    rows = [plain(f"best.both({n})", m.both, x, f"{text}-{last}") for n, x in enumerate([3, 8, 5])]
    best = max(rows, key=lambda row: row.left)
    sub = (
        plain("sub.high", m.both, last - 100, "high") if last > 100 else plain("sub.low", m.both, last, "low")
    )
    if last / 2 > total:
        late = plain("late", m.keep, last, branch)
    notes = [one.right for one in (middle, yes) if one is not None and one.right is not None]
    numbers = [last, total, 0 if yes is None else yes.left, sub.left, best.left, counted[1]]
    said = f"{(*notes, f'{text} {last}')[0]} {sub.right or '-'} {best.right or '-'}"
    plain("sum-up", m.sum_up, numbers, [kept, late or kept, branch], said)


def taken(plain: Plain, m: Any, volumes: Volumes, count: int = 3) -> None:
    data = plain("data", m.split, count)
    plain("first", m.show, data.parts[0])
    plain("last", m.show, data.parts[-1])
    plain("train", m.show, data.named["train"], f" {data.folds[1].number} {data.folds[1].score}")
    plain("quoted", m.show, data.named["it's"])
    plain("fold", m.fit, data.folds[1], data.folds[-1].score * 2)
    plain("untested", m.fit, data.folds[0], 0.5)
    plain("pair", m.optional, *data.pairs[1])
    plain("missing", m.optional, data.maybe[0], 0)
    plain("there", m.optional, data.maybe[1], 1)
    plain("whole", m.whole, data.wholes[-1], data.pairs[0])
    plain("other.show", m.show, data.named["test set"])
    plain("handed", m.show, plain("other.pair", m.pair, "inside")[1])
    chosen = data.parts[1]
    if data.folds[-1].number == 2:
        chosen, two = plain("two", m.pair, "branch")
        plain("within", m.show, two)
    plain("chosen", m.show, chosen)
    for number, one in enumerate([data.parts[1], data.named["train"]]):
        plain(f"each.show({number})", m.show, one)
    plain("many", m.many, data.parts[1::-1], {"a": data.named["train"], "b": data.folds[0].train})


def files(plain: Plain, m: Any, volumes: Volumes, count: int = 0, text: str = "t") -> None:
    def keep(name: str, text: str) -> Any:
        return plain(name, m.keep, text, count)

    straight = keep("straight", text)
    plain("straight-archive", m.opened, straight.archive)
    plain("straight-optional", m.optional, straight.perhaps)
    loose = plain("loose", m.keep, text, count)
    plain("loose-optional", m.optional, loose.perhaps)
    bare = plain("bare", m.empty, count)
    plain("loose-list", m.listed, bare, loose.several, loose.named)
    plain("straight-list", m.listed, plain("empty", m.empty, count), straight.several, straight.named)
    handed = keep("handed.keep", text)
    plain("handed-archive", m.opened, handed.archive)
    plain("handed-list", m.listed, plain("folder", m.empty, count), handed.several, handed.named)
    other = plain("other", m.archive, f"{text} " + "of another size" * 9)
    plain(
        "keys", m.keyed, {"a": {"b-c": straight.archive}, "a-b": {"c": other}, "a_b": {"c": straight.archive}}
    )
    if count > 1:
        chosen, folder = plain("first", m.archive, text), plain("many", m.empty, count)
    else:
        chosen, folder = plain("second", m.archive, f"not {text}"), plain("few", m.empty, 0)
    plain("chosen-archive", m.opened, chosen)
    plain("chosen-list", m.listed, folder, [], {})
    rows = [keep(f"rows.keep({number})", one) for number, one in enumerate("ab")]
    plain("counted", m.counted, rows)
    plain("row-archive", m.opened, rows[1].archive)
    for at, (word, number) in enumerate((("one", count), ("two", 2))):
        page = plain.folder / word
        page.write_text(word)
        plain(f"shown.shown({at})", m.shown, m.Page(page, None, number))


def moments(
    plain: Plain,
    m: Any,
    volumes: Volumes,
    day: date = date(2026, 1, 31),
    at: datetime = datetime(2026, 1, 31, 6, tzinfo=UTC),
    other: date | None = None,
) -> None:
    shared = plain("window", m.window, day, at)
    found = plain("days", m.days, day, 2)
    rows = [plain(f"rows.load({number})", m.load, one) for number, one in enumerate(found)]
    both = [(one, mode) for one in (m.START, day) for mode in "xy"]
    every = [plain(f"every.load({number})", m.load, *one) for number, one in enumerate(both)]
    last = shared.last
    parts = [plain(f"parts.part({n}).inner", m.load, last, f"of {one}") for n, one in enumerate(found)]
    plain("moment", m.moment, at, datetime.fromisoformat("2026-01-31T06:30"))
    if day >= date(2026, 1, 1) and day != date(2026, 1, 2):
        plain("new", m.load, day, f"{day} or later")
    if day == m.START:
        plain("first", m.load, day)
    plain("late", m.load, plain("perhaps", m.late, day) or m.START)
    plain("other", m.load, other or m.START)
    text = plain.given("echo", m.echo, f"{day} {at.isoformat()}")
    plain("text", m.load, rows[1].day, text)
    plans = plain("plan", m.plan, {m.START: 3, date(2001, 2, 3): 4})
    plain("planned", m.planned, plans, {time(1, 2, 3): day, time(0): m.START}, plans[date(2001, 2, 3)])
    plain("rest", m.said, every, [m.Window(day, None, [at])], (m.START, 3), {"a": m.START})
    plain("said", m.said, parts, [shared], (found[1], 3), {"a": day, "b": found[0], "c": m.START})


def amounts(
    plain: Plain,
    m: Any,
    volumes: Volumes,
    price: Decimal = Decimal("1.50"),
    order: UUID | None = None,
    wait: timedelta = timedelta(hours=36, microseconds=1500),
) -> None:
    order = order or m.SHOP
    first = plain("first", m.bill, price, order, wait)
    waits = {timedelta(1): "a", timedelta(0): "b"}
    orders = plain("orders", m.by_order, {Decimal("1.0"): order, Decimal("2E+2"): m.SHOP}, waits)
    if order == m.SHOP and first.tax is None:
        plain("same", m.bill, orders[m.SHOP], order, first.waits[1], Decimal("-0"))
    given = enumerate(plain("prices", m.prices, 4))
    found = [plain(f"found.bill({number})", m.bill, one, first.order, wait) for number, one in given]
    points = [(span, rate) for span in (timedelta(1), timedelta(hours=30)) for rate in ("0.1", "0.3")]
    runs = [plain(f"runs.trial({n})", m.trial, span, Decimal(rate)) for n, (span, rate) in enumerate(points)]
    best = min(runs, key=lambda one: one.loss)
    plain("best", m.bill, best.rate, order, best.wait)
    either = first.tax or price
    echoed = plain.given("echoed", m.echo, either, f"36h0.0015s {order}\n")
    plain("said", m.said, f"order {order}", found, echoed)


def entries(plain: Plain, m: Any, volumes: Volumes) -> None:
    kinds = m.Kind
    given = {"loss": 0.5, "steps": 1, "day": date(2022, 2, 2), "kind": kinds.SMALL}
    trained = plain("trained", m.train, 2.0)
    every = [plain(f"every.train({number})", m.train, rate) for number, rate in enumerate((0.1, 3.0))]
    twice = [
        plain(f"twice.again({number}).inner", m.train, one["loss"] * 2, one["day"])
        for number, one in enumerate(every)
    ]
    both = plain("row", m.row, trained)
    plain("more", m.perhaps, every[0]["loss"], both.metrics["kind"])
    chosen = plain("perhaps", m.perhaps, given["loss"], given["kind"]) or given
    runs = [plain(f"runs.train({number})", m.train, rate) for number, rate in enumerate((0.2, 0.7))]
    made = {"loss": 3.0, "steps": 1, "day": runs[1]["day"], "kind": kinds.LARGE, "note": "after 3"}
    rows = {"a": both, "b": m.Row(chosen, "chosen")}
    plain("said", m.said, made, {"first": 1, "others": [trained, given]}, twice, rows, [1, "x"])


def bundles(plain: Plain, m: Any, volumes: Volumes, count: int = 3) -> None:
    def loop(step: Any, given: list[Any], name: str = "") -> list[Any]:
        name = name or step.__name__
        return [plain(f"{name}.{step.__name__}({at})", step, one) for at, one in enumerate(given)]

    loop(m.joined, plain("pairs", m.pairs, count))
    plain("show-parts", m.show_parts, loop(m.parts, [1, 2]))
    plain("show-named", m.show_named, loop(m.named, [1, 2]))
    wholes = loop(m.whole, [1, 2], "wholes")
    plain("count-wholes", m.count_wholes, wholes)
    plain("show-whole", m.show_whole, wholes[1])
    plain("show-several", m.show_several, loop(m.several, [1, 2]))


# --- examples/ -------------------------------------------------------------------------------------


def sentiment(plain: Plain, m: Any, volumes: Volumes, points: list[Any], min_accuracy: float = 0.9) -> None:
    corpus = plain("corpus", m.preprocess, volumes["datasets"] / "raw/reviews.txt")
    runs = [plain(f"runs.train({n})", m.train, corpus, *point) for n, point in enumerate(points)]
    best = max(runs, key=lambda one: one.accuracy)
    if best.accuracy > min_accuracy:
        plain("publish", m.publish, best.model, best.accuracy)


def shards(plain: Plain, m: Any, volumes: Volumes, least: int = 5) -> None:
    folder = volumes["crawl"] / "2026/text"
    names = plain("names", m.plan, folder)
    counted = [plain(f"counted.count({n})", m.count, folder, one) for n, one in enumerate(names)]
    plain("join", m.join, counted, least)


def stages(plain: Plain, m: Any, volumes: Volumes, epochs: int = 5, threshold: float = 0.8) -> None:
    examples = plain("examples", m.preprocess, volumes["tickets"] / "labelled.csv")
    trained = plain("trained", m.train, examples, epochs)
    model = plain("model", m.export, trained.weights)
    scores = plain("scores", m.infer, model, volumes["tickets"] / "new.csv")
    plain("postprocess", m.postprocess, scores, trained.accuracy, threshold)


def moons(plain: Plain, m: Any, volumes: Volumes, points: list[Any], min_accuracy: float = 0.95) -> None:
    data = plain("data", m.generate)
    runs = [plain(f"runs.train({n})", m.train, data, *point) for n, point in enumerate(points)]
    best = max(runs, key=lambda one: one.accuracy)
    if best.accuracy >= min_accuracy:
        plain("publish", m.publish, best.model, best.accuracy, str(plain.folder / "models/moons"))


def nightly(plain: Plain, m: Any, volumes: Volumes, epochs: int = 30, most: float = 0.4) -> None:
    """The program of the step writes its number of epochs and its data, and a loss that is their quotient."""
    model = plain.folder / "model.pt"
    model.write_text(f"{epochs} {(volumes['clicks'] / 'all/clicks.txt').read_text()}")
    trained = plain.given("trained", m.train, m.Trained(model, 3 / epochs), "trained\n")
    if trained.loss > most:
        plain.fails("judge", m.judge, trained.model, trained.loss, most)
    else:
        plain("judge", m.judge, trained.model, trained.loss, most)
