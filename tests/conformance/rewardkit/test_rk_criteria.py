"""Section 1.3: criteria in Python: how they are made, called and named, and what they may return and do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from adjudge.domain import OnError
from tests.support.judge_folders import put
from tests.support.rewardkit import HEAD, error, graded, graded_each, read, returns

HARM = HEAD + "import sys, time, signal\n"
GOOD = "@criterion\ndef fine(ws): return True\n"


def criteria(body: str) -> str:
    return HEAD + body


@pytest.mark.parametrize("decorator", ["@criterion", "@criterion()", "@rk.criterion", "@rk.criterion(description='x')"])
def test_the_forms_of_the_decorator(tmp_path: Path, decorator: str) -> None:
    """1.3: with and without parentheses."""
    assert graded(tmp_path, returns("True", decorator)).reward == 1.0


@pytest.mark.parametrize("name", ["workspace", "ws", "path", "self", "_"])
def test_the_first_parameter_is_the_workspace_whatever_its_name(tmp_path: Path, name: str) -> None:
    """1.3: a Path."""
    code = criteria(
        f"@criterion\ndef c({name}): return isinstance({name}, Path) and ({name} / 'a').read_text() == 'A'\n"
    )
    assert graded(tmp_path, code, workspace={"a": "A"}).reward == 1.0


@pytest.mark.parametrize(
    "call", ["rk.says('b', sure=True)", "rk.criteria.says('b', sure=True)", "rk.says(sure=True, word='b')"]
)
def test_a_criterion_with_arguments_is_called_through_the_module(tmp_path: Path, call: str) -> None:
    """1.3: by position or name."""
    code = "@criterion\ndef says(ws, word, sure=False): return sure and word == 'b'\n"
    assert graded(tmp_path, criteria(f"{code}{call}\n")).values == {"says:b": 1.0}


@pytest.mark.parametrize(
    "form",
    [
        "from rewardkit.criteria import says",
        "from rewardkit import says",
        "import rewardkit.criteria as q; says = q.says",
    ],
)
def test_a_factory_can_be_imported_by_its_name(tmp_path: Path, form: str) -> None:
    files = {
        "a.py": criteria("@criterion(shared=True)\ndef says(ws, word): return True\n"),
        "b.py": f"{form}\nsays('x')\n# rewardkit\n",
    }
    assert graded(tmp_path, files).values == {"says:x": 1.0}


def test_positional_only_keyword_only_and_variadic_arguments_arrive(tmp_path: Path) -> None:
    body = (
        "@criterion\ndef c(ws, a, /, b, *rest, d, **more): "
        "return (a, b, rest, d, more) == (1, 2, (3, 4), 5, {'e': 6})\nrk.c(1, 2, 3, 4, d=5, e=6)\n"
    )
    assert graded(tmp_path, criteria(body)).reward == 1.0


@pytest.mark.parametrize("call", ["rk.says()", "rk.says(1, 2)", "rk.says(1, nope=2)"])
def test_a_call_that_does_not_fit_is_an_error_at_its_line(tmp_path: Path, call: str) -> None:
    told = error(tmp_path, criteria(f"@criterion\ndef says(ws, word): return True\n{call}\n"))
    assert told.startswith("checks.py:6:1: error: cannot be imported: TypeError")


def test_weight_name_and_isolated_are_arguments_of_every_factory(tmp_path: Path) -> None:
    """1.3: also of those without arguments of their own, and of ready ones."""
    body = (
        "@criterion(shared=True)\ndef c(ws): return True\nrk.c(weight=3, name='mine', isolated=True)\n"
        "rk.file_exists('x', weight=1, name='x there')\n"
    )
    found = graded(tmp_path, criteria(body))
    assert found.reward == 0.75
    assert [(row["name"], row["weight"]) for row in found.rows.values()] == [("mine", 3.0), ("x there", 1.0)]


def test_a_criterion_without_arguments_registers_itself_with_weight_1(tmp_path: Path) -> None:
    """1.3."""
    assert graded(tmp_path, returns("True")).row["weight"] == 1.0


def test_a_call_replaces_what_registered_itself(tmp_path: Path) -> None:
    """1.3: and calls add up after that."""
    body = "@criterion\ndef c(ws): return True\nrk.c(weight=2.0)\nrk.c(weight=5.0, name='again')\n"
    found = graded(tmp_path, criteria(body))
    assert {name: row["weight"] for name, row in found.rows.items()} == {"c": 2.0, "again": 5.0}


def test_a_criterion_whose_arguments_all_have_defaults_waits_to_be_called(tmp_path: Path) -> None:
    body = "@criterion\ndef c(ws, n=3): return n == 3\n"
    assert "takes arguments and is never called" in "".join(map(str, read(tmp_path, criteria(body + GOOD)).warnings))
    assert graded(tmp_path, criteria(body + "rk.c()\n")).values == {"c:3": 1.0}


def test_a_criterion_that_is_never_called_is_a_warning(tmp_path: Path) -> None:
    """1.3: unless it is shared."""
    body = "@criterion\ndef lonely(ws, n): return True\n@criterion(shared=True)\ndef quiet(ws, n): return True\n"
    (told,) = map(str, read(tmp_path, criteria(body + GOOD)).warnings)
    assert "lonely takes arguments and is never called" in told
    assert "checks.py: warning: " in told


def test_a_shared_criterion_without_arguments_registers_nothing_by_itself(tmp_path: Path) -> None:
    """1.3."""
    code = criteria("@criterion(shared=True)\ndef c(ws): return True\n")
    assert read(tmp_path, {"a.py": code}).judges == ()
    assert graded(tmp_path, {"a.py": code, "b.py": HEAD + "rk.c()"}).values == {"c": 1.0}


@pytest.mark.parametrize("call", ["c(1)", "c()", "c(Path('.'), 1)"])
def test_the_decorated_name_cannot_be_called(tmp_path: Path, call: str) -> None:
    """1.3: TypeError telling to call it through the module."""
    told = error(tmp_path, criteria(f"@criterion\ndef c(ws, n): return True\n{call}\n"))
    assert "TypeError: call c as rewardkit.c(...)" in told


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("has {n} of {what!r}", "has 3 of 'x'"),
        ("{n:03d}", "003"),
        ("no arguments", "no arguments"),
        ("{what.real}", "{what.real}"),
        ("a literal {}", "a literal {}"),
        ("{{n}} is {n}", "{n} is 3"),
        ("{unknown}", "{unknown}"),
        ("{0}", "{0}"),
        ("an open {", "an open {"),
        ("{n:zz}", "{n:zz}"),
    ],
)
def test_the_description_is_a_template_over_the_arguments(tmp_path: Path, template: str, expected: str) -> None:
    """1.3: braces that name no argument stand for themselves, where Reward Kit stops with an IndexError."""
    body = f"@criterion(description={template!r})\ndef c(ws, n, what='x'): return True\nrk.c(3)\n"
    (judge,) = read(tmp_path, criteria(body)).judges
    assert judge.criteria[0].description == expected


def test_the_description_is_the_functions_name_where_there_is_none(tmp_path: Path) -> None:
    """1.3: docstrings are not used."""
    (judge,) = read(tmp_path, criteria("@criterion\ndef it_works(ws):\n    'Says more.'\n    return 1\n")).judges
    assert judge.criteria[0].description == "it_works"


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("rk.c()", "c:d"),
        ("rk.c('x', 2)", "c:x"),
        ("rk.c(b=2)", "c:d"),
        ("rk.c(b=2, a='first')", "c:first"),
        ("rk.c('y' * 60)", "c:" + "y" * 50),
        ("rk.c('y' * 60, name='z' * 60)", "z" * 60),
        ("rk.c(['l'])", "c:['l']"),
        ("rk.c('', name='')", "c:"),
    ],
)
def test_automatic_names(tmp_path: Path, call: str, name: str) -> None:
    """1.3: the function's, with the first argument, given or by default, cut at 50 characters."""
    body = f"@criterion\ndef c(ws, a='d', b=1): return True\n{call}\n"
    assert list(graded(tmp_path, criteria(body)).rows) == [name]


