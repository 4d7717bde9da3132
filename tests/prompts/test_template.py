"""What a template may do, what it sees, and what is said of one that cannot work."""

from __future__ import annotations

import pytest

from adjudge.prompts import VARIABLES, PromptError, fenced, mentions, template_problem
from tests.support.material import CALLS, RECORD, TEXT, prompt


@pytest.mark.parametrize("name", ["conversation", "reasoning", "tool_trace", "inputs", "evidence"])
def test_a_text_of_the_agent_is_one_fenced_block_under_its_name(name: str) -> None:
    assert prompt("{{ %s }}" % name) == fenced(RECORD[name], name)  # noqa: UP031


def test_a_file_is_fenced_under_its_path() -> None:
    assert prompt("{{ outputs.files['notes.md'] }}") == fenced("zz qq", "notes.md")


def test_outputs_printed_whole_are_one_fenced_listing_of_every_file() -> None:
    shown = prompt("{{ outputs }}")
    assert shown.count("[BEGIN EVALUATED MATERIAL") == 1
    places = [shown.index(f"### {path}") for path in sorted(RECORD["files"])]
    assert places == sorted(places)
    assert TEXT in shown
    assert "(an image, beside this text)" in shown
    assert prompt("{{ outputs.files }}") == shown


def test_calls_printed_whole_are_fenced_json() -> None:
    shown = prompt("{{ outputs.tool_calls }}")
    assert shown.startswith("[BEGIN EVALUATED MATERIAL: tool_calls #")
    assert '"command": "zq -q"' in shown


@pytest.mark.parametrize("name", ["conversation", "reasoning", "tool_trace", "inputs", "evidence"])
@pytest.mark.parametrize("value", ["", None], ids=repr)
def test_what_the_agent_did_not_write_is_empty(name: str, value: str | None) -> None:
    assert prompt("<{{ %s }}>" % name, {**RECORD, name: value}) == "<>"  # noqa: UP031


def test_what_people_wrote_is_not_fenced() -> None:
    assert prompt("{{ annotations.expected }}") == "a human wrote this"
    assert prompt("{{ annotations }}") == "- **expected**: a human wrote this\n- **points**: 3"
    record = {**RECORD, "annotation_oracle_content": "the oracle"}
    assert prompt("{{ outputs.annotation_oracle_content }}", record) == "the oracle"
    assert "### annotation_oracle_content\n\nthe oracle" in prompt("{{ annotations }}", record)


def test_arguments_are_not_fenced() -> None:
    assert prompt("at most {{ arguments.limit }}") == "at most 3"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("conversation == outputs.files['main.py']", "True"),
        ("conversation|length", str(len(TEXT))),
        ("conversation|wordcount", "5"),
        ("'zz' in conversation", "True"),
        ("'MATERIAL' in conversation", "False"),
        ("conversation.startswith('qz')", "True"),
        ("conversation.count('q')", str(TEXT.count("q"))),
        ("'long' if conversation|length > 10 else 'short'", "long"),
        ("'yes' if evidence else 'no'", "yes"),
        ("'yes' if outputs.files else 'no'", "yes"),
        ("outputs.tool_calls|length", "2"),
        ("outputs.tool_calls[0].input.count + 1", "3"),
        ("outputs.tool_calls|map(attribute='input')|map(attribute='count', default=0)|sum", "2"),
        ("outputs.tool_calls|selectattr('name', 'equalto', 'qz')|list|length", "1"),
        ("outputs.exit_code == 0", "True"),
        ("outputs.cost_usd * 2", "0.5"),
        ("outputs.files|length", "3"),
        ("outputs.files|list|length", "3"),
        ("outputs.files.keys()|list|length", "3"),
        ("'main.py' in outputs.files", "True"),
        ("conversation.splitlines()|length", "4"),
        ("(outputs.tool_calls|groupby('name')|first).list|length", "1"),
    ],
)
def test_conditions_comparisons_and_counts_work_on_the_text(expression: str, value: str) -> None:
    assert prompt("{{ " + expression + " }}") == value


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("conversation.upper()", TEXT.upper()),
        ("conversation|reverse", TEXT[::-1]),
        ("conversation[:3]", TEXT[:3]),
        ("conversation|first", "q"),
        ("conversation|replace('q', 'z')", TEXT.replace("q", "z")),
        ("'- ' + conversation", "- " + TEXT),
        ("'%s: %s' % ('said', conversation)", "said: " + TEXT),
        ("'said: {}'.format(evidence)", "said: zzz"),
        ("outputs.tool_calls[0].name", "qz"),
        ("outputs.tool_calls[0]['name']", "qz"),
        ("outputs.tool_calls[0].input.command", "zq -q"),
        ("outputs.tool_calls|map(attribute='name')|join(', ')", "qz, zq"),
        ("outputs.files['notes.md']|upper", "ZZ QQ"),
    ],
)
def test_what_is_made_of_the_text_is_fenced_once(expression: str, text: str) -> None:
    shown = prompt("{{ " + expression + " }}")
    assert shown in {fenced(text, name) for name in [*VARIABLES, "tool_calls", "notes.md"]}


def test_json_of_the_text_is_readable_json_in_a_fence() -> None:
    shown = prompt("{{ outputs.tool_calls[0]|tojson }}")
    inner = '{\n  "name": "qz",\n  "input": {\n    "command": "zq -q",\n    "count": 2\n  }\n}'
    assert shown.split("\n", 1)[1].rsplit("\n", 1)[0] == inner


