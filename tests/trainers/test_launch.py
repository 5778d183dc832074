"""``holter train``: a configuration file, overridden on the command line."""

import copy
import json
from pathlib import Path

import pytest
import tiny_world
import yaml
from click.testing import CliRunner

from holter import GRPOConfig
from holter.cli import holter
from holter.cli import train as command_module
from holter.errors import SettingsError
from holter.store import reading
from holter.trainers import launch


def call(*words, algorithm="grpo"):
    return CliRunner().invoke(holter, ["train", algorithm, *map(str, words)])


@pytest.fixture
def config(tmp_path, monkeypatch, taught):
    """Writes a configuration that runs; entries may be given, None takes one out."""
    monkeypatch.syspath_prepend(str(Path(tiny_world.__file__).parent))
    monkeypatch.setattr(tiny_world, "policy", lambda: copy.deepcopy(taught))

    def write(**entries):
        prompts = tmp_path / "prompts.jsonl"
        prompts.write_text("\n".join(json.dumps({"prompt": p}) for p in tiny_world.prompts(16)))
        (tmp_path / "texts.txt").write_text("\n".join(tiny_world.texts(4)))
        said = {
            "model": "tiny_world:policy",
            "processing_class": "tiny_world:tokenizer",
            "reward_funcs": ["tiny_world:cheerfulness", "tiny_world:quality"],
            "reward_weights": [1.0, 0.0],
            "train_dataset": str(prompts),
            "output_dir": str(tmp_path / "out"),
            "use_cpu": True,
            "max_steps": 3,
            "max_completion_length": 12,
            "learning_rate": "1e-3",
            "save_strategy": "no",
            "disable_tqdm": True,
            **entries,
        }
        file = tmp_path / "config.yaml"
        file.write_text(yaml.safe_dump({k: v for k, v in said.items() if v is not None}))
        return file

    return write


def test_a_configuration_trains_and_the_command_line_overrides_it(config, tmp_path):
    file = config(
        eval_dataset=["about the dog :", "about my cat :"],
        perplexity_dataset=str(tmp_path / "texts.txt"),
        alignment_scorers={"quality": "tiny_world:quality"},
        eval_strategy="steps",
        eval_steps=2,
        per_device_eval_batch_size=8,
    )
    result = call(file, "--max_steps", "2", "--beta=0.1", "--run-name", 7)
    assert result.exit_code == 0, result.output
    folder = tmp_path / "out" / "holter"
    assert f"holter check {folder}" in result.output
    manifest = reading.segments(folder)[0].manifest
    assert (manifest.config["max_steps"], manifest.config["beta"], manifest.name) == (2, 0.1, "7")
    assert manifest.config["learning_rate"] == 1e-3
    rows = list(reading.rows(folder))
    assert [int(r.step) for r in rows] == [0, 1, 2, 2]
    assert {"eval/perplexity", "eval/alignment/quality"} <= set(rows[0].values)
    assert (tmp_path / "out" / "model.safetensors").exists()


def test_a_run_is_resumed_by_a_word(config, tmp_path):
    file = config(save_strategy="steps", save_steps=2)
    assert call(file, "--max_steps", 2).exit_code == 0
    result = call(file, "--resume")
    assert result.exit_code == 0, result.output
    assert [int(r.step) for r in reading.rows(tmp_path / "out" / "holter")] == [1, 2, 3]


def test_an_adapter_is_a_few_lines(config, tmp_path):
    pytest.importorskip("peft")
    result = call(config(peft={"r": 2, "target_modules": ["q_proj"]}, max_steps=1))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "adapter_model.safetensors").exists()


def test_ppo_trains_from_a_file_with_models_that_code_makes(config, tmp_path):
    file = config(
        max_completion_length=None,
        response_length=12,
        ref_model="tiny_world:policy",
        per_device_train_batch_size=4,
        gradient_accumulation_steps=1,
    )
    result = call(file, "--num_ppo_epochs", 2, "--kl_coef", "0.1", algorithm="ppo")
    assert result.exit_code == 0, result.output
    folder = tmp_path / "out" / "holter"
    manifest = reading.segments(folder)[0].manifest
    assert (manifest.algorithm, manifest.config["num_ppo_epochs"]) == ("ppo", 2)
    assert [int(r.step) for r in reading.rows(folder)] == [1, 2, 3]
    assert (tmp_path / "out" / "value_model").is_dir()