def test_names_may_repeat(tmp_path: Path) -> None:
    """1.3: each has its own score."""
    found = graded(tmp_path, criteria("@criterion\ndef c(ws, a): return a\nrk.c(1.0, name='n')\nrk.c(0.0, name='n')\n"))
    assert found.reward == 0.5
    assert [row["value"] for row in found.details["reward"]["criteria"]] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("expression", "value", "raw"),
    [
        ("True", 1.0, True),
        ("False", 0.0, False),
        ("1", 1.0, 1),
        ("0", 0.0, 0),
        ("0.25", 0.25, 0.25),
        ("1.0", 1.0, 1.0),
        ("-0.0", 0.0, 0.0),
        ("0.123456", 0.1235, 0.123456),
        ("{'score': True}", 1.0, True),
        ("{'score': 0.5, 'reasoning': None, 'confidence': None, 'model': None}", 0.5, 0.5),
    ],
)
def test_what_a_criterion_may_return(tmp_path: Path, expression: str, value: float, raw: bool | float) -> None:
    """1.3: bool, int, float, or a dict with a score."""
    row = graded(tmp_path, returns(expression)).row
    assert (row["value"], row["raw"], type(row["raw"])) == (value, raw, type(raw))


def test_a_dict_says_more(tmp_path: Path) -> None:
    """1.3: reasoning, confidence, model."""
    said = "{'score': 0.5, 'reasoning': 'half', 'confidence': 0.25, 'model': 'mine'}"
    assert graded(tmp_path, returns(said)).row == {
        "name": "c",
        "value": 0.5,
        "raw": 0.5,
        "weight": 1.0,
        "description": "c",
        "reasoning": "half",
        "confidence": 0.25,
        "model": "mine",
    }


