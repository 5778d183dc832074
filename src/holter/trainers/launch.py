"""A training run from a configuration file: what ``holter train`` does once its words are read.

```yaml
model: my-org/my-model                  # a name, a path, or module:function that makes one
reward_funcs: [rewards:accuracy, my-org/my-reward-model]
reward_weights: [1.0, 0.1]
train_dataset: prompts.jsonl            # a file, a name on the hub, or module:function
eval_dataset: {path: my-org/my-prompts, split: test}
perplexity_dataset: held_out.txt
alignment_scorers: {safety: scorers:is_safe}
peft: {r: 16, target_modules: all-linear}
output_dir: out
learning_rate: 1e-6                     # every setting of the trainer's config
```
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import importlib
import inspect
import sys
import types
import typing
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holter.errors import HolterError, SettingsError, reason
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PARTS = {
    "model": "Name or path of the policy, or module:function that makes it.",
    "ref_model": "Name or path of the reference policy, or module:function. Default: the policy as it is at the start.",
    "reward_model": "Name or path of a reward model that reads the policy's tokens, or module:function.",
    "value_model": "Name or path of the value model, or module:function. Default: one made from the policy.",
    "processing_class": "Name or path of the tokenizer, or module:function. Default: the model's own.",
    "reward_funcs": "Reward functions as module:function, reward models by name or path; one or a list.",
    "reward_processing_classes": "Tokenizers of the reward models. Default: their own.",
    "train_dataset": "Prompts: a .jsonl, .json, .csv, .parquet or .txt file, a name on the hub, or module:function.",
    "eval_dataset": "Held-out prompts, likewise.",
    "perplexity_dataset": "Held-out texts for eval/perplexity, likewise; column 'text'.",
    "preference_dataset": "Pairs for eval/preference_accuracy, likewise; columns prompt, chosen, rejected.",
    "alignment_scorers": "Scorers of held-out completions by name, each module:function.",
    "peft": "Settings of a LoRA adapter, as peft.LoraConfig takes them.",
}
"""What a configuration names besides settings; each trainer takes those it has arguments for."""
INSTEAD = {"model": ("sft_model_path",), "reward_funcs": ("reward_model", "reward_model_path")}
"""Parts that must be there, and what else says the same."""
DATASETS = ("train_dataset", "eval_dataset", "perplexity_dataset", "preference_dataset")
_LOADERS = {
    ".jsonl": "from_json",
    ".json": "from_json",
    ".csv": "from_csv",
    ".parquet": "from_parquet",
    ".txt": "from_text",
}


def read_config(file: Path) -> dict[str, Any]:
    """The configuration in a YAML (or JSON) file.

    Raises:
        SettingsError: When it cannot be read or is no mapping; names file and line.
    """
    import yaml

    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}:", reason(error)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark else str(file)
        raise SettingsError(
            f"{where}:", said("not YAML: {problem}", problem=getattr(error, "problem", error))
        ) from error
    if not isinstance(found, dict):
        raise SettingsError(f"{file}:", "a configuration is a list of `name: value` lines")
    return {str(k): v for k, v in found.items()}


def overrides(words: Sequence[str]) -> dict[str, Any]:
    """Settings from ``--name value``, ``--name=value``, ``--name value value`` and ``--name.part value``.

    Raises:
        SettingsError: When a word is neither a name nor follows one.
    """
    out: dict[str, Any] = {}
    at = 0
    while at < len(words):
        if not words[at].startswith("--"):
            raise SettingsError(said("{word!r} follows no setting: write --name {word}", word=words[at]))
        name, equals, value = words[at][2:].partition("=")
        given = [value] if equals else []
        at += 1
        while not equals and at < len(words) and not words[at].startswith("--"):
            given.append(words[at])
            at += 1
        found = [_read(word) for word in given]
        _put(out, name.replace("-", "_").split("."), True if not found else found[0] if len(found) == 1 else found)
    return out


def _read(word: str) -> Any:  # noqa: ANN401
    import yaml

    try:
        return yaml.safe_load(word)
    except yaml.YAMLError:
        return word


def _put(into: dict[str, Any], path: Sequence[str], value: object) -> None:
    """Put a value in, at a path of names."""
    first, *rest = path
    if not rest:
        into[first] = value
        return
    if not isinstance(into.get(first), dict):
        into[first] = {}
    _put(into[first], rest, value)


def merged(given: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with others' entries over its own; entries that have entries themselves are merged.

    >>> merged({"peft": {"r": 8}, "seed": 1}, {"peft": {"lora_alpha": 16}})
    {'peft': {'r': 8, 'lora_alpha': 16}, 'seed': 1}
    """
    out = dict(given)
    for name, value in over.items():
        both = isinstance(value, dict) and isinstance(out.get(name), dict)
        out[name] = merged(out[name], value) if both else value
    return out


