"""What a judge is shown of a diff that is too long: no file is lost because of another's length."""

from __future__ import annotations

import pytest

from adjudge.cases.hunks import capped_diff


def added(name: str, lines: int) -> str:
    body = "".join(f"+x{number} = {number}\n" for number in range(lines))
    return f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,{lines} @@\n{body}"


@pytest.mark.parametrize("long", [1, 2, 5])
def test_a_small_file_after_long_ones_is_shown_whole(long: int) -> None:
    small = added("zz.py", 2)
    text, notes = capped_diff("".join(added(f"a{n}.py", 3000) for n in range(long)) + small, 20_000)
    assert text.endswith(small)
    assert [note.partition(":")[0] for note in notes] == [f"the diff of a{n}.py" for n in range(long)]
    assert len(text) <= 20_000 + 80 * long