@pytest.mark.parametrize(
    ("expression", "kind", "told"),
    [
        ("None", "wrong_type", "None"),
        ("'1.0'", "wrong_type", "'1.0'"),
        ("[1]", "wrong_type", "[1]"),
        ("(True, 'why')", "wrong_type", ""),
        ("float('nan')", "wrong_type", "nan"),
        ("float('inf')", "wrong_type", "inf"),
        ("1 + 0j", "wrong_type", ""),
        ("10 ** 400", "wrong_type", ""),
        ("7", "off_scale", "7 lies outside [0, 1]; @criterion(range=(low, high)) allows it"),
        ("-0.5", "off_scale", "-0.5 lies outside [0, 1]"),
        ("1.0000001", "off_scale", "lies outside"),
        ("{'score': 2}", "off_scale", "2 lies outside"),
        ("{}", "wrong_type", "has no score"),
        ("{'value': 1}", "wrong_type", "unknown key 'value'"),
        ("{'score': 1, 'reason': 'x'}", "wrong_type", "unknown key 'reason'"),
        ("{'score': None}", "wrong_type", "None"),
        ("{'score': 1, 'confidence': 1.5}", "wrong_type", "confidence must be a number from 0 to 1, got 1.5"),
        ("{'score': 1, 'confidence': 'high'}", "wrong_type", "confidence must be"),
        ("{'score': 1, 'confidence': float('nan')}", "wrong_type", "confidence must be"),
        ("1 / 0", "raised", "ZeroDivisionError: division by zero (bad.py, line 6)"),
        ("open('/nowhere')", "raised", "FileNotFoundError"),
        ("(_ for _ in ()).throw(KeyboardInterrupt)", "raised", "KeyboardInterrupt"),
        ("__import__('sys').exit(3)", "crashed", "it called sys.exit(3)"),
        ("os._exit(0)", "crashed", ""),
        ("os.kill(os.getpid(), 9)", "crashed", "killed by SIGKILL"),
        ("__import__('ctypes').string_at(0)", "crashed", ""),
    ],
)
def test_what_is_no_score_is_unscored_and_harms_no_other(tmp_path: Path, expression: str, kind: str, told: str) -> None:
    """1.3, 11.1: one row without a score, where Reward Kit loses the run or counts it."""
    files = {"a.py": returns("True"), "bad.py": returns(expression).replace("def c", "def bad"), "z.py": GOOD_FILE}
    found = graded(tmp_path, files)
    assert (found.rows["bad"]["unscored"], found.rows["bad"]["value"], found.rows["bad"]["raw"]) == (kind, 0.0, None)
    assert told in found.rows["bad"]["error"]
    assert (found.values["c"], found.values["fine"]) == (1.0, 1.0)
    assert found.reward is None


GOOD_FILE = HEAD + GOOD


