"""YAML files of settings: read, validated, and refused in one line that names file, key and reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from esar_ros.mission.errors import UsageError, first_line, nearest

try:  # libyaml's parser, ten times as fast
    from yaml import CSafeLoader as _SafeLoader
except ImportError:
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

Model = TypeVar("Model", bound=BaseModel)
MEND = "mend the file"
_MOST = 1_000_000  # values of a file
_DEEPEST = 100  # collections within each other


class _Loader(_SafeLoader):
    """Loader of plain values. A mapping merges (<<) one other at most: several would multiply it with every line.

    Of a key that a mapping holds twice, a value would be lost in silence.
    """

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._pairs = 0
        self._read: set[int] = set()  # mappings whose own keys are known; flat ones hold merged keys beside them

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Takes merged pairs into a mapping. Raises ValueError for more than a file can mean, or a key twice."""
        if id(node) not in self._read:
            self._read.add(id(node))
            self._check_keys(node)
        merged = [value for key, value in node.value if key.tag == "tag:yaml.org,2002:merge"]
        if len(merged) > 1 or any(isinstance(value, yaml.SequenceNode) for value in merged):
            raise ValueError(f"line {node.start_mark.line + 1}: a mapping merges (<<) one other at most")
        super().flatten_mapping(node)
        self._pairs += len(node.value)
        if self._pairs > _MOST:
            raise ValueError(f"its mappings merge to more than {_MOST} pairs")

    def _check_keys(self, node: yaml.MappingNode) -> None:
        keys: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in keys:
                    raise ValueError(f"line {key.start_mark.line + 1}: the key {key.value[:60]} is there twice")
                keys.add((key.tag, key.value))


class StrictModel(BaseModel):
    """Base of everything that is read from a file: an unknown key, an infinity or a NaN is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def read_yaml(path: Path, what: str) -> Any:
    """Content of a file; what it is, for people. Raises UsageError."""
    try:
        return parse_yaml(path.read_bytes(), f"{what} {path}")
    except OSError as error:
        raise UsageError(f"cannot read {what} {path}: {error.strerror or error}", "check the path") from None


def parse_yaml(text: str | bytes, source: str) -> Any:
    """Content of YAML text; source names it. Raises UsageError."""
    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        _check_depth(text)
        content = yaml.load(text, _Loader)
        _count(content)
        return content
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"cannot read {source}, not YAML: {' '.join(str(error).split())}", MEND) from None
    # Impossible dates, numbers of thousands of digits and tags without their content fail with errors of Python's.
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UsageError(f"cannot read {source}: {first_line(error)}", MEND) from None


def _check_depth(text: str) -> None:
    """Raises ValueError for text that is nested too deeply. libyaml's parser counts; its composer would crash."""
    depth = 0
    for event in yaml.parse(text, _SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")


def _count(content: Any) -> None:
    """Raises ValueError for more values than a file can mean: a few lines of aliases stand for millions."""
    left, found = [content], 0
    while left:
        value = left.pop()
        found += 1
        if found > _MOST:
            raise ValueError(f"its aliases stand for more than {_MOST} values")
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value


def validated(model: type[Model], data: object, source: Path | str, whole: str = "the file", cure: str = MEND) -> Model:
    """Data as a model; whole: what an error that concerns no single key is about. Raises UsageError."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or whole
        raise UsageError(
            f"{source}, key {key}: {first['msg']}", meant_key(model, first) + meant_value(first) + cure
        ) from None


def meant_value(error: Mapping[str, Any]) -> str:
    """Returns "did you mean VALUE? " for a model's error about a word that is like one of those that it allows."""
    if error["type"] not in ("enum", "literal_error") or not isinstance(error.get("input"), str):
        return ""
    known = re.findall(r"'([^']*)'", str(error.get("ctx", {}).get("expected", "")))
    return f"did you mean {meant}? " if (meant := nearest(error["input"], known)) else ""


def meant_key(model: type[BaseModel], error: Mapping[str, Any]) -> str:
    """Returns "did you mean KEY? " for a model's error about a key that it does not know but one of its own is like."""
    if error["type"] != "extra_forbidden":
        return ""
    *path, key = error["loc"]
    for part in path:  # the model that the key stands in; behind lists and unions it is not looked for
        field = model.model_fields.get(str(part))
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            return ""
        model = field.annotation
    known = [field.alias or name for name, field in model.model_fields.items()]
    return f"did you mean {meant}? " if (meant := nearest(str(key), known)) else ""


def load_settings(model: type[Model], path: Path, what: str, cure: str = MEND) -> Model:
    """A settings file as its model. Raises UsageError."""
    return validated(model, read_yaml(path, what), path, cure=cure)
