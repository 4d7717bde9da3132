"""`python -m benchmarks [name...]`: every benchmark, or those named."""

from __future__ import annotations

import importlib
import os
import platform
import sys

NAMES = ("start", "checks", "collecting", "calls", "judging", "rubrics", "rewardkit", "banana", "size")

print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
for name in sys.argv[1:] or NAMES:
    importlib.import_module(f"benchmarks.{name}").main()