@pytest.mark.parametrize(
    "text", ["\ud800", "a\x00b", "\x1b[2J", "\u202e", "x" * 2**20], ids=["surrogate", "nul", "ansi", "bidi", "megabyte"]
)
def test_any_text_arrives_inside_its_fence(text: str) -> None:
    shown = prompt("{{ conversation }}|{{ conversation|tojson|length > 0 }}", {**RECORD, "conversation": text})
    assert shown == fenced(text, "conversation") + "|True"


def test_a_missing_variable_is_empty() -> None:
    assert prompt("<{{ outputs.nothing }}{{ annotations.nothing }}>") == "<>"


@pytest.mark.parametrize(
    "expression",
    [
        "''.__class__",
        "''.__class__.__mro__",
        "().__class__.__bases__[0].__subclasses__()",
        "conversation.__class__.__init__.__globals__",
        "outputs.__class__",
        "outputs.__dict__",
        "outputs._record",
        "outputs.files._files",
        "annotations.__init__.__globals__",
        "annotations._texts",
        "arguments.__class__.__base__",
        "cycler.__init__.__globals__.os",
        "lipsum.__globals__['os'].popen('id').read()",
        "joiner.__init__.__globals__",
        "namespace.__class__",
        "self.__init__.__globals__",
        "self._TemplateReference__context",
        "conversation|attr('__class__')",
        "''|attr('__class__')",
        "['']|map(attribute='__class__')|list",
        "''['__class__']",
        "'{0.__class__.__mro__}'.format(1)",
        "'{x.__class__}'.format(x=1)",
        "'{x.__class__}'.format_map({'x': 1})",
        "(1).__class__",
        "range.__class__",
        "render.__globals__",
    ],
)
def test_the_sandbox_gives_no_way_into_python(expression: str) -> None:
    try:
        shown = prompt("<{{ " + expression + " }}>")
    except PromptError:
        return
    assert shown in ("<>", '<[\n  ""\n]>')


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("{{ 1 / 0 }}", id="division by zero"),
        pytest.param("{{ 1 + 'a' }}", id="wrong types"),
        pytest.param("{{ conversation.nothing() }}", id="no such method"),
        pytest.param("{{ conversation.index('absent') }}", id="text that is not there"),
        pytest.param("{{ '{} {}'.format(1) }}", id="too few values for a format"),
        pytest.param("{{ '%d' % 'a' }}", id="text for a number"),
        pytest.param("{{ range(10 ** 9)|length }}", id="enormous range"),
        pytest.param("{{ 'a' * (10 ** 18) }}", id="more than memory holds"),
        pytest.param("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", id="endless recursion"),
        pytest.param("{% include 'other' %}", id="another template"),
        pytest.param("{{ conversation|nosuch }}", id="no such filter"),
        pytest.param("{{ conversation", id="syntax"),
        pytest.param("{{ ''.__class__.__mro__ }}", id="forbidden"),
        pytest.param("{{ 5|list }}", id="filter that fails"),
    ],
)
def test_a_template_that_fails_on_a_case_is_a_prompt_error(source: str) -> None:
    with pytest.raises(PromptError, match="cannot be rendered"):
        prompt(source)


@pytest.mark.parametrize(
    "source",
    ["", "plain text", "{{ conversation }}", "{% for k in range(3) %}{{ k }}{% endfor %}", "{{ outputs.anything }}"]
    + ["{{ inputs.upper() }}", "{% for evidence in [{'source': 1}] %}{{ evidence.source }}{% endfor %}"]
    + ["{% set inputs = arguments %}{{ inputs.limit }}"]
    + ["{{ %s }}" % name for name in VARIABLES],  # noqa: UP031
)
def test_a_template_that_can_work_has_no_problem(source: str) -> None:
    assert template_problem(source) is None
    prompt(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param("a\nb\n{{ conversation", "line 3", id="syntax, with its line"),
        pytest.param("{% if x %}", "line 1", id="no end"),
        pytest.param("{{ conversatoin }} {{ outpts }}", "conversatoin, outpts", id="every unknown variable"),
        pytest.param("{{ conversatoin }}", "conversation", id="the names that there are"),
        pytest.param("{{ conversation|nosuch }}", "nosuch", id="unknown filter"),
        pytest.param("a\n{{ inputs.request }}", "line 2", id="key of a text"),
        pytest.param("{{ inputs['request'] }}", "request", id="key of a text, in brackets"),
        pytest.param("{{ 'x' if conversation is nosuch }}", "nosuch", id="unknown test"),
    ],
)
def test_what_keeps_a_template_from_working_is_told_before_anything_runs(source: str, words: str) -> None:
    assert words in (template_problem(source) or "")


@pytest.mark.parametrize(
    "source", ["{% include 'other.md' %}", "{% extends 'other.md' %}", "{% import 'other.md' as x %}"]
)
def test_a_template_that_needs_another_file_is_told_too(source: str) -> None:
    assert template_problem(source) is not None


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("{{ conversation }}", True),
        ("{% if conversation %}x{% endif %}", True),
        ("{{ outputs.conversation }}", False),
        ("the conversation", False),
        ("{# conversation #}", False),
        ("{% set conversation = 1 %}{{ conversation }}", False),
        ("{{ conversation", True),
        ("{{ outputs", False),
    ],
)
def test_a_template_mentions_what_it_refers_to(source: str, found: bool) -> None:
    assert mentions(source, "conversation") is found


def test_rendering_leaves_the_record_as_it_was() -> None:
    record = {**RECORD, "annotations": {"verdicts": {"good": True}}, "tool_calls": [dict(call) for call in CALLS]}
    before = repr(record)
    for source in (
        "{{ outputs.tool_calls.clear() }}",
        "{{ annotations.clear() }}",
        "{{ annotations.verdicts.clear() }}",
    ):
        try:
            prompt(source, record)
        except PromptError:
            continue
    assert repr(record) == before