def launch(config_class: Any, trainer_class: Any, given: Mapping[str, Any], where: str) -> Any:  # noqa: ANN401
    """Make the trainer that a configuration describes.

    Args:
        config_class: The trainer's config class.
        trainer_class: The trainer.
        given: What the configuration and the command line say together.
        where: Its file, for messages.

    Raises:
        SettingsError: For what it does not know, and what is missing.
    """
    taken = parts_of(trainer_class)
    parts = {k: v for k, v in given.items() if k in taken}
    settings = {k: v for k, v in given.items() if k not in taken}
    for needed in ("model", "reward_funcs", "train_dataset"):
        if given.get(needed) is None and all(given.get(other) is None for other in INSTEAD.get(needed, ())):
            raise SettingsError(f"{where}:", said("{name} is missing.", name=needed), PARTS[needed])
    known = {f.name for f in dataclasses.fields(config_class) if f.init}
    for name in settings:
        if name not in known and (near := difflib.get_close_matches(name, taken, n=1, cutoff=0.75)):
            raise SettingsError(
                f"{where}:", said("unknown {name!r}.", name=name), said("Did you mean {names}?", names=near[0])
            )
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    with _said_of(where):
        args = config_class(**_typed(config_class, settings))
    with _said_of(where):
        return trainer_class(args=args, **_arguments(parts))


def parts_of(trainer_class: Any) -> dict[str, str]:  # noqa: ANN401
    """What a configuration may name for this trainer besides its settings, with a text each."""
    accepted = {*inspect.signature(trainer_class.__init__).parameters, "peft"}
    return {name: text for name, text in PARTS.items() if name in accepted}


def own_settings(config_class: Any) -> set[str]:  # noqa: ANN401
    """Names of settings that Holter adds to those of transformers, or gives another default."""
    from transformers import TrainingArguments

    ours = [c for c in config_class.__mro__ if c not in TrainingArguments.__mro__]
    return {name for c in ours for name in inspect.get_annotations(c)}


def _arguments(parts: Mapping[str, Any]) -> dict[str, Any]:
    """A trainer's arguments, made from their names."""
    out: dict[str, Any] = {k: _data(parts[k], k) for k in DATASETS if parts.get(k) is not None}
    for name in ("model", "ref_model", "reward_model", "value_model"):
        if parts.get(name) is not None:
            out[name] = imported(parts[name])() if _names_code(parts[name]) else parts[name]
    if parts.get("reward_funcs") is not None:
        out["reward_funcs"] = [imported(r) if _names_code(r) else r for r in _listed(parts["reward_funcs"])]
    if parts.get("processing_class") is not None:
        out["processing_class"] = _tokenizer(parts["processing_class"])
    if parts.get("reward_processing_classes") is not None:
        given = _listed(parts["reward_processing_classes"])
        out["reward_processing_classes"] = [None if t is None else _tokenizer(t) for t in given]
    if parts.get("alignment_scorers"):
        out["alignment_scorers"] = {n: imported(s) for n, s in parts["alignment_scorers"].items()}
    if parts.get("peft"):
        from peft import LoraConfig

        out["peft_config"] = LoraConfig(**{"task_type": "CAUSAL_LM", **parts["peft"]})
    return out


def _listed(given: Any) -> list[Any]:  # noqa: ANN401
    return given if isinstance(given, list) else [given]


