"""The functions that Argo's expressions can call, with the types of their parameters and results.

Sources: github.com/expr-lang/expr 1.17.8, builtin/builtin.go; Argo Workflows 4.1, util/expr/env/env.go;
github.com/Masterminds/sprig 3.3.0, functions.go (`sprig.` in expressions; `env` and `expandenv` are removed).
"""

from __future__ import annotations

from functools import cache
from typing import Literal, cast

from flowdsl.grammar.named import NamedTuple

Kind = Literal["text", "whole", "long", "number", "flag", "list", "map", "time", "numbers", "any", "nil"]
"""The kind of a value; `number` is a float or int, `long` an int64 in Go; `any` may be everything."""


class Signature(NamedTuple):
    """The kinds of the arguments; those after the first `least` are optional, and the last may be repeated."""

    arguments: tuple[Kind, ...]
    least: int
    repeated: bool
    result: Kind

    @property
    def most(self) -> int | None:
        """The most arguments, or None if there is no limit."""
        return None if self.repeated else len(self.arguments)

    def argument(self, index: int) -> Kind:
        """The kind of an argument by its position."""
        return self.arguments[min(index, len(self.arguments) - 1)] if self.arguments else "any"


@cache
def builtins() -> dict[str, Signature]:
    """The functions of expr-lang, and those that Argo adds to it, by name."""
    return _read(_BUILTINS)


@cache
def sprig() -> dict[str, Signature]:
    """The functions of `sprig.`, by name."""
    return _read(_SPRIG)


def _read(table: str) -> dict[str, Signature]:
    found: dict[str, Signature] = {}
    for line in table.strip().splitlines():
        name, _, rest = line.partition(":")
        arguments, _, result = rest.partition("->")
        words = arguments.split()
        least = sum(1 for word in words if word[-1] not in "?*")
        kinds = cast("tuple[Kind, ...]", tuple(word.rstrip("?*") for word in words))
        found[name] = Signature(kinds, least, rest.count("*") > 0, cast("Kind", result.strip()))
    return found


# `x?` is optional, `x*` may be given any number of times. Predicates are checked by the parser.
_BUILTINS = """
all: list any -> flag
none: list any -> flag
any: list any -> flag
one: list any -> flag
filter: list any -> list
map: list any -> list
find: list any -> any
findIndex: list any -> whole
findLast: list any -> any
findLastIndex: list any -> whole
count: list any? -> whole
sum: list any? -> number
groupBy: list any -> map
sortBy: list any text? -> list
reduce: list any any? -> any
len: any -> whole
type: any -> text
abs: number -> number
ceil: number -> number
floor: number -> number
round: number -> number
int: any -> whole
float: any -> number
string: any -> text
trim: text text? -> text
trimPrefix: text text? -> text
trimSuffix: text text? -> text
upper: text -> text
lower: text -> text
split: text text whole? -> list
splitAfter: text text whole? -> list
replace: text text text whole? -> text
repeat: text whole -> text
join: list text? -> text
indexOf: text text -> whole
lastIndexOf: text text -> whole
hasPrefix: text text -> flag
hasSuffix: text text -> flag
max: numbers numbers* -> any
min: numbers numbers* -> any
mean: numbers numbers* -> number
median: numbers numbers* -> number
toJSON: any -> text
fromJSON: text -> any
toBase64: text -> text
fromBase64: text -> text
now: any? -> time
duration: text -> time
date: any text? text? text? -> time
timezone: text -> any
first: any -> any
last: any -> any
get: any any -> any
take: list whole -> list
keys: map -> list
values: map -> list
toPairs: map -> list
fromPairs: list -> map
reverse: list -> list
uniq: list -> list
concat: list list* -> list
flatten: list -> list
sort: list text? -> list
bitand: whole whole -> whole
bitor: whole whole -> whole
bitxor: whole whole -> whole
bitnand: whole whole -> whole
bitshl: whole whole -> whole
bitshr: whole whole -> whole
bitushr: whole whole -> whole
bitnot: whole -> whole
asInt: any -> whole
asFloat: any -> number
toJson: any -> text
jsonpath: text text -> any
"""

