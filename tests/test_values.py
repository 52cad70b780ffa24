"""What Python does with a value that exists only at run time: it works, or it is reported where it is written.

After a mistake the body goes on, so a later one in the same body is reported in the same run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flowdsl.compiler.load import LoadError
from tests.snippets import compile_body, marked, plain, whole

if TYPE_CHECKING:
    from pathlib import Path

# A mistake at the end of every body, which the code before must not hide.
LATER = "\nuse_int(«'later'»)"

N, X, S = "asInt(inputs.parameters['n'])", "asFloat(inputs.parameters['x'])", "inputs.parameters['s']"
FLAG, OPT = "inputs.parameters['flag'] == 'true'", "inputs.parameters['opt']"
OPTN = "inputs.parameters['optn']"


# The emitted argument of the only step that takes the result.
def element(at: int) -> str:
    """An integer from the text of a list."""
    return f"{{{{=asInt(trim(split(trim(trim(inputs.parameters['rows']), '[]'), ',')[{at}]))}}}}"


WORKS = {
    # arithmetic, with both orders of operands
    "use_int(n + 1)": f"{{{{={N} + 1}}}}",
    "use_int(1 + n)": f"{{{{=1 + {N}}}}}",
    "use_int(n - 1)": f"{{{{={N} - 1}}}}",
    "use_int(1 - n)": f"{{{{=1 - {N}}}}}",
    "use_int(n * 2)": f"{{{{={N} * 2}}}}",
    "use_int(2 * n)": f"{{{{=2 * {N}}}}}",
    "use_float(n / 2)": f"{{{{={N} / 2}}}}",
    "use_float(2 / n)": f"{{{{=({N} == 0 ? asInt('division by zero') : 2 / {N})}}}}",
    "use_float(x * n)": f"{{{{={X} * {N}}}}}",
    "use_float((x + 1) * (n - x))": f"{{{{=({X} + 1) * ({N} - {X})}}}}",
    "use_float(x - -1.5)": f"{{{{={X} - (-1.5)}}}}",
    "use_float(x * -0.0)": f"{{{{={X} * (-0.0)}}}}",
    "use_float(x * 1e-7)": f"{{{{={X} * 1e-07}}}}",
    "use_int(n + Level.HIGH)": f"{{{{={N} + 2}}}}",
    "use_int(-n)": f"{{{{={N} * (-1)}}}}",
    "use_float(-(x + 1))": f"{{{{=({X} + 1) * (-1)}}}}",
    "use_int(lit * 2)": "{{=asInt(inputs.parameters['lit']) * 2}}",
    "use_int(n + (2**63 - 1))": f"{{{{={N} + 9223372036854775807}}}}",
    "use_int(sum([n, n]))": f"{{{{=(0 + {N}) + {N}}}}}",
    "use_int(functools.reduce(operator.mul, [n, 2, n]))": f"{{{{=({N} * 2) * {N}}}}}",
    "n += 1\nuse_int(n)": f"{{{{={N} + 1}}}}",
    "n -= 1\nuse_int(n)": f"{{{{={N} - 1}}}}",
    "n *= 2\nuse_int(n)": f"{{{{={N} * 2}}}}",
    "x /= 2\nuse_float(x)": f"{{{{={X} / 2}}}}",
    # comparison
    "use_bool(n < 2)": f"{{{{={N} < 2}}}}",
    "use_bool(2 < n)": f"{{{{={N} > 2}}}}",
    "use_bool(n <= x)": f"{{{{={N} <= {X}}}}}",
    "use_bool(n > 2)": f"{{{{={N} > 2}}}}",
    "use_bool(n >= 2)": f"{{{{={N} >= 2}}}}",
    "use_bool(n == 2)": f"{{{{={N} == 2}}}}",
    "use_bool(n != 2)": f"{{{{={N} != 2}}}}",
    "use_bool(n + 1 == x * 2)": f"{{{{=({N} + 1) == ({X} * 2)}}}}",
    "use_bool(x < math.inf)": f"{{{{={X} < asFloat('Inf')}}}}",
    "use_bool(x > -math.inf)": f"{{{{={X} > asFloat('-Inf')}}}}",
    "use_bool(s == 'a')": f"{{{{={S} == 'a'}}}}",
    "use_bool(s != 'it\\'s \\\\ \\n')": f"{{{{={S} != 'it\\'s \\\\ \\n'}}}}",
    "use_bool(s == '}}}')": f"{{{{={S} == ('}}' + '}}' + '}}')}}}}",
    "use_bool(s == '{{x')": f"{{{{={S} == ('{{' + '{{x')}}}}",
    "use_bool(s == '\\x07')": f"{{{{={S} == '\\u0007'}}}}",
    "use_bool(s < 'b')": f"{{{{={S} < 'b'}}}}",
    "use_bool(s == Name.FIRST)": f"{{{{={S} == 'first value'}}}}",
    "use_bool(word_ == 'a')": "{{=inputs.parameters['word_'] == 'a'}}",
    "use_bool(word_ < s)": f"{{{{=inputs.parameters['word_'] < {S}}}}}",
    "use_bool(lit == 1)": "{{=asInt(inputs.parameters['lit']) == 1}}",
    "use_bool(mixed == 'a')": "{{=inputs.parameters['mixed'] == '\"a\"'}}",
    "use_bool(mixed != 1)": "{{=inputs.parameters['mixed'] != '1'}}",
    "use_bool(mode == Mode.SLOW)": "{{=inputs.parameters['mode'] == 'SLOW'}}",
    "use_bool(Mode.SLOW != mode)": "{{=inputs.parameters['mode'] != 'SLOW'}}",
    "use_bool(level == Level.HIGH)": "{{=inputs.parameters['level'] == 'HIGH'}}",
    "use_bool(flag == True)": f"{{{{=({FLAG}) == (true)}}}}",
    "use_bool(flag != (n > 1))": f"{{{{=({FLAG}) != ({N} > 1)}}}}",
    "use_bool(opt == None)": f"{{{{={OPT} == 'null'}}}}",
    "use_bool(optn == 3)": f"{{{{=({OPTN} != 'null') && (asInt(({OPTN} == 'null' ? '3' : {OPTN})) == 3)}}}}",
    "use_bool('a' != opt)": f"{{{{=({OPT} == 'null') || (({OPT} == 'null' ? 'a' : fromJSON({OPT})) != 'a')}}}}",
    "use_bool(None != optn)": "{{=inputs.parameters['optn'] != 'null'}}",
    # logic
    "use_bool(flag & (n > 1))": f"{{{{=({FLAG}) && ({N} > 1)}}}}",
    "use_bool((n > 1) | flag)": f"{{{{=({N} > 1) || ({FLAG})}}}}",
    "use_bool(True & flag)": f"{{{{=(true) && ({FLAG})}}}}",
    "use_bool(flag | False)": f"{{{{=({FLAG}) || (false)}}}}",
    "flag |= n > 1\nuse_bool(flag)": f"{{{{=({FLAG}) || ({N} > 1)}}}}",
    "flag &= n > 1\nuse_bool(flag)": f"{{{{=({FLAG}) && ({N} > 1)}}}}",
    # attributes, elements, unpacking
    "use_float(train().accuracy)": "{{tasks.train.outputs.parameters.accuracy}}",
    "use_float(train()._replace(notes={}).accuracy)": "{{tasks.train.outputs.parameters.accuracy}}",
    "use_float(train()[1])": "{{tasks.train.outputs.parameters.accuracy}}",
    "use_float(train()[-2])": "{{tasks.train.outputs.parameters.accuracy}}",
    "use_int(train().notes['depth'])": whole("fromJSON(tasks['train'].outputs.parameters['notes'])['depth']"),
    "use_int(score()._hidden)": "{{tasks.score.outputs.parameters._hidden}}",
    "use_float(getattr(score(), 'loss'))": "{{tasks.score.outputs.parameters.loss}}",
    "use_float(operator.attrgetter('loss')(score()))": "{{tasks.score.outputs.parameters.loss}}",
    "use_int(operator.itemgetter(0)(rows))": element(0),
    "use_int(rows[0])": element(0),
    "use_int(rows[-1])": element(-1),
    "use_int(rows[Level.LOW])": element(1),
    "use_int(table['it\\'s'])": whole("fromJSON(inputs.parameters['table'])['it\\'s']"),
    "use(thing['a'][0])": "{{=toJSON(fromJSON(inputs.parameters['thing'])['a'][0])}}",
    "left, right = pair()\nuse_str(right)": "{{tasks.pair.outputs.parameters.right}}",
    "_, right = both()\nuse_str(right)": "{{tasks.both.outputs.parameters.item-1}}",
    "left, *rest = train()\nuse_float(rest[0])": "{{tasks.train.outputs.parameters.accuracy}}",
    "*_, last = pair()\nuse_str(last)": "{{tasks.pair.outputs.parameters.right}}",
    "use_pair(Pair(*pair()))": '{"left": {{tasks.pair.outputs.parameters.left}}, '
    "\"right\": {{=toJSON(tasks['pair'].outputs.parameters['right'])}}}",
    "for one in both():\n    use(one)": "{{tasks.both.outputs.parameters.item-0}}",
    "use([one for one in pair()][0])": "{{tasks.pair.outputs.parameters.left}}",
    "use(dict(zip('ab', pair()))['a'])": "{{tasks.pair.outputs.parameters.left}}",
    "use_int(len(pair()) + n)": f"{{{{=2 + {N}}}}}",
    "match pair():\n    case Pair(left=k):\n        use_int(k)": "{{tasks.pair.outputs.parameters.left}}",
    "match n:\n    case str():\n        pass\n    case int() as k:\n        use_int(k)": "{{inputs.parameters.n}}",
    # text
    "use_str(s + '!')": "{{inputs.parameters.s}}!",
    "use_str('<' + s + '>')": "<{{inputs.parameters.s}}>",
    "use_str(s + s)": "{{=(inputs.parameters['s'] + inputs.parameters['s'])}}",
    "use_str(word_ + '!')": "{{inputs.parameters.word_}}!",
    "s += '!'\nuse_str(s)": "{{inputs.parameters.s}}!",
    "use_str(s + Name.FIRST)": "{{inputs.parameters.s}}first value",
    "use_str('' + s)": "{{inputs.parameters.s}}",
    "use_str(f'{s}-{n}')": "{{inputs.parameters.s}}-{{inputs.parameters.n}}",
    "use_str(f'{x}')": "{{inputs.parameters.x}}",
    "use_str(f'{lit}{word_}')": "{{inputs.parameters.lit}}{{inputs.parameters.word_}}",
    "use_str(f'{n + 1}')": f"{{{{={N} + 1}}}}",
    "use_str(f'{n!s}')": "{{inputs.parameters.n}}",
    "use_str(f'{n = !s}')": "n = {{inputs.parameters.n}}",
    "use_str(f'{f\"{n}\"}.')": "{{inputs.parameters.n}}.",
    "use_str(f'{{{s}}}')": f"{{{{=('{{' + {S} + '}}')}}}}",
    "use_str('{' + s)": f"{{{{=('{{' + {S})}}}}",
    "use_str(f'{rows[0]}')": element(0),
    "use_str(str(n))": "{{inputs.parameters.n}}",
    "use_str(format(n))": "{{inputs.parameters.n}}",
    "use_str('%s!' % n)": "{{inputs.parameters.n}}!",
    "use_str('%s %s' % (n, s))": "{{inputs.parameters.n}} {{inputs.parameters.s}}",
    "use_str('%(a)s' % {'a': n})": "{{inputs.parameters.n}}",
    "use_str('{}!'.format(n))": "{{inputs.parameters.n}}!",
    "use_str('{0.right} {1[0]}'.format(pair(), both()))": (
        "{{tasks.pair.outputs.parameters.right}} {{tasks.both.outputs.parameters.item-0}}"
    ),
    "use_str(string.Template('$a!').substitute(a=n))": "{{inputs.parameters.n}}!",
    "use_str('-'.join([f'{n}', str(s)]))": "{{inputs.parameters.n}}-{{inputs.parameters.s}}",
    "use_str('-'.join(map(str, [n, s])))": "{{inputs.parameters.n}}-{{inputs.parameters.s}}",
    "use_str(textwrap.dedent(f'  {s}'))": "{{inputs.parameters.s}}",
    "use_str(json.loads(json.dumps(f'{s}')))": "{{inputs.parameters.s}}",
    "use_str(os.path.join('a', s))": "a/{{inputs.parameters.s}}",
    "use_str(os.fspath(s))": "{{inputs.parameters.s}}",
    "use_str(str(Path('a') / s))": "a/{{inputs.parameters.s}}",
    "use_str(f'{run.name}/{n}')": "{{workflow.name}}/{{inputs.parameters.n}}",
    "use_str(run.namespace)": "{{workflow.namespace}}",
    "use_path(DATA / 'raw' / s / f'{n}.txt')": (
        "/flowdsl/volumes/datasets/raw/{{inputs.parameters.s}}/{{inputs.parameters.n}}.txt"
    ),
    # what Python builds from values
    "use([n, s, flag, None])": (
        "[{{inputs.parameters.n}}, {{=toJSON(inputs.parameters['s'])}}, {{inputs.parameters.flag}}, null]"
    ),
    "use({'a': n, 'b': [x]})": '{"a": {{inputs.parameters.n}}, "b": [{{inputs.parameters.x}}]}',
    "use([f'<{s}>'])": f"[{{{{=toJSON(('<' + {S} + '>'))}}}}]",
    "use_list([n + k for k in range(2)])": f"[{{{{={N} + 0}}}}, {{{{={N} + 1}}}}]",
    "use_list(list(map(operator.neg, [1])) + [n])": "[-1, {{inputs.parameters.n}}]",
    "use_list([copy.copy(n), copy.deepcopy([n])[0]])": "[{{inputs.parameters.n}}, {{inputs.parameters.n}}]",
    "use_optional(s)": f"{{{{=toJSON({S})}}}}",
    "use_optional(opt)": "{{inputs.parameters.opt}}",
    "use_int(flag)": f"{{{{=({FLAG} ? '1' : '0')}}}}",
    "use_float(n)": "{{inputs.parameters.n}}",
    "use(n if ... else s)": "{{inputs.parameters.n}}",
    "with contextlib.ExitStack() as stack:\n    stack.enter_context(when(flag))\n    use(n)": "{{inputs.parameters.n}}",
}


@pytest.mark.parametrize("body", WORKS)
def test_what_works_is_emitted(body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, body)
    assert found.messages() == []
    assert found.argument() == WORKS[body]


# Values that are not in JSON, for a parameter of any type: with a warning that says what arrives.
CHANGED = {
    "use(mode)": ("the text of its name", "{{=toJSON(inputs.parameters['mode'])}}"),
    "use(Score(1.5))": ("a dict", '{"loss": 1.5, "rows": [], "_hidden": 0}'),
    "use(Pair(n, 2))": ("a dict", '{"left": {{inputs.parameters.n}}, "right": 2}'),
    "use([(n, 'a')])": ("a list", '[[{{inputs.parameters.n}}, "a"]]'),
}


@pytest.mark.parametrize("body", CHANGED)
def test_what_arrives_as_something_else_is_emitted_with_a_warning(body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, body)
    arrives, emitted = CHANGED[body]
    assert [message.endswith(f"arrives in `v` as {arrives}") for message in found.messages()] == [True]
    assert found.argument() == emitted


# Correct statements about values that add nothing to the pipeline: a wrong result raises AssertionError.
QUIET = [
    "assert id(copy.copy(n)) == id(n) == id(copy.deepcopy({'a': [n]})['a'][0])",
    "assert isinstance(n, int) and isinstance(x, float) and isinstance(s, str) and isinstance(flag, bool)",
    "assert isinstance(rows, list) and isinstance(table, dict) and isinstance(mode, Mode)",
    "assert isinstance(train(), Trained) and isinstance(score(), Score) and isinstance(both(), tuple)",
    "assert isinstance(a_file(), Path) and not isinstance(n, str)",
    "assert dir(train()) == ['accuracy', 'model', 'notes'] and dir(n) == []",
    "assert not hasattr(n, '_repr_html_') and not hasattr(n, '__array__') and not hasattr(n, '__len_hint__')",
    "assert hasattr(train(), 'model')",
    "assert len(train()) == 3 and len(both()) == 2",
    "assert [repr(n)] != [str(n)]",
    "assert callable(n)",
    "use_bool(s == f'{n}-a')",
    "text = f'{n}-a'\nuse_bool(text == s)",
    "text = 'a'\nif text == 'a':\n    text = f'{n}'\nuse_str(text)",
    "use_bool(str(n) == s)",
    "assert (n, x) is not None and [n, x] is not None",
    "assert n.__class__ is int and type(n) is not int",
    "assert next(iter(both())) is not None",
    # a variable that is None until a step is called
    "corpus = None\nfor _ in range(3):\n    if corpus is None:\n        corpus = a_file()\nassert corpus is not None",
    "missing = object()\ndef helper(v=missing):\n    return v is missing\nassert not helper(n) and helper()",
    "def helper(v, name=None):\n    if name is None:\n        return v\n    return name\nassert id(helper(n)) == id(n)",
]


@pytest.mark.parametrize("body", QUIET)
def test_what_python_may_ask(body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, f"{body}\nnothing()")
    assert [one for one in found.findings() if one[0] != "FD217"] == []


@pytest.mark.parametrize("sides", ["UUID(int=1) {} key", "key {} UUID(int=1)"])
@pytest.mark.parametrize("operator", ["==", "!=", "<", ">="])
def test_a_uuid_is_compared_on_either_side(operator: str, sides: str, tmp_path: Path) -> None:
    before = """
