r"""The functions that the last lines of a step's script are made of; a script has those that it needs.

They run in the image of the step: standard library only, Python 3.7 and newer. None of their lines may
hold two braces in a row, `$$` or `$(`, which Argo and the kubelet would take for theirs.

The safe JSON (`as_json`): ASCII, and `{`, `$`, U+007F inside strings escaped, so that there is no tag for
Argo, no `$` for the kubelet, and nothing that Go quotes in a way JSON does not know (`\a`, `\v`, `\x7f`,
`\U000e0001`; strconv.Quote in util/template/simple_template.go). Bare text cannot escape anything, so what
is unsafe in it is refused; the executor takes one line break off its end (SaveParameters in executor.go).
"""

from __future__ import annotations

import re
from functools import cache

from flowdsl.grammar.regex import regex
from flowdsl.values.textual import ROWS

STEP = "STEP_NAME"
_PLAIN = ("hashlib", "json", "os", "pathlib", "re", "shutil", "sys", "tempfile")
IMPORTS = tuple(sorted({*_PLAIN, *(row.module for row in ROWS)}))

_PARTS = r"""
def checked(what, function, *values):
    try:
        return function(*values)
    except Exception as error:
        sys.exit(f"step STEP_NAME, {what}: {str(error) or type(error).__name__}")

def env(variable):
    return os.environb[variable.encode()].decode()

def content(path):
    with open(path, "rb") as source:
        return source.read().decode()

def wrong(expected, value):
    return TypeError(f"expected {expected}, got {type(value).__name__} {value!r:.80}")

def scalar(kind, *also):
    def check(value):
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, (kind, *also)):
            raise wrong(kind.__name__, value)
        return kind(value)
    return check

def string(value):
    if not isinstance(value, str):
        raise wrong("str", value)
    return value

def nothing(value):
    if value is not None:
        raise wrong("None", value)

def anything(value):
    def plain(value):
        if not hasattr(value, "tolist"):
            raise wrong("a value that JSON has", value)
        return value.tolist()
    return json.loads(json.dumps(value, default=plain))

def one_of(*choices):
    def check(value):
        for choice in sorted(choices, key=lambda choice: type(choice) is not type(value)):  # True == 1
            if isinstance(value, type(choice)) and value == choice:
                return choice
        raise ValueError(f"expected one of {choices}, got {value!r:.80}")
    return check

def named(kind):
    def check(name):
        if name not in kind.__members__:
            raise ValueError(f"expected one of {', '.join(kind.__members__)}, got {name!r:.80}")
        return kind[name]
    return check

def member(kind):
    def check(value):
        if type(value).__name__ != kind:
            raise wrong(kind, value)
        if value.name not in type(value).__members__:
            raise wrong(f"one member of {kind}", value)
        return value.name
    return check

def from_iso(kind):
    return lambda text: kind.fromisoformat(string(text).replace("Z", "+00:00"))  # Z: from Python 3.11 on

def iso(kind):
    def check(value):
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, kind) or isinstance(value, datetime.datetime) and kind is datetime.date:
            raise wrong(kind.__name__, value)
        return value.isoformat()
    return check

def from_day(kind):
    def check(text):
        value = from_iso(kind)(text)
        if value.isoformat() != text:
            raise ValueError(f"expected {value}, got {text!r:.80}")
        return value
    return check

def day(kind):
    return iso(kind)

def from_printed(kind):
    def check(text):
        try:
            return kind(string(text))
        except (ValueError, ArithmeticError):
            raise ValueError(f"expected {kind.__name__}, got {text!r:.80}") from None
    return check

def printed(kind):
    def check(value):
        if not isinstance(value, kind):
            raise wrong(kind.__name__, value)
        return str(value)
    return check

def from_canonical(kind):
    def check(text):
        value = from_printed(kind)(text)
        if str(value) != text:
            raise ValueError(f"expected {value}, got {text!r:.80}")
        return value
    return check

def canonical(kind):
    return printed(kind)

def from_duration(kind):
    units = dict(w="weeks", d="days", h="hours", m="minutes", s="seconds", ms="milliseconds", us="microseconds")
    def check(text):
        amounts = re.findall("([0-9.]+)(ms|us|[wdhms])", string(text))
        if not amounts or "".join(map("".join, amounts)) != text[text.startswith("-"):]:
            raise ValueError(f"expected a duration such as 1h30m, got {text!r:.80}")
        value = sum((kind(**{units[unit]: float(amount)}) for amount, unit in amounts), kind())
        return -value if text.startswith("-") else value
    return check

def duration(kind):
    def check(value):
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, kind):
            raise wrong(kind.__name__, value)
        seconds, micros = divmod(abs(value) // kind(microseconds=1), 10**6)
        rest = f"{seconds % 60}.{micros:06}".rstrip("0").rstrip(".")
        amounts = [(f"{seconds // 3600}", "h"), (f"{seconds // 60 % 60}", "m"), (rest, "s")]
        text = "".join(amount + unit for amount, unit in amounts if amount != "0")
        return "-" * (abs(value) != value) + (text or "0s")
    return check

def list_of(item):
    def check(value):
        if not isinstance(value, (list, tuple)):
            raise wrong("list", value)
        return [item(one) for one in value]
    return check

def as_tuple(item):
    return lambda value: tuple(list_of(item)(value))

def dict_of(item):
    def check(value):
        if not isinstance(value, dict):
            raise wrong("dict", value)
        for key in value:
            if not isinstance(key, str):
                raise wrong("str as key", key)
        return {key: item(one) for key, one in value.items()}
    return check

def keyed(name, item):
    def check(value):
        if not isinstance(value, dict):
            raise wrong("dict", value)
        return {name(key): item(one) for key, one in value.items()}
    return check

def entries(parts, *needed):
    def check(value):
        if not isinstance(value, dict):
            raise wrong("dict", value)
        for name in value:
            if name not in parts:
                raise ValueError(f"there is no key {name!r:.80}")
        for name in needed:
            if name not in value:
                raise ValueError(f"the key {name} is missing")
        return {name: part(value[name]) for name, part in parts.items() if name in value}
    return check

def tuple_of(*items):
    def check(value):
        if not isinstance(value, (list, tuple)) or len(value) != len(items):
            raise wrong(f"{len(items)} values", value)
        return tuple(item(one) for item, one in zip(items, value))
    return check

def maybe(item):
    return lambda value: None if value is None else item(value)

def as_sent(kind):
    def make(**given):
        made = kind(**given)
        for name, value in given.items():
            object.__setattr__(made, name, value)
        return made
    make.__name__ = kind.__name__
    return make

def record(kind, parts):
    def check(value):
        if not isinstance(value, dict):
            raise wrong(kind.__name__, value)
        for name in value:
            if name not in parts:
                raise ValueError(f"{kind.__name__} has no field {name}")
        return kind(**{name: parts[name](one) for name, one in value.items()})
    return check

def fields(kind, parts):
    def check(value):
        if kind not in [one.__name__ for one in type(value).__mro__]:
            raise wrong(kind, value)
        return {name: part(getattr(value, name)) for name, part in parts.items()}
    return check

def truth(text):
    if text not in ("true", "false"):
        raise ValueError(f"expected true or false, got {text!r:.80}")
    return text == "true"

def parsed(decode):
    def check(text):
        try:
            value = json.loads(text)
        except ValueError:
            raise ValueError(f"expected JSON, got {text!r:.80}") from None
        return decode(value)
    return check

def if_there(path):
    return pathlib.Path(path) if os.path.exists(path) else None

def if_brought(path):
    return None if os.path.isdir(path) and not os.listdir(path) else if_there(path)

def by_number(path):
    names = os.listdir(path) if os.path.isdir(path) else []
    return [pathlib.Path(path, name) for name in sorted(names, key=lambda name: int(name.split("-")[0]))]

def by_name(path):
    names = os.listdir(path) if os.path.isdir(path) else []
    return {name: pathlib.Path(path, name) for name in sorted(names)}

def bundle(decode, path):
    with open(os.path.join(path, "value.json")) as source:
        return decode(lambda name: pathlib.Path(path, name))(json.load(source))

def rows(decode, text):
    def place(row):
        return [int(number) for number in row["flowdsl-index"].split("/")[1:]]
    found = []
    for row in sorted(json.loads(text), key=place):
        try:
            found.append(decode(row, row["flowdsl-index"].rpartition("/")[2]))
        except Exception as error:
            raise ValueError(f"item {row['flowdsl-index']}: {error}")
    return found

def below(key, *folders):
    for path, folder in folders:
        if key.startswith(f"{folder}/"):
            return path + key[len(folder):]
    return key

def has_fields(result, *names):
    for name in names:
        if not hasattr(result, name):
            raise wrong(f"a result with {', '.join(names)}", result)

def has_items(result, size):
    if not isinstance(result, (list, tuple)) or len(result) != size:
        raise wrong(f"{size} values", result)

def as_text(check):
    def encode(value):
        text = check(value)
        for one in text:
            if one < " " and one not in "\t\n\r" or one == "\x7f" or one > "\uffff" and not one.isprintable():
                raise ValueError(f"Argo cannot pass on {one!r} in text: return a Path, or a list of str")
        if "{" * 2 in text:
            raise ValueError("Argo would evaluate double braces in text: return a Path, or a list of str")
        return text + "\n" if text.endswith("\n") else text  # Argo takes one line break off the end
    return encode

def as_json(check):
    def safe(found):
        return found.group().replace("{", "\\u007b").replace("$", "\\u0024").replace("\x7f", "\\u007f")
    return lambda value: re.sub(r'"(?:[^"\\]|\\.)*"', safe, json.dumps(check(value)))

def all_in(value):
    yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        yield from all_in(one)

def exact(check):
    def look(value):
        for one in all_in(value):
            if isinstance(one, int) and abs(one) > 2 ** 53:
                raise ValueError(f"Argo would round {one} when it takes it out: return it as a str")
        return value
    return lambda value: look(check(value))

def finite(check):
    def look(value):
        for one in all_in(value):
            if isinstance(one, float) and one - one != 0:
                raise ValueError(f"Argo cannot take parts out of a value with {one} in it: return None there, or a str")
        return value
    return lambda value: look(check(value))

def as_number(check):
    return lambda value: json.dumps(check(value))

def write(path, encode, value):
    data = encode(value).encode()
    if len(data) > 65536:
        raise ValueError(f"{len(data)} bytes are too many for a value, 65536 is the most: return a Path")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as target:
        target.write(data)

def copy(value, target):
    if not isinstance(value, pathlib.PurePath):
        raise wrong("Path", value)
    if not os.path.exists(value):
        raise ValueError(f"the path {value} does not exist")
    if not os.path.isdir(value):
        shutil.copy2(value, target)
    elif os.path.realpath(target).startswith(os.path.join(os.path.realpath(value), "")):
        raise ValueError(f"the folder {value} holds the outputs of all steps: return one inside it")
    else:
        shutil.copytree(value, target, symlinks=True)

def zipped(store):
    def check(value, target):
        store(value, target)
        if not os.path.isdir(target):
            raise ValueError(f"Argo zips folders only, and {value} is a file: return its folder, or pack it as tar")
    return check

def base(path):
    return os.path.basename(os.path.abspath(str(path)))

def copies(values, target):
    if not isinstance(values, (list, tuple)):
        raise wrong("list", values)
    os.mkdir(target)
    for number, value in enumerate(values):
        copy(value, os.path.join(target, f"{number}-{base(value)}"))

def named_copies(values, target):
    if not isinstance(values, dict):
        raise wrong("dict", values)
    os.mkdir(target)
    for name, value in values.items():
        if not isinstance(name, str) or name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"the key {name!r:.80} cannot be the name of a file")
        copy(value, os.path.join(target, name))

def bundled(encode):
    def store(value, target):
        names = []
        def keep(path):
            names.append(f"{len(names)}-{base(path)}")
            copy(path, os.path.join(target, names[-1]))
            return names[-1]
        os.mkdir(target)
        text = json.dumps(encode(keep)(value))
        with open(os.path.join(target, "value.json"), "w") as out:
            out.write(text)
    return store

def rows_of(cells):
    def encode(values):
        names = []
        def entry(path):
            if path is None:
                return "none"
            names.append(f"{len(names)}-{base(path)}")
            if "$" * 2 in names[-1] or "$" + "(" in names[-1]:
                raise ValueError(f"Argo cannot pass on the name {base(path)!r}: give the file another one")
            return as_text(string)(names[-1])
        found = []
        for number, value in enumerate(values):
            row = cells(entry, value)
            for port in row:  # as_text has doubled a line break at the end
                row[port] = row[port][:-1] if row[port].endswith("\n") else row[port]
            row["flowdsl-index"] = f"/{number}"
            found.append(row)
        return found
    return encode

def names_of(values):
    for name in values:
        as_text(string)(name)
        if "$" * 2 in name or "$" + "(" in name:
            raise ValueError(f"Argo cannot pass on the name {name!r}: give the file another one")
    return [{name: name for name in values}]

def save(path, store, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as work:
        store(value, os.path.join(work, "new"))
        if os.path.lexists(path):
            os.replace(path, os.path.join(work, "old"))
        os.replace(os.path.join(work, "new"), path)

def discard(path):
    if os.path.lexists(path):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as work:
            os.replace(path, os.path.join(work, "old"))


def fingerprint(path, target):
    found = hashlib.sha256()
    names = [path] if os.path.lexists(path) else []
    for folder, inner, files in os.walk(path):
        names += [os.path.join(folder, name) for name in inner + files]
    for name in sorted(names):
        link, folder = os.path.islink(name), os.path.isdir(name)
        size = 0 if folder else os.lstat(name).st_size
        found.update(f"{os.path.relpath(name, path)!a} {link} {folder} {size} ".encode())
        if link:
            found.update(os.fsencode(os.readlink(name)))
        elif not folder:
            with open(name, "rb") as source:
                for block in iter(lambda: source.read(1 << 20), b""):
                    found.update(block)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w") as out:
        out.write(found.hexdigest())
"""

PARTS: dict[str, str] = {
    part.partition("(")[0]: "def " + part.rstrip() + "\n" for part in _PARTS.split("\ndef ")[1:]
}
_WORDS = regex(r"[A-Za-z_]\w*")
_LINE = regex(r"^(?=.)", re.MULTILINE)


def words(code: str) -> set[str]:
    """The words in some code, including its strings."""
    return set(_WORDS.findall(code))


@cache
def assembled(names: frozenset[str]) -> tuple[str, frozenset[str]]:
    """Parts and those that they call, in order of definition, indented; and their words."""
    found: set[str] = set()
    todo: set[str] = set(names)
    while todo:
        found |= todo
        todo = {word for part in todo for word in words(PARTS[part])} & PARTS.keys() - found
    text = "".join(f"{PARTS[part]}\n" for part in PARTS if part in found)
    return indented(text), frozenset(words(text))


def indented(text: str) -> str:
    """The lines of a text, indented by four columns."""
    return _LINE.sub("    ", text)