@pytest.mark.parametrize(
    ("bounds", "value", "scored"),
    [
        ("(-1, 10)", 7, True),
        ("(-1, 10)", -0.5, True),
        ("(-1, 10)", 11, False),
        ("(0, 5)", -1, False),
        ("(2, 3)", True, True),
    ],
)
def test_a_range_of_its_own(tmp_path: Path, bounds: str, value: float, scored: bool) -> None:
    found = graded(tmp_path, returns(str(value), f"@criterion(range={bounds})"))
    assert found.reward == (float(value) if scored else None)


@pytest.mark.parametrize("bounds", ["(1, 0)", "(1, 1)"])
def test_a_range_must_be_one(tmp_path: Path, bounds: str) -> None:
    assert "range must be (low, high)" in error(tmp_path, returns("1", f"@criterion(range={bounds})"))


def test_a_criterion_that_hangs_is_unscored_after_its_timeout(tmp_path: Path) -> None:
    """1.3: Reward Kit has no limit."""
    body = f"@criterion(timeout=0.3)\ndef hangs(ws):\n    while True: pass\n{GOOD}"
    begun = time.monotonic()
    found = graded(tmp_path, criteria(body))
    assert time.monotonic() - begun < 5
    assert found.rows["hangs"]["unscored"] == "timeout"
    assert found.values["fine"] == 1.0


@pytest.mark.parametrize(
    ("body", "value"),
    [
        pytest.param("async def c(ws): return 0.5", 0.5, id="returns"),
        pytest.param(
            "async def c(ws):\n    import asyncio\n"
            "    a, b = await asyncio.gather(*(asyncio.sleep(0, x) for x in (1, 2)))\n"
            "    return {'score': b == 2, 'reasoning': str(a)}",
            1.0,
            id="awaits",
        ),
        pytest.param(
            "def c(ws):\n    import asyncio\n    return asyncio.run(asyncio.sleep(0, True))", 1.0, id="own loop"
        ),
    ],
)
def test_an_async_criterion_is_awaited(tmp_path: Path, body: str, value: float) -> None:
    """1.3: an error in Reward Kit."""
    assert graded(tmp_path, criteria(f"@criterion\n{body}\n")).values == {"c": value}


def test_an_isolated_criterion_works_on_a_copy(tmp_path: Path) -> None:
    """1.3: it sees everything, and changes nothing."""
    body = (
        "@criterion(shared=True)\ndef spoils(ws):\n    seen = (ws / 'a').read_text() + (ws / 'd' / 'b').read_text()\n"
        "    (ws / 'a').write_text('spoilt'); (ws / 'new').touch(); (ws / 'd' / 'b').unlink()\n"
        "    (ws / 'link').write_text('through')\n    os.chdir(ws)\n    return seen == 'AB'\n"
        "rk.spoils(isolated=True)\nrk.spoils(isolated=True, name='again')\n"
    )
    home = put(tmp_path / "app", {"a": "A", "d/b": "B", "e": "E"})
    (home / "link").symlink_to(home / "e")
    assert graded(tmp_path, criteria(body)).values == {"spoils": 1.0, "again": 1.0}
    assert [(home / name).read_text() for name in ("a", "d/b", "e", "link")] == ["A", "B", "E", "E"]
    assert not (home / "new").exists()


def test_a_criterion_that_is_not_isolated_works_on_the_workspace_itself(tmp_path: Path) -> None:
    body = "@criterion\ndef writes(ws):\n    (ws / 'new').write_text('x')\n    return True\n"
    graded(tmp_path, criteria(body))
    assert (tmp_path / "app" / "new").read_text() == "x"


def test_what_one_criterion_does_to_its_process_the_next_does_not_see(tmp_path: Path) -> None:
    body = (
        "HOME = os.getcwd()\n@criterion\ndef first(ws):\n    os.chdir('/'); os.environ['LEFT'] = 'x'; return True\n"
        "@criterion\ndef second(ws): return os.getcwd() == HOME and 'LEFT' not in os.environ\n"
    )
    assert graded(tmp_path, criteria(body)).values == {"first": 1.0, "second": 1.0}