@contextmanager
def _said_of(where: str) -> Iterator[None]:
    """What libraries refuse a setting or a name with, as an error of the configuration that said it."""
    try:
        yield
    except HolterError:
        raise
    except (OSError, ValueError, TypeError) as error:
        raise SettingsError(f"{where}:", reason(error)) from error


def imported(name: str) -> Any:  # noqa: ANN401
    """What ``module:name`` names.

    Raises:
        SettingsError: When there is no such thing, with the nearest one that there is.
    """
    module_name, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise SettingsError(
            f"{name}:",
            said(
                "module {module!r} cannot be imported from {folder}: {error}",
                module=module_name,
                folder=Path.cwd(),
                error=reason(error),
            ),
        ) from error
    if not hasattr(module, attribute):
        near = difflib.get_close_matches(attribute, dir(module), n=1)
        hint = [said("Did you mean {names}?", names=f"{module_name}:{near[0]}")] if near else []
        lack = said("{module} has no {name!r}.", module=module_name, name=attribute)
        raise SettingsError(f"{name}:", lack, *hint)
    return getattr(module, attribute)


def _names_code(name: object) -> bool:
    return isinstance(name, str) and ":" in name and not Path(name).exists()


def _tokenizer(name: str) -> Any:  # noqa: ANN401
    if _names_code(name):
        return imported(name)()
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(name)


def _data(given: Any, name: str) -> Any:  # noqa: ANN401
    """A dataset by file, by name on the hub, or made by a function."""
    from datasets import Dataset, load_dataset

    if isinstance(given, dict):
        return load_dataset(**{"split": "train", **given})
    if isinstance(given, list):
        return _rows(given, name)
    if _names_code(given):
        made = imported(given)()
        return _rows(made, name) if isinstance(made, list) else made
    file = Path(given)
    if file.suffix in _LOADERS:
        if not file.is_file():
            raise SettingsError(f"{name}:", said("there is no file {file}", file=file))
        return getattr(Dataset, _LOADERS[file.suffix])(str(file))
    return load_dataset(given, split="train")


def _rows(made: list[Any], name: str) -> Any:  # noqa: ANN401
    from datasets import Dataset

    column = "text" if name == "perplexity_dataset" else "prompt"
    return Dataset.from_list([row if isinstance(row, dict) else {column: row} for row in made])


def _typed(config_class: Any, settings: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """Settings in the types of their fields: YAML reads ``1e-6`` as text and ``007`` as a number."""
    hints = typing.get_type_hints(config_class)
    return {name: _as(hints.get(name), value, name) for name, value in settings.items()}


def _as(hint: Any, value: Any, name: str) -> Any:  # noqa: ANN401
    """A value in one of the types of a hint.

    Raises:
        SettingsError: When it can be none of them.
    """
    is_union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    kinds = set(typing.get_args(hint)) if is_union else {hint}
    of_list = next((k for k in kinds if typing.get_origin(k) is list), None)
    if of_list is not None and value is not None and str not in kinds:
        (inner,) = typing.get_args(of_list)
        return [_as(inner, part, name) for part in (value if isinstance(value, list) else [value])]
    if kinds & {float, int} and value is not None:
        return _number(value, name, whole=float not in kinds)
    if value is False and any(isinstance(k, type) and issubclass(k, enum.Enum) for k in kinds):
        # YAML takes the word that switches a strategy off for a truth value.
        return "no"
    if kinds <= {bool, type(None)} and not isinstance(value, bool | None):
        raise SettingsError(said("{name} must be true or false, not {value!r}", name=name, value=value))
    if isinstance(value, int | float) and not isinstance(value, bool) and kinds <= {str, type(None)}:
        return str(value)
    return value


def _number(value: Any, name: str, *, whole: bool) -> float:  # noqa: ANN401
    if isinstance(value, bool | list | dict):
        raise SettingsError(
            said(
                "{name} must be one number, not {value!r}"
                if isinstance(value, list)
                else "{name} must be a number, not {value!r}",
                name=name,
                value=value,
            )
        )
    try:
        number = float(value)
    except ValueError:
        raise SettingsError(said("{name} must be a number, not {value!r}", name=name, value=value)) from None
    if isinstance(value, str):
        return int(number) if whole and number.is_integer() else number
    return typing.cast("float", value)