from uuid import UUID

@step(image="python:3.12-slim")
def key_of(v: int) -> UUID: ...
"""
    body = f"key = key_of(n)\nuse_bool({sides.format(operator)})"
    assert compile_body(tmp_path, body, before).messages() == []


def test_numpy_leaves_the_operator_to_the_value(tmp_path: Path) -> None:
    # numpy's float64 is a float whose repr is no number in an expression.
    before = """
        class Float64(float):
            def __repr__(self): return f"np.float64({float(self)})"
    """
    found = compile_body(tmp_path, "assert n.__array_ufunc__ is None\nuse_float(x * Float64(2.0))", before)
    assert (found.messages(), found.argument()) == ([], f"{{{{={X} * 2.0}}}}")


# The code of the only finding, by the body; its place is marked.
REFUSED = {
    "FD210": [
        *(f"v = «n {operator} 2»" for operator in ("//", "%", "**", "@", "<<", ">>", "^")),
        *(f"v = «2 {operator} n»" for operator in ("//", "%", "**", "@", "<<", ">>", "^")),
        *(f"«n {operator}= 2»" for operator in ("//", "%", "**", "@", "<<", ">>", "^")),
        *(f"v = «{operator}n»" for operator in "+~"),
        "v = «-s»",
        "v = «~flag»",
        *(f"v = «{call}»" for call in ("abs(n)", "round(x)", "round(x, 2)", "pow(n, 2)", "pow(n, 2, 3)")),
        *(f"v = «{call}»" for call in ("divmod(n, 2)", "divmod(2, n)", "reversed(rows)")),
        *(f"v = «math.{call}(x)»" for call in ("floor", "ceil", "trunc")),
        "q, r = «divmod(n, 2)»\nuse_int(q + r)",
        "v = «operator.floordiv(n, 2)»",
        "v = «n // 2» + 1 - x",
        "v = «rows[n]»",
        "v = «rows[1:]»",
        "v = «rows[n:]»",
        "v = «rows[True]»",
        "v = «rows[1.5]»",
        "v = «table[s]»",
        "v = «table[f'{s}']»",
        "«n[0]» = 1",
        "del «n[0]»",
        "«n.field» = 1",
        "del «n.field»",
        "v = «setattr(n, 'field', 1)»",
        "v = «n()»",
        "v = «n(1, a=2)»",
        "with «n»:\n    pass",
        "with «n» as k:\n    use(k)",
        "@«n»\ndef f(): ...",
    ],
    "FD211": [
        "v = «n + 'a'»",
        "v = «'a' + n»",
        "v = «s + 1»",
        "v = «s * 2»",
        "v = «2 * s»",
        "v = «s - 'a'»",
        "v = «flag + 1»",
        "v = «n + True»",
        "v = «mode + 1»",
        "v = «level + 1»",
        "v = «opt + 'a'»",
        "v = «optn * 2»",
        "v = «None + n»",
        "v = «rows + [1]»",
        "v = «[1] + rows»",
        "«rows += [1]»",
        "v = «thing * 2»",
        "v = «n & 1»",
        "v = «1 | flag»",
        "v = «n + Mode.FAST»",
        "v = «n * object()»",
        "v = «a_file() / 'x'»",
        "v = «'a' * n»",
        "v = «[0] * n»",
        "v = «s == 1»",
        "v = «n == 'a'»",
        "v = «rows == [1]»",
        "v = «opt == optn»",
        "v = «mode == 'FAST'»",
        "v = «mode == Other.FAST»",
        "v = «level == 1»",
        "v = «mixed == s»",
        "v = «n != None»",
        "v = «train() == 1»",
        "v = «number == n»",
    ],
    "FD212": [
        "v = «n < 'a'»",
        "v = «'a' > n»",
        "v = «opt < 'a'»",
        "v = «mode < Mode.SLOW»",
        "v = «flag >= True»",
        "v = «rows < rows»",
        "v = «n <= None»",
        "v = «thing < 1»",
    ],
    "FD207": [
        "if «flag»:\n    use(1)",
        "if «n > 1»:\n    use(1)\nelse:\n    use(2)",
        "while «flag»:\n    nothing.options(name='a')()",
        "while «not flag»:\n    pass",
        "for _ in range(3):\n    while «not flag»:\n        pass",
        "for _ in range(3):\n    while «any([flag, flag])»:\n        pass",
        "while True:\n    if «flag»:\n        break",
        "while True:\n    if «not flag»:\n        break",
        "v = 1 if «flag» else 2",
        "assert «flag»",
        "assert «n > 1», 'too small'",
        "for _ in range(3):\n    assert «n > 1»",
        "if «n < 0»:\n    raise ValueError(f'bad {n}')",
        "def check(v):\n    if «v < 0»:\n        raise ValueError(v)\ncheck(n)\ncheck(n)",
        "v = «not flag»",
        "v = «flag and x»",
        "v = «flag or x»",
        "v = «1 < n < 3»",
        "v = «bool(flag)»",
        "v = «any([flag])»",
        "v = «all([flag, True])»",
        "v = «n in (1, 2)»",
        "v = «n not in [1, 2]»",
        "v = «[1, 2].index(n)»",
        "v = «max(n, 2)»",
        "v = «min(n, x)»",
        "v = «sorted([n, 2])»",
        "v = «[n] == [1]»",
        "v = «(n, x) < (1, 2)»",
        "v = [k for k in (1, 2) if «n > k»]",
        "v = «list(filter(None, [flag]))»",
        "match n:\n    case «1»:\n        pass",
        "match mode:\n    case «Mode.FAST»:\n        pass",
        "v = «opt or 'default'»",
        "v = «operator.truth(flag)»",
        "v = «operator.not_(flag)»",
    ],
    "FD208": [
        "for k in «rows»:\n    use(k)",
        "for k in «n»:\n    pass",
        "for k, v in «table»:\n    pass",
        "v = [use(k) for k in «rows»]",
        "v = {k for k in «rows»}",
        "v = {k: 1 for k in «rows»}",
        *(
            f"v = «{call}(rows)»"
            for call in ("list", "tuple", "set", "frozenset", "sorted", "iter", "sum", "max")
        ),
        *(f"v = «{call}(rows)»" for call in ("min", "any", "all", "enumerate", "len", "dict")),
        "v = «zip(rows, [1])»",
        "v = «map(str, rows)»",
        "v = «filter(None, rows)»",
        "v = list(«enumerate(rows)»)",
        "v = «[*rows]»",
        "v = «{**table}»",
        "v = «dict(table)»",
        "v = «dict(**table)»",
        "v = «two(*rows)»",
        "v = «two(**table)»",
        "v = «itertools.product(rows, [1])»",
        "v = «functools.reduce(operator.add, rows)»",
        "«a, b» = rows",
        "«a, *b» = rows",
        "«a, b» = n",
        "for «a, b» in [rows]:\n    use(b)",
        "v = «1 in rows»",
        "v = «'a' not in s»",
        "v = «collections.deque(rows)»",
        "v = next(«iter(rows)»)",
        "«first,» = rows",
        "for k in «score()»:\n    use(k)",
        "v = «len(score())»",
    ],
    "FD209": [
        *(
            f"v = «{call}(n)»"
            for call in ("int", "float", "complex", "bytes", "bytearray", "chr", "hex", "oct", "bin")
        ),
        *(f"v = «math.{call}(x)»" for call in ("sqrt", "exp", "log", "isnan")),
        "v = «range(n)»",
        "for k in «range(n)»:\n    use(k)",
        "for k in range(«int(n)»):\n    use(k)",
        "v = [1, 2, 3][«int(n)»]",
        "v = «[1, 2, 3][n]»",
        "v = «[1][n]»",
        "v = «'abc'[n]»",
        "v = «[1, 2][n:]»",
        "v = «'%d' % n»",
        "v = «'%.2f' % x»",
        "v = «pickle.dumps(n)»",
        "v = «pickle.dumps([n])»",
        "v = «struct.pack('i', n)»",
        "v = «type(n)(1)»",
        "v = «type(n)()»",
        "v = «math.fsum([x])»",
        "v = «'a'.ljust(n)»",
    ],
    "FD213": [
        "v = «hash(n)»",
        "v = «{n: 1}»",
        "v = «{n}»",
        "v = «{1: 2}.get(n)»",
        "v = {}\n«v[n]» = 1",
        "v = «n in {1, 2}»",
        "v = «frozenset([n])»",
        "v = «dict.fromkeys([n])»",
        "v = «collections.defaultdict(int)[n]»",
        "@functools.lru_cache\ndef f(v): return v\nuse(«f(n)»)",
        "@functools.cache\ndef f(v): return v\nuse(«f(v=n)»)",
    ],
    "FD206": [
        "v = «train().acuracy»",
        "v = «getattr(train(), 'loss')»",
        "v = «hasattr(train(), 'loss')»",
        "v = «train().count»(1)",
        "v = «train().loss».deeper[0] + 1",
    ],
    "FD224": [
        "v = «n.real»",
        "v = «s.upper»()",
        "v = «s.upper»().lower()",
        "v = «s.format»(1)",
        "v = «s.join»(['a'])",
        "v = «s.split»(',')[0]",
        "v = «rows.append»(1)",
        "v = «table.items»()",
        "for k, v in «table.items»():\n    use(k)",
        "v = «table.get»('a', 1)",
        "v = «a_file().name»",
        "v = «a_file().read_text»()",
        "v = «x.is_integer»()",
        "v = «mode.name»",
        "v = «thing.field»",
        "v = «number().output»",
    ],
    "FD223": ["v = «opt.upper»()", "v = «opt[0]»", "v = «note()['a']»"],
    "FD225": [
        "v = «rows['a']»",
        "v = «table[0]»",
        "v = «s[0]»",
        "v = «n[0]»",
        "v = «both()[2]»",
        "v = «pair()['left']»",
        "v = «score()[0]»",
    ],
    "FD248": ["«a, b» = train()", "«a, b, c» = pair()", "«a, b, c, *d» = both()", "«a,» = both()"],
    "FD214": [
        "use_str(f'{«x»:.3f}')",
        "use_str(f'{«n»:>{n}}')",
        "use_str(«format(x, '.2f')»)",
        "use_str(«'{:.2f}'.format(x)»)",
        "v = f'{«s»:>10}'",
    ],
    "FD215": [
        "use_str(f'{«n»!r}')",
        "use_str(f'{«n»!a}')",
        "use_str(f'{«n»=}')",
        "use_str(f'{«[n]»}')",
        "use_str(«str([n])»)",
        "use_str(«repr(n)»)",
        "use_str(«'%r' % n»)",
        "use_str(«str({'a': n})»)",
    ],
    "FD379": [
        "v = «f'{s}' == 'a'»",
        "v = «'a' in f'{s}'»",
        "use_str('x' if «str(n) == '1'» else 'y')",
        "v = f'{s}-a'\nuse_str(v)\nw = «v.strip() != ''»",
        "v = «f'{s}'.startswith('a')»",
        "v = «f'{run.name}' == 'a'»",
    ],
    "FD216": [
        *(
            f"use_str(f'{{«{one}»}}')"
            for one in ("flag", "mode", "rows", "table", "opt", "thing", "mixed", "x * 2")
        ),
        *(f"use_str(f'{{«{one}»}}')" for one in ("a_file()", "train()", "both()", "n > 1", "n / 2")),
        "use_str(«str(flag)»)",
        "use_str(s + f'{«flag»}')",
        "use_str('%s' % 1 + «'%s' % flag»)",
        "use_path(DATA / f'{«flag»}')",
        "use([f'{«flag»}'])",
        "use_bool(s == f'{«flag»}')",
    ],
    "FD218": [
        "use_str(«f'{s}'.upper()»)",
        "use_str(«f'{s}'.lower()»)",
        "use_str(«f'{s}'.title()»)",
        "use_str(«f'{s}'[2:]»)",
        "use([«f'{s}'.upper()»])",
    ],
    "FD219": [
        "use_str(«'{{workflow.name}}'»)",
        "use_str(«f'{s}'[:3]»)",
        "use_str(«f'{{{{x {s}'»)",
        "use_str(«s + '{{x'»)",
        "use_str(«s + '{' + '{x'»)",
        "use_path(«DATA / '{{x'»)",
        "use([«f'{s}{{{{'»])",
    ],
    "FD220": ["use_str(«'\\x07'»)", "use_str(«s + '\\x00'»)", "use_str(«f'{s}\\x7f'»)"],
    "FD221": ["v = «x * math.inf»", "v = «x == math.nan»", "v = «math.nan < x»"],
    "FD266": ["v = «n + 2**63»", "v = «10**30 < n»"],
    "FD222": [
        "use_path(«os.path.join('a', s)»)",
        "use_path(«Path(s)»)",
        "use_path(«Path('a') / s»)",
        "use_path(«'data/raw.csv'»)",
        "use_path(«Path('data')»)",
    ],
    "FD226": [
        # Repeated access by code of the standard library is one mistake, of its caller.
        "v = «random.choice(rows)»",
        "v = «os.path.exists(s)»",
        "os.environ['A'] = 'b'\nv = «os.getenv(s)»",
        "v = «random.shuffle(rows)»",
        "v = «Score(x) == Score(n)»",
    ],
    "FD227": [
        "other = threading.Thread(target=lambda: «nothing()»)\nother.start()\nother.join()",
        "def work(k): «use(k)»\nwith ThreadPoolExecutor() as pool:\n    list(pool.map(work, [1]))",
    ],
    "FD267": [
        "match «opt»:\n    case None:\n        pass",
        "match «opt»:\n    case str():\n        pass",
        "match «table»:\n    case {'a': k}:\n        pass",
        "match «both()»:\n    case (a, b):\n        pass",
        "match «flag»:\n    case True:\n        pass",
        "v = «isinstance(opt, str)»",
        "v = «isinstance(thing, (int, float))»",
    ],
    "FD268": [
        "v = «flag is True»",
        "v = «True is not flag»",
        "fast = Mode.FAST\nv = «mode is fast»",
        "v = «mode is Mode.FAST»",
        "v = «n is x»",
        "v = «n is not x»",
    ],
    "FD298": [
        "v = «opt is None»",
        "v = «n is None»",
        "v = «None is not opt»",
        "if «opt is not None»:\n    use(opt)",
        "if «(k := note()) is None»:\n    pass",
        "if «note() is None»:\n    pass",
        "if «note.options(name='a')() is None»:\n    pass",
        "v = [k for k in (opt, optn) if «k is not None»]",
        "found = [opt]\nv = [k for k in found if «k is None»]",
        "v = 1 if «opt is None» else 2",
        "def helper(k):\n    return «k is None»\nhelper(opt)",
        "found = Score(x)\nfound.loss = opt\nv = «found.loss is None»",
        "found = {'a': opt}\nv = «found['a'] is None»",
    ],
}
CASES = [(code, body) for code, bodies in REFUSED.items() for body in bodies]


@pytest.mark.parametrize(("code", "body"), CASES, ids=[f"{code} {plain(body)}" for code, body in CASES])
def test_what_does_not_work_is_reported_and_the_body_goes_on(code: str, body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, body + LATER)
    assert found.findings() == [(code, *marked(body)), ("FD205", "'later'")]


# Code written in C raises an exception where it is given a run-time value, so the body ends there.
STOPS = {
    "FD226": [
        "v = «json.dumps(n)»",
        "v = «json.dumps({'a': [n]})»",
        "payload = {'a': n}\nv = «json.dumps(payload)»",
        "v = «','.join([s])»",
        "v = «re.match('a', s)»",
        "v = «re.match(s, 'a')»",
        "v = «'abc'.replace('a', s)»",
        "v = «s in 'abc'»",
        "v = «ord(s)»",
        "v = «int(s, 16)»",
        "v = «str(s, 'utf8')»",
        "v = «bytes(s, 'utf8')»",
        "v = «memoryview(s)»",
        "v = «next(rows)»",
        "v = «vars(n)»",
        "v = «dataclasses.asdict(score())»",
        "v = «dataclasses.replace(score(), loss=1.0)»",
        "v = «train()._make»([1.0])",
        "v = «getattr(os, s)»",
        "v = «isinstance(1, n)»",
        "v = «issubclass(n, int)»",
        "v = «eval(s)»",
        "v = «exec(s)»",
        "v = «Mode(n)»",
        "v = «Mode[s]»",
        "v = «int(f'{n}')»",
        "v = «float(f'{x}')»",
        "v = «{'a': 1}[f'{s}']»",
        "v = «open(f'{s}')»",
        "v = «statistics.mean([n, 2])»",
        "v = «random.randint(1, n)»",
        "«raise n»",
    ],
    "FD213": ["v = «{1: 2}[n]»", "v = «globals()[s]»"],
    "FD208": ["v = «','.join(rows)»"],
    "FD209": ["v = «open(s)»", "v = «open(a_file())»", "v = «[][n]»", "v = «itertools.islice([1], n)»"],
    "FD269": ["v = «open(DATA / 'a')»", "v = «output()»", "«command('ls')»"],
}
ENDS = [(code, body) for code, bodies in STOPS.items() for body in bodies]


@pytest.mark.parametrize(("code", "body"), ENDS, ids=[f"{code} {plain(body)}" for code, body in ENDS])
def test_what_c_code_refuses_is_reported_with_what_came_before(code: str, body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, f"v = «n // 2»\n{body}{LATER}")
    assert found.findings() == [("FD210", "n // 2"), (code, *marked(body))]


# Text of a run-time value that Python consumes, or that no task gets: a warning, and the pipeline compiles.
LOST = [
    "print(f'{«n»}')",
    "«print(n)»",
    "v = hash(f'{«s»}')",
    "v = len(f'{«s»}')",
    "v = «os.path.join(s, 'a')»",
    "v = {«str(s)»: 1}",
    "use_str(f'{«s»}'[3:])",
]


@pytest.mark.parametrize("body", LOST, ids=plain)
def test_text_that_arrives_nowhere_is_a_warning(
    body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = compile_body(tmp_path, f"{body}\nnothing()")
    assert found.findings() == [("FD217", *marked(body))]
    assert found.compiled.text
    capsys.readouterr()


def test_text_that_another_mistake_may_have_lost_is_not_told(tmp_path: Path) -> None:
    found = compile_body(tmp_path, "text = f'{n}'\nif «flag»:\n    pass\nelse:\n    use_str(text)")
    assert found.findings() == [("FD207", "flag")]


def test_several_mistakes_of_one_line_are_several(tmp_path: Path) -> None:
    found = compile_body(tmp_path, "v = «n // 2» + «n % 2» + «s.upper»()")
    assert found.findings() == [("FD210", "n // 2"), ("FD210", "n % 2"), ("FD224", "s.upper")]


def test_one_mistake_in_a_loop_or_a_helper_is_one(tmp_path: Path) -> None:
    body = """
        def half(v):
            return «v // 2»
        for k in range(3):
            use.options(name=f"use-{k}")(half(n + k))
        v = [half(n) for _ in range(3)]
    """
    assert compile_body(tmp_path, body).findings() == [("FD210", "v // 2")]


def test_a_mistake_swallows_what_is_done_with_its_result(tmp_path: Path) -> None:
    body = """
        v = «n // 2»
        w = (v + 1) * v - v[0] + v.field.deeper + [1]
        use_int(w)
        use_str(f"{v}{v:>10}")
        use_list([v, v])
        nothing.options(name="a", after=[v])()
        with when(v > 1):
            use_path(v)
        with unless(v):
            use_str(either(v, "a"))
        a, b = v
        del v[0]
        v[0] = v.field = v()
        with v:
            len(v), int(v), hash(v), list(v), abs(-v), round(v), 1 in v
    """
    assert compile_body(tmp_path, body).findings() == [("FD210", "n // 2")]


def test_an_exception_of_the_body_is_shown_as_python_shows_it(tmp_path: Path) -> None:
    with pytest.raises(LoadError) as caught:
        compile_body(tmp_path, "use_int(n)\n{}['missing']")
    shown = str(caught.value.traceback)
    assert shown.endswith("KeyError: 'missing'\n")
    assert "flowdsl" not in shown


def test_an_exception_after_a_mistake_says_what_was_not_looked_at(tmp_path: Path) -> None:
    body = "v = «n // 2»\n«raise RuntimeError('gone')»\nuse_int('never')"
    found = compile_body(tmp_path, body)
    assert found.findings() == [("FD210", "n // 2"), ("FD229", "raise RuntimeError('gone')")]
    assert "RuntimeError: gone" in found.messages()[1]


def test_an_exception_that_an_answer_led_to_is_walked_around(tmp_path: Path) -> None:
    body = """
        choices = {"a": 1}
        if «n < 0»:
            raise ValueError("n is negative")
        key = "b" if «flag» else "a"
        use_int.options(name="known")(choices[key])
    """
    found = compile_body(tmp_path, body + LATER.replace("\n", "\n        "))
    assert found.findings() == [("FD207", "n < 0"), ("FD207", "flag"), ("FD205", "'later'")]


def test_the_exception_of_a_called_pipeline_is_that_of_the_user(tmp_path: Path) -> None:
    before = """
        @pipeline
        def inner(k: int) -> int:
            raise LookupError("inner")
    """
    with pytest.raises(LoadError) as caught:
        compile_body(tmp_path, "use(inner(n))", before)
    assert str(caught.value.traceback).endswith("LookupError: inner\n")


def test_a_value_outside_a_pipeline_says_what_is_wrong(tmp_path: Path) -> None:
    before = "NAME = run.name\n"
    with pytest.raises(LoadError) as caught:
        compile_body(tmp_path, "nothing()", before + "NAME.upper()\n")
    assert caught.value.traceback is None
    assert "a run-time str has no attribute `upper`" in caught.value.message


def test_a_step_is_the_function_outside_a_pipeline(tmp_path: Path) -> None:
    before = """
        @step(image="i:1")
        def double(k: int) -> int:
            return 2 * k
        FOUR = double(2)
    """
    found = compile_body(tmp_path, "use_int(FOUR)", before)
    assert (found.messages(), found.argument()) == ([], "4")


def test_the_text_of_a_message_shows_no_stand_in(tmp_path: Path) -> None:
    body = """
        use_path(f"{s}/a")
        use_path(Path("x") / s)
        use_int([n])
        use_int(f"{s}")
        use_str(f"{n:>{n}}")
        with when([n]):
            nothing()
        with when(f"{n}"):
            nothing.options(name="b")()
        json.dumps({"a": n})
    """
    found = compile_body(tmp_path, body)
    texts = [
        text for one in found.compiled.diagnostics for text in (one.finding.message, one.finding.caption)
    ]
    assert len(texts) == 16
    assert [text for text in texts if "{{" in text or "fD" in text or "RunTimeValue" in text] == []