def test_what_a_criterion_prints_is_kept_with_it(tmp_path: Path) -> None:
    """7: and not on the output of the command."""
    body = (
        "import sys\n@criterion\ndef c(ws):\n    print('seen'); print('err', file=sys.stderr); os.write(1, b'raw')\n"
        "    os.system('echo loud')\n    return True\n"
    )
    row = graded(tmp_path, criteria(body)).row
    assert row["value"] == 1.0
    assert row["printed"] == "seen\nerr\n"


def test_endless_printing_is_unscored(tmp_path: Path) -> None:
    body = f"@criterion\ndef loud(ws):\n    while True: print('x' * 1_000_000)\n{GOOD}"
    found = graded(tmp_path, criteria(body))
    assert found.rows["loud"]["unscored"] == "output_limit"
    assert found.values["fine"] == 1.0


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "MY_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL"])
def test_criteria_do_not_see_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """11.11: neither they nor what they start, nor the files while they are imported."""
    monkeypatch.setenv(name, "postgres://me:sesame@host/db" if name == "DATABASE_URL" else "sesame")
    monkeypatch.setenv("PLAIN", "seen")
    body = (
        "import subprocess\nAT_IMPORT = dict(os.environ)\n@criterion\ndef c(ws):\n"
        "    child = subprocess.run(['env'], capture_output=True, text=True).stdout\n"
        "    return 'sesame' not in child + str(AT_IMPORT) + str(os.environ) and os.environ['PLAIN'] == 'seen'\n"
    )
    assert graded(tmp_path, criteria(body)).values == {"c": 1.0}


def test_a_name_can_be_let_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "sesame")
    monkeypatch.setenv("ADJUDGE_JUDGE_ENV", "MY_TOKEN")
    assert graded(tmp_path, returns("os.environ.get('MY_TOKEN') == 'sesame'")).reward == 1.0


OVERRIDE = criteria("@criterion(shared=True)\ndef file_exists(ws, path): return 0.25\n")
USE = criteria("rk.file_exists('x')\n")


def test_a_criterion_may_stand_in_for_a_ready_one_with_a_warning(tmp_path: Path) -> None:
    """1.3."""
    found = graded(tmp_path, {"a.py": OVERRIDE, "b.py": USE})
    assert found.values == {"file_exists:x": 0.25}
    assert "a.py: warning: the criterion file_exists stands in for the built-in one of that name" in found.warnings


def test_it_leaks_neither_into_another_tests_folder_nor_into_another_run(tmp_path: Path) -> None:
    """1.3: Reward Kit's registry is the process's."""
    found = graded_each(tmp_path, {"one": {"a.py": OVERRIDE, "b.py": USE}, "two": {"b.py": USE}})
    assert found.rewards == {"one/reward": 0.25, "two/reward": 0.0}
    assert graded(tmp_path / "later", {"b.py": USE}).rewards == {"reward": 0.0}


def test_criteria_of_the_same_name_in_two_folders_are_two(tmp_path: Path) -> None:
    found = graded_each(tmp_path, {"one": returns("1"), "two": returns("0.5")})
    assert found.rewards == {"one/reward": 1.0, "two/reward": 0.5}


def test_many_criteria_on_several_workers_are_as_on_one(tmp_path: Path) -> None:
    body = "@criterion\ndef c(ws, k): return k / 100\n" + "".join(f"rk.c({k})\n" for k in range(40))
    one = graded_each(tmp_path / "one", {"tests": criteria(body)})
    many = graded_each(tmp_path / "many", {"tests": criteria(body)}, workers=4)
    assert one.values == many.values == {f"c:{k}": k / 100 for k in range(40)}


def test_a_crash_under_on_error_zero_counts_as_0(tmp_path: Path) -> None:
    body = f"@criterion\ndef dies(ws): os.kill(os.getpid(), 9)\n{GOOD}"
    found = graded(tmp_path, criteria(body), on_error=OnError.ZERO)
    assert found.reward == 0.5
    assert found.rows["dies"]["unscored"] == "crashed"


def test_what_is_made_in_a_comprehension_keeps_its_own_arguments(tmp_path: Path) -> None:
    body = "@criterion\ndef c(ws, k): return k\n[rk.c(k) for k in (0.1, 0.2, 0.3)]\n"
    assert graded(tmp_path, criteria(body)).values == {"c:0.1": 0.1, "c:0.2": 0.2, "c:0.3": 0.3}