@pytest.mark.parametrize(
    ("algorithm", "fields", "text", "foreign"),
    [
        ("grpo", ["--num_generations", "--beta"], "Completions of each prompt: the size of a group.", "--kl_coef"),
        ("ppo", ["--num_ppo_epochs", "--kl_coef", "value_model"], "Optimizer steps of each time.", "--num_generations"),
    ],
)
def test_help_lists_every_setting_with_its_text(algorithm, fields, text, foreign):
    result = call("--help", algorithm=algorithm)
    assert result.exit_code == 0
    for field in (*fields, "--report_to", "--learning_rate", "--logging_dir", "reward_funcs"):
        assert field in result.output
    assert text in " ".join(result.output.split())
    assert foreign not in result.output
    ours, theirs = result.output.split("Settings of transformers.TrainingArguments")
    assert fields[0] in ours
    assert "--adam_beta1" in theirs


def test_help_without_the_training_extra_says_how_to_get_it(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(Exception, match=r"pip install 'holter\[train\]'"):
        command_module._from_holter("GRPOConfig")


@pytest.mark.parametrize(
    ("entries", "words", "said"),
    [
        ({"model": None}, (), "model is missing. Name or path of the policy"),
        ({"reward_funcs": None}, (), "reward_funcs is missing"),
        ({"reward_func": "a:b"}, (), "unknown 'reward_func'. Did you mean reward_funcs"),
        ({"num_generation": 4}, (), "no setting 'num_generation'. Did you mean num_generations"),
        (
            {"reward_funcs": "tiny_world:cheerfulnes"},
            (),
            "tiny_world has no 'cheerfulnes'. Did you mean tiny_world:cheerfulness",
        ),
        ({"reward_funcs": "no_such_module:f"}, (), "module 'no_such_module' cannot be imported"),
        ({"train_dataset": "nowhere.jsonl"}, (), "there is no file nowhere.jsonl"),
        ({"learning_rate": "fast"}, (), "learning_rate must be a number, not 'fast'"),
        ({}, ("stray",), "'stray' follows no setting"),
        ({}, ("--max_steps", "2", "stray"), "max_steps must be one number, not [2, 'stray']"),
        ({}, ("--learning_rate",), "learning_rate must be a number, not True"),
        ({}, ("--bf16", "maybe"), "bf16 must be true or false, not 'maybe'"),
        ({}, ("--optim", "none_such"), "config.yaml: none_such is not a valid OptimizerNames"),
        ({"model": "no/where"}, (), "model 'no/where' cannot be loaded"),
        ({"reward_funcs": ["no/where", "tiny_world:quality"]}, (), "reward model 'no/where' cannot be loaded"),
        ({"value_model": "no/where"}, (), "no setting 'value_model'"),
    ],
)
def test_what_is_wrong_is_said_with_the_way_out(config, entries, words, said):
    result = call(config(**entries), *words)
    assert result.exit_code != 0
    assert isinstance(result.exception, SettingsError)
    assert said in str(result.exception)


@pytest.mark.parametrize(
    ("text", "said"), [("a: [1", "config.yaml:"), ("- a\n- b", "list of `name: value` lines"), ("3", "list of")]
)
def test_a_file_that_is_no_configuration_is_refused_by_its_line(tmp_path, text, said):
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError, match=said):
        launch.read_config(file)


def test_words_become_settings_of_the_right_type():
    said = launch.overrides(["--a", "1e-6", "--flag", "--b=[1, 2]", "--some-name", "x", "--c", "-3"])
    assert said == {"a": "1e-6", "flag": True, "b": [1, 2], "some_name": "x", "c": -3}
    typed = launch._typed(
        GRPOConfig, {"learning_rate": "1e-6", "max_steps": "1e3", "run_name": 7, "beta": 1, "seed": 3}
    )
    assert typed == {"learning_rate": 1e-6, "max_steps": 1000, "run_name": "7", "beta": 1, "seed": 3}
    assert isinstance(typed["max_steps"], int)


def test_lists_and_settings_within_settings_can_be_said_on_the_command_line():
    said = launch.overrides(["--reward_weights", "1", "5e-1", "--peft.r", "4", "--peft.target-modules", "[q_proj]"])
    assert said == {"reward_weights": [1, "5e-1"], "peft": {"r": 4, "target_modules": ["q_proj"]}}
    assert launch.merged({"peft": {"r": 8, "lora_alpha": 16}}, said)["peft"] == {
        "r": 4,
        "lora_alpha": 16,
        "target_modules": ["q_proj"],
    }
    typed = launch._typed(GRPOConfig, {"reward_weights": [1, "5e-1"], "report_to": ["holter", "tensorboard"]})
    assert typed == {"reward_weights": [1, 0.5], "report_to": ["holter", "tensorboard"]}
    assert launch._typed(GRPOConfig, {"reward_weights": "2"}) == {"reward_weights": [2.0]}


def test_the_word_no_is_a_strategy_and_no_truth_value():
    said = {"save_strategy": False, "eval_strategy": False, "bf16": False, "scale_rewards": False, "eval_steps": None}
    assert launch._typed(GRPOConfig, said) == {**said, "save_strategy": "no", "eval_strategy": "no"}
