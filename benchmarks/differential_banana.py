"""The same projects through Eval Banana and through adjudge: every difference must be one that we explain.

usage: python -m benchmarks.differential_banana EB    (the full path of Eval Banana's executable)
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import ADJUDGE, clean_env

ROWS = {
    "broken": "exit 1 for failed, broken and misconfigured",
    "signal": "a script that was killed by a signal fails",
    "fallback": "a last verdict that is broken falls back to an earlier one",
    "event": "a result event anywhere in the output wins",
    "quote": "an odd quotation mark hides the verdict",
    "empty": "an empty script beside a script_path runs, and passes",
    "live": "agents work in the live project",
    "type": "a score of another type ends the run without a report",
    "bytes": "output that is not UTF-8 ends the run without a report",
    "threshold": "pass_threshold may be 0, negative, 80 or nan",
    "typo": "typos in [core] are found never",
    "absent": "absent scripts are found while running",
}


def script(check_id: str, code: str, **keys: str) -> tuple[str, str]:
    lines = "".join(f"  {line}\n" for line in code.splitlines())
    more = "".join(f"{key}: {value}\n" for key, value in keys.items())
    head = f"schema_version: 1\nid: {check_id}\ntype: deterministic\ndescription: d\n{more}"
    return f"eval_checks/{check_id}.yaml", f"{head}script: |\n{lines}"


def judge(output: str, head: str = "", config: str = "") -> dict[str, str]:
    """A project with one check, which a program judges that ends by saying something."""
    agent = f"import sys, os\n{head}\nsys.stdout.write({output!r})\n"
    table = f'{config}[harness]\nagent = "mine"\n[agents.mine]\ncommand = ["python3", "agent.py"]\n'
    check = "schema_version: 1\nid: j\ntype: harness_judge\ndescription: d\ninstructions: Is it fine?\n"
    return {"eval_checks/j.yaml": check, "agent.py": agent, ".eval-banana/config.toml": table}


BY_PATH = "schema_version: 1\nid: a\ntype: deterministic\ndescription: d\n"
GOOD = '{"score": 1, "reason": "fine"}'
EVENT = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": '{"score": 1}'})
WRITES = "try: open('made', 'w').write('x')\nexcept OSError: pass"
PROJECTS: dict[str, tuple[Mapping[str, str], str]] = {
    "passes": (dict([script("a", "pass")]), ""),
    "fails": (dict([script("a", "assert False, 'no'")]), ""),
    "two of three": (dict([script("a", "pass"), script("b", "pass"), script("c", "raise SystemExit(2)")]), ""),
    "threshold": (
        {
            **dict([script("a", "pass"), script("b", "assert 0")]),
            ".eval-banana/config.toml": "[core]\npass_threshold = 0.5\n",
        },
        "",
    ),
    "exit text": (dict([script("a", "raise SystemExit('no')")]), ""),
    "exit none": (dict([script("a", "raise SystemExit")]), ""),
    "exception": (dict([script("a", "1 / 0")]), ""),
    "context": (
        dict(
            [
                script(
                    "a",
                    "import json, sys\nassert len(json.load(open(sys.argv[1]))) == 5\nassert __name__ == '__main__'",
                )
            ]
        ),
        "",
    ),
    "folder": (
        {**dict([script("a", "import os\nassert os.path.exists('here.txt')")]), "here.txt": "x"},
        "",
    ),
    "script path": (
        {
            "eval_checks/a.yaml": BY_PATH + "script_path: lib/a.py\n",
            "eval_checks/lib/a.py": "import helper, sys\nassert helper.X == 1\nassert __file__.endswith('lib/a.py')\n",
            "eval_checks/lib/helper.py": "X = 1\n",
        },
        "",
    ),
    "nested": ({"x/y/eval_checks/z/a.yml": script("a", "pass")[1], **dict([script("b", "pass")])}, ""),
    "excluded": ({"node_modules/eval_checks/a.yaml": "broken: [", **dict([script("b", "pass")])}, ""),
    "signal": (dict([script("a", "import os\nos.kill(os.getpid(), 9)")]), "signal"),
    "bytes": (dict([script("a", "import os\nos.write(1, b'\\xff')")]), "bytes"),
    "empty script": (
        {
            "eval_checks/a.yaml": (
                'schema_version: 1\nid: a\ntype: deterministic\ndescription: d\nscript: ""\nscript_path: a.py\n'
            ),
            "eval_checks/a.py": "raise SystemExit(1)\n",
        },
        "empty",
    ),
    "absent script": (
        {"eval_checks/a.yaml": "schema_version: 1\nid: a\ntype: deterministic\ndescription: d\nscript_path: gone.py\n"},
        "absent",
    ),
    "bad YAML": ({"eval_checks/a.yaml": "id: [\n"}, "broken"),
    "unknown key": ({"eval_checks/a.yaml": script("a", "pass")[1] + "target_paths: [x]\n"}, "broken"),
    "negative threshold": (
        {**dict([script("a", "assert 0")]), ".eval-banana/config.toml": "[core]\npass_threshold = -1.0\n"},
        "threshold",
    ),
    "typo": ({**dict([script("a", "pass")]), ".eval-banana/config.toml": "[core]\npass_treshold = 1.0\n"}, "typo"),
    "judge passes": (judge(GOOD), ""),
    "judge fails": (judge('{"score": 0}'), ""),
    "judge after words": (judge(f"I looked at it.\n```json\n{GOOD}\n```\n"), ""),
    "judge says two": (judge('{"score": 1}\nno, wait:\n{"score": 0, "reason": "bad"}'), ""),
    "judge says nothing": (judge("hm"), "broken"),
    "judge ends badly": (judge(GOOD, "import atexit\natexit.register(lambda: os._exit(3))"), "broken"),
    "judge half": (judge('{"score": 1}\n\n{"score": 0.5}'), "fallback"),
    "judge list": (judge('{"score": []}'), "type"),
    "judge event": (judge(f'{EVENT}\n{{"score": 0, "reason": "bad"}}'), "event"),
    "judge quote": (judge('a 5" pipe\n{"score": 0, "reason": "bad"}'), "quote"),
    "judge writes": (
        {**judge(GOOD, WRITES), **dict([script("k", "import os, time\ntime.sleep(1)\nassert os.path.exists('made')")])},
        "live",
    ),
}
"""Name -> (files, the row that explains a difference; empty where there must be none)."""


def outcome(command: list[str], files: Mapping[str, str]) -> tuple[str, list[tuple[str, str]]]:
    """(how the run ended, each check with its status)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text.replace("AGENT", name))
        ended = subprocess.run(
            [*command, "run"],
            check=False,
            cwd=folder,
            env=clean_env(HOME=name),
            capture_output=True,
            text=True,
            timeout=60,
        )
        reports = sorted((folder / ".eval-banana").glob("results/*/report.json"))
        checks: list[dict[str, Any]] = json.loads(reports[0].read_text())["checks"] if reports else []
        how = (
            "passed"
            if ended.returncode == 0
            else "failed"
            if reports and ended.returncode == 1
            else "refused or broken"
        )
        return how, [(check["check_id"], check["status"]) for check in checks]


def main() -> int:
    theirs, ours = [sys.argv[1]], [*map(str, ADJUDGE), "banana"]
    unexplained = explained = 0
    for name, (files, row) in PROJECTS.items():
        there, here = outcome(theirs, files), outcome(ours, files)
        if there == here:
            print(f"same       {name}: {here[0]}")
        elif row:
            explained += 1
            print(f"explained  {name}: there {there}, here {here} ({ROWS[row]})")
        else:
            unexplained += 1
            print(f"DIFFERENT  {name}: there {there}, here {here}")
    print(f"\n{len(PROJECTS)} projects, {explained} explained differences, {unexplained} unexplained")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
