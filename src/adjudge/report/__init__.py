"""What people and other tools read of a result."""

from adjudge.report.files import append_step_summary, result_json, write_files
from adjudge.report.html import html_report
from adjudge.report.markdown import summary_markdown
from adjudge.report.terminal import print_result

__all__ = ["append_step_summary", "html_report", "print_result", "result_json", "summary_markdown", "write_files"]
