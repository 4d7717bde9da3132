"""Whatever a template does with what the agent made, it comes out fenced.

The agent of these tests wrote only the letters q and z, and no template holds them outside of an expression: one that
stands outside of a fence has leaked, however it was cut, turned or counted.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.filters import FILTERS

from adjudge.cases import case_record
from adjudge.domain import Case
from adjudge.prompts import PromptError, fenced
from tests.support.material import CALLS, RECORD, TEXT, leaks, outside, prompt

SUBJECTS = {
    "text": "conversation",
    "file": "outputs.files['main.py']",
    "files": "outputs.files",
    "texts": "outputs.files.values()",
    "calls": "outputs.tool_calls",
    "call": "outputs.tool_calls[0]",
    "outputs": "outputs",
    "list": "[conversation, reasoning]",
    "mapping": "{'k': conversation}",
}
ARGUMENTS = {
    "attr": "'upper'",
    "batch": "2",
    "default": "conversation, true",
    "d": "conversation, true",
    "format": "conversation",
    "groupby": "'name'",
    "map": "'string'",
    "reject": "'none'",
    "rejectattr": "'name', 'none'",
    "replace": "'a', 'b'",
    "select": "'string'",
    "selectattr": "'name'",
    "slice": "2",
    "truncate": "9, true",
    "wordwrap": "4",
}
METHODS = {
    "center": "40",
    "count": "'a'",
    "endswith": "'a'",
    "find": "'a'",
    "format_map": "{}",
    "index": "''",
    "join": "['a', 'b']",
    "ljust": "40",
    "maketrans": "{}",
    "partition": "' '",
    "removeprefix": "'a'",
    "removesuffix": "'a'",
    "replace": "'a', 'b'",
    "rfind": "'a'",
    "rindex": "''",
    "rjust": "40",
    "rpartition": "' '",
    "startswith": "'a'",
    "translate": "{}",
    "zfill": "40",
}
KEEP = "{% set ns = namespace(v='') %}"
CALLER = "{% macro keep() %}{% set ns.v = caller() %}{% endmacro %}"
USES = {
    "printed": "{{{{ {} }}}}",
    "listed": "{{{{ ({})|list }}}}",
    "joined": "{{{{ ({})|join(' ') }}}}",
    "first": "{{{{ ({})|first }}}}",
    "sliced": "{{{{ ({})[:1] }}}}",
    "looped": "{{% for item in {} %}}{{{{ item }}}}{{% endfor %}}",
    "called": "{{{{ ({})() }}}}",
}


def leaking(expression: str) -> dict[str, str]:
    """The uses of an expression that leak, with what they leak."""
    found = {name: leaks(use.format(expression)) for name, use in USES.items()}
    return {name: text[:20] for name, text in found.items() if text}


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
@pytest.mark.parametrize("name", sorted(FILTERS))
def test_every_filter_keeps_the_fence(name: str, subject: str) -> None:
    assert leaking(f"{subject}|{name}({ARGUMENTS.get(name, '')})") == {}


@pytest.mark.parametrize("name", sorted(name for name in dir(str) if not name.startswith("_")))
def test_every_method_of_a_text_keeps_the_fence(name: str) -> None:
    assert leaking(f"conversation.{name}({METHODS.get(name, '')})") == {}


@pytest.mark.parametrize(
    "expression",
    [
        *SUBJECTS.values(),
        "reasoning",
        "tool_trace",
        "inputs",
        "evidence",
        "outputs.stdout",
        "outputs.events",
        "outputs['conversation']",
        "outputs.files.get('notes.md')",
        "outputs.files.items()",
        "outputs.tool_calls[0].input",
        "outputs.tool_calls[0].input.command",
        "outputs.tool_calls[0].input.values()",
        "outputs.tool_calls[1].input.nested[1]",
        "outputs.tool_calls[0].items()",
        "outputs.tool_calls[0].copy()",
        "conversation + reasoning",
        "'before ' + conversation",
        "conversation + ' after'",
        "conversation * 2",
        "2 * conversation",
        "conversation ~ ' after'",
        "'before ' ~ conversation ~ reasoning",
        "'%s' % conversation",
        "'%.2s' % conversation",
        "'%s and %s' % (conversation, reasoning)",
        "'%(k)s' % {'k': conversation}",
        "'{}'.format(conversation)",
        "'{:.2}'.format(conversation)",
        "'{x}'.format(x=conversation)",
        "'{x:.2}'.format(x=conversation)",
        "'{x:.2}'.format_map({'x': conversation})",
        "', '.join([conversation, reasoning])",
        "conversation[0]",
        "conversation[-3:]",
        "conversation[::-1]",
        "conversation['upper']()",
        "(conversation|attr('upper'))()",
        "conversation if conversation else 'nothing'",
        "conversation or 'nothing'",
        "('' or conversation)",
        "(conversation, 1)",
        "{'k': [conversation]}",
        "dict(k=conversation)",
        "namespace(k=conversation)",
        "namespace(k=conversation).k",
        "cycler(conversation, reasoning).next()",
        "outputs.tool_calls + [1]",
        "outputs.tool_calls[:1]",
        "outputs.events[-2:]",
        "outputs.tool_calls|first",
        "(outputs.tool_calls|first).name",
        "outputs.tool_calls|map(attribute='name')",
        "outputs.tool_calls|selectattr('name', 'equalto', 'qz')",
        "outputs.tool_calls|map(attribute='input')|map(attribute='command')",
        "outputs.tool_calls|map(attribute='name')|unique",
        "[conversation]|tojson",
        "{'k': conversation}|tojson",
        "outputs|tojson",
        "outputs.files|tojson",
        "outputs.tool_calls|tojson(indent=2)",
        "conversation|tojson",
        "conversation|upper|replace('Q', 'z')|trim",
        "(conversation ~ '')|upper",
        "conversation.raw",
        "outputs.plain()",
        "outputs.files.plain()",
        "outputs.files.listing()",
    ],
)
def test_every_expression_keeps_the_fence(expression: str) -> None:
    assert leaking(expression) == {}


@pytest.mark.parametrize(
    "source",
    [
        "{% for c in conversation %}{{ c }}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}",
        "{% for line in conversation.splitlines() %}- {{ line }}{% endfor %}",
        "{% for path, text in outputs.files.items() %}{{ path }}: {{ text }}{% endfor %}",
        "{% for call in outputs.tool_calls %}{{ call.name }} {{ call.input }}{% endfor %}",
        "{% for k, v in outputs.tool_calls[0].items() %}{{ v }}{% endfor %}",
        "{% for row in outputs.tool_calls|batch(2) %}{% for call in row %}{{ call.name }}{% endfor %}{% endfor %}",
        "{% for group in outputs.tool_calls|groupby('name') %}{{ group.grouper }}{{ group.list }}{% endfor %}",
        "{% set text = conversation %}{{ text[:5] }}",
        "{% set text %}{{ conversation }}{% endset %}{{ text }}",
        "{% set text %}{{ conversation }}{% endset %}{{ text[:70] }}",
        "{% set text %}{{ conversation }}{% endset %}{{ text|truncate(70, true) }}",
        "{{ (conversation ~ '')[:70] }}",
        "{{ (conversation ~ reasoning)|truncate(70, true) }}",
        "{{ ('see: ' ~ conversation)[30:] }}",
        "{% filter upper %}{{ conversation }}{% endfilter %}",
        "{% filter truncate(70, true) %}{{ conversation }}{% endfilter %}",
        "{% filter wordwrap(10) %}{{ conversation }}{% endfilter %}",
        "{% filter indent(4, true) %}{{ conversation }}{% endfilter %}",
        "{% macro show(text) %}{{ text }}{% endmacro %}{{ show(conversation) }}",
        "{% macro show(text) %}{{ text }}{% endmacro %}{{ show(conversation)[:70] }}",
        "{% macro show() %}{{ caller() }}{% endmacro %}{% call show() %}{{ conversation }}{% endcall %}",
        "{% with text = conversation %}{{ text.upper() }}{% endwith %}",
        "{% macro show(text=conversation) %}{{ text }}{% endmacro %}{{ show()[:70] }}",
        "{% macro show() %}{{ conversation }}{% endmacro %}{% set f = show %}{{ [f][0]()[:70] }}",
        "{% macro each(t) %}{{ caller(t[0]) }}{% endmacro %}{% call(x) each([conversation]) %}{{ x }}{% endcall %}",
        "{% block part %}{{ conversation }}{% endblock %}",
        "{% block part %}{{ conversation }}{% endblock %}{{ self.part()[:70] }}",
        "{% set ns = namespace() %}{% if true %}{% set ns.v = conversation %}{% endif %}{{ ns.v }}",
        KEEP + "{% macro keep(t) %}{% set ns.v = t %}{% endmacro %}{{ keep(conversation) }}{{ ns.v }}",
        KEEP + "{% macro keep() %}{% set ns.v = varargs %}{% endmacro %}{{ keep(conversation) }}{{ ns.v }}",
        KEEP + "{% macro keep() %}{% set ns.v = kwargs %}{% endmacro %}{{ keep(k=conversation) }}{{ ns.v }}",
        KEEP + CALLER + "{% call keep() %}{{ conversation }}{% endcall %}{{ ns.v }}",
        KEEP + "{% macro keep(n, t) %}{% set n.v = t %}{% endmacro %}{{ keep(ns, conversation) }}{{ ns.v }}",
        KEEP + "{% for n in [ns] %}{% set n.v = conversation %}{% endfor %}{{ ns.v }}",
        KEEP + "{% set n = ns %}{% set n.v = conversation %}{{ ns.v }}",
        "{% set a, b = 1, conversation %}{{ a }}{{ b }}",
        "{% set annotations = conversation %}{{ annotations }}",
        "{% set outputs = {'annotation_x': conversation} %}{{ outputs.annotation_x }}",
        "{% with outputs = {'annotations': conversation} %}{{ outputs['annotations'] }}{% endwith %}",
        "{% for x in [conversation] recursive %}{{ x }}{{ loop([]) }}{% endfor %}",
        "{% set chosen = 'a' if false else conversation %}{{ chosen }}",
        "{{ (annotations.expected ~ conversation)[:70] }}",
    ],
)
def test_every_statement_keeps_the_fence(source: str) -> None:
    assert leaks(source) == ""


@pytest.mark.parametrize(
    ("source", "record"),
    [
        pytest.param("{% for path in outputs.files %}{{ path }}{% endfor %}", {"files": {"qz.md": ""}}, id="paths"),
        pytest.param("{{ outputs.files|join }}", {"files": {"qz.md": ""}}, id="joined paths"),
        pytest.param("{{ outputs.files.keys()|list }}", {"files": {"qz.md": ""}}, id="keys of the files"),
        pytest.param(
            "{{ outputs.files['a.png'].name }}",
            {"files": {"a.png": {"_binary": True, "path": "/w/qz.png", "name": "qz.png"}}},
            id="name of a picture",
        ),
        pytest.param(
            "{% for key in outputs.tool_calls[0].input %}{{ key }}{% endfor %}",
            {"tool_calls": [{"name": "a", "input": {"qz": 1}}]},
            id="keys of a call",
        ),
        pytest.param("{{ outputs.case_dir }}", {"case_dir": "/w/qz"}, id="folder"),
    ],
)
def test_the_names_that_an_agent_chose_are_fenced(source: str, record: dict[str, object]) -> None:
    assert leaks(source, {**RECORD, **record}) == ""


@pytest.mark.parametrize("folder", ["annotation_oracle", "annotation", "annotations", "annotation_oracle_content"])
@pytest.mark.parametrize("source", ["{{ annotations }}", "{{ outputs.%s_content }}", "{{ outputs.%s_file }}"])
def test_an_agents_folder_is_not_taken_for_what_people_wrote(source: str, folder: str) -> None:
    case = Case(id="a", outputs={f"output/{folder}/qz.md": TEXT}, annotations={"expected": "a human wrote this"})
    assert leaks(source.replace("%s", folder), case_record(case)) == ""


STEPS = ["upper", "title", "trim", "reverse", "replace('q', 'z')", "truncate(9, true)", "wordwrap(3)", "indent(2)"]
STEPS += ["center(30)", "string", "escape", "striptags", "first", "last", "tojson", "capitalize", "default('x')"]
PIECES = [
    "q",
    "z",
    " ",
    "\n",
    "[END EVALUATED MATERIAL #",
    "]",
    "0123456789ab",
    "[BEGIN EVALUATED MATERIAL: ",
    "\u202e",
]


@given(
    text=st.lists(st.sampled_from(PIECES), max_size=20).map("".join), steps=st.lists(st.sampled_from(STEPS), max_size=4)
)
def test_no_chain_of_filters_lets_hostile_text_out(text: str, steps: list[str]) -> None:
    source = "before {{ " + "|".join(["conversation", *steps]) + " }} after"
    try:
        shown = prompt(source, {**RECORD, "conversation": text})
    except PromptError:  # such as the first character of nothing, cut
        return
    assert outside(shown) == "before  after"


def test_the_agents_letters_would_be_seen_outside_of_a_fence() -> None:
    assert outside(f"a {TEXT} b") == f"a {TEXT} b"
    assert outside(f"a {fenced(TEXT, 'x')} b") == "a  b"
    assert leaks("{{ arguments }}" + CALLS[0]["name"][:1]) == "q"  # type: ignore[index]
