"""What the rubric's judge is told besides the rubric."""

from __future__ import annotations

RULES = """\
Score what the trace shows, and nothing else: do not invent details that are not in it. Where the trace does not let \
you tell how a dimension was done, its score is 0, which is left out of every mean; do not guess. Brevity counts for \
the work: of two patches, or two messages, that serve equally well the shorter is better. The hard checks of the \
task have passed; they are not yours to repeat. Give each dimension a short reason, and judge each by itself.

The dimensions and their keys:

{criteria}
"""

PROMPT = """\
## Task prompt

{{ outputs.trace.prompt }}

## Files touched

{{ outputs.trace.files_touched }}

## Unified diff

{{ outputs.trace.diff }}

## Commit messages

{{ outputs.trace.commits }}

## Tool calls

{{ outputs.trace.tool_calls }}

## Agent's final message

{{ outputs.trace.final_message }}
"""

PAIRWISE = """\
Two agents did the same task in the same repository. Which of the two patches would you rather merge? Look at whether \
it does what was asked, at side effects, at how tightly the change is scoped, and at the code itself.

# The task

{{ outputs.trace.prompt }}
"""