_SPRIG = """
abbrev: whole text -> text
abbrevboth: whole whole text -> text
add: any* -> long
add1: any -> long
add1f: any -> number
addf: any* -> number
adler32sum: text -> text
ago: any -> text
all: any* -> flag
any: any* -> flag
append: any any -> list
atoi: text -> whole
b32dec: text -> text
b32enc: text -> text
b64dec: text -> text
b64enc: text -> text
base: text -> text
bcrypt: text -> text
biggest: any any* -> long
buildCustomCert: text text -> any
camelcase: text -> text
cat: any* -> text
ceil: any -> number
chunk: whole any -> list
clean: text -> text
coalesce: any* -> any
compact: any -> list
concat: any* -> any
contains: text text -> flag
date: text any -> text
dateInZone: text any text -> text
dateModify: text time -> time
date_in_zone: text any text -> text
date_modify: text time -> time
decryptAES: text text -> text
deepCopy: any -> any
deepEqual: any any -> flag
default: any any* -> any
derivePassword: whole text text text text -> text
dict: any* -> map
dig: any* -> any
dir: text -> text
div: any any -> long
divf: any any* -> number
duration: any -> text
durationRound: any -> text
empty: any -> flag
encryptAES: text text -> text
ext: text -> text
fail: text -> text
first: any -> any
float64: any -> number
floor: any -> number
fromJson: text -> any
genCA: text whole -> any
genCAWithKey: text whole text -> any
genPrivateKey: text -> text
genSelfSignedCert: text list list whole -> any
genSelfSignedCertWithKey: text list list whole text -> any
genSignedCert: text list list whole any -> any
genSignedCertWithKey: text list list whole any text -> any
get: map text -> any
getHostByName: text -> text
has: any any -> flag
hasKey: map text -> flag
hasPrefix: text text -> flag
hasSuffix: text text -> flag
hello: -> text
htmlDate: any -> text
htmlDateInZone: any text -> text
htpasswd: text text -> text
indent: whole text -> text
initial: any -> list
initials: text -> text
int: any -> whole
int64: any -> long
isAbs: text -> flag
join: text any -> text
kebabcase: text -> text
keys: map* -> list
kindIs: text any -> flag
kindOf: any -> text
last: any -> any
list: any* -> list
lower: text -> text
max: numbers numbers* -> long
maxf: any any* -> number
merge: map map* -> any
mergeOverwrite: map map* -> any
min: numbers numbers* -> long
minf: any any* -> number
mod: any any -> long
mul: any any* -> long
mulf: any any* -> number
mustAppend: any any -> list
mustChunk: whole any -> list
mustCompact: any -> list
mustDateModify: text time -> time
mustDeepCopy: any -> any
mustFirst: any -> any
mustFromJson: text -> any
mustHas: any any -> flag
mustInitial: any -> list
mustLast: any -> any
mustMerge: map map* -> any
mustMergeOverwrite: map map* -> any
mustPrepend: any any -> list
mustPush: any any -> list
mustRegexFind: text text -> text
mustRegexFindAll: text text whole -> list
mustRegexMatch: text text -> flag
mustRegexReplaceAll: text text text -> text
mustRegexReplaceAllLiteral: text text text -> text
mustRegexSplit: text text whole -> list
mustRest: any -> list
mustReverse: any -> list
mustSlice: any any* -> any
mustToDate: text text -> time
mustToJson: any -> text
mustToPrettyJson: any -> text
mustToRawJson: any -> text
mustUniq: any -> list
mustWithout: any any* -> list
must_date_modify: text time -> time
nindent: whole text -> text
nospace: text -> text
now: -> time
omit: map text* -> map
osBase: text -> text
osClean: text -> text
osDir: text -> text
osExt: text -> text
osIsAbs: text -> flag
pick: map text* -> map
pluck: text map* -> list
plural: text text whole -> text
prepend: any any -> list
push: any any -> list
quote: any* -> text
randAlpha: whole -> text
randAlphaNum: whole -> text
randAscii: whole -> text
randBytes: whole -> text
randInt: whole whole -> whole
randNumeric: whole -> text
regexFind: text text -> text
regexFindAll: text text whole -> list
regexMatch: text text -> flag
regexQuoteMeta: text -> text
regexReplaceAll: text text text -> text
regexReplaceAllLiteral: text text text -> text
regexSplit: text text whole -> list
repeat: whole text -> text
replace: text text text -> text
rest: any -> list
reverse: any -> list
round: any whole number* -> number
semver: text -> any
semverCompare: text text -> flag
seq: whole* -> text
set: map text any -> map
sha1sum: text -> text
sha256sum: text -> text
sha512sum: text -> text
shuffle: text -> text
slice: any any* -> any
snakecase: text -> text
sortAlpha: any -> list
split: text text -> map
splitList: text text -> list
splitn: text whole text -> map
squote: any* -> text
sub: any any -> long
subf: any any* -> number
substr: whole whole text -> text
swapcase: text -> text
ternary: any any flag -> any
title: text -> text
toDate: text text -> time
toDecimal: any -> long
toJson: any -> text
toPrettyJson: any -> text
toRawJson: any -> text
toString: any -> text
toStrings: any -> list
trim: text -> text
trimAll: text text -> text
trimPrefix: text text -> text
trimSuffix: text text -> text
trimall: text text -> text
trunc: whole text -> text
tuple: any* -> list
typeIs: text any -> flag
typeIsLike: text any -> flag
typeOf: any -> text
uniq: any -> list
unixEpoch: time -> text
unset: map text -> map
until: whole -> list
untilStep: whole whole whole -> list
untitle: text -> text
upper: text -> text
urlJoin: map -> text
urlParse: text -> map
uuidv4: -> text
values: map -> list
without: any any* -> list
wrap: whole text -> text
wrapWith: whole text text -> text
"""
