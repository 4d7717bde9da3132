"""Are output files JSON that a schema admits?"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from adjudge.domain import BUILTIN_JUDGES, MissingExtraError
from adjudge.judges.builtin.trace import listed, matching, output_files


def judge(
    outputs: dict[str, Any], *, file: str, schema: dict[str, Any] | None = None, schema_file: str | None = None
) -> tuple[bool, str]:
    """Pass when every file that matches `file` is valid, and there is one.

    Which draft holds is what `$schema` says, else 2020-12. `schema_file` is for configs: their reader puts its content
    in its place, so that it is part of what the judge is.

    Raises:
        MissingExtraError: jsonschema is not installed.
        ValueError: there is no schema, it is no valid schema, or a file is not text.
    """
    if schema is None:
        raise ValueError(f"json_schema needs its schema as a mapping (schema_file {schema_file!r} is read in configs)")
    files = output_files(outputs)
    names = matching(files, file)
    if not names:
        return False, f"There is no output {file!r}."
    validator = _validator(schema)
    faults = []
    for name in names:
        if not isinstance(files[name], str):
            raise ValueError(f"{name} is not text")
        try:
            value = json.loads(files[name], parse_constant=_refuse)
        except ValueError as error:
            faults.append(f"{name}: not JSON: {error}")
            continue
        faults += [f"{name}: {_place(error)}: {error.message[:200]}" for error in validator.iter_errors(value)]
    if faults:
        return False, f"{len(faults)} faults: {listed(faults)}"
    return True, f"Valid: {listed(names)}."


def _validator(schema: dict[str, Any]) -> Any:
    try:
        import jsonschema
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    except ImportError:
        install = BUILTIN_JUDGES["json_schema"].install
        raise MissingExtraError(f"the builtin judge json_schema needs jsonschema: {install}") from None
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ValueError(f"the schema is not valid: {error.message[:300]}") from None
    return kind(schema, registry=REGISTRY)  # its own default would fetch what a $ref names


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _place(error: Any) -> str:
    return "/".join(map(str, error.absolute_path)) or "the whole"
