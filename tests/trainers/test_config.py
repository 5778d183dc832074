import dataclasses

import pytest

from holter import GRPOConfig, GRPOTrainer, PPOTrainer
from holter.errors import SettingsError, UnknownNameError


def config(**settings):
    return GRPOConfig(output_dir="out", use_cpu=True, **settings)


def test_the_snippets_of_trls_logging_page_run():
    assert GRPOConfig("out", report_to="tensorboard", logging_dir="logs").report_to == ["tensorboard"]
    pytest.importorskip("wandb")
    assert GRPOConfig("out", report_to="wandb").report_to == ["wandb"]


def test_the_run_folder_is_the_default_and_a_logging_dir_adds_tensorboard():
    assert config().report_to == ["holter"]
    assert config(logging_dir="logs").report_to == ["holter", "tensorboard"]
    assert config(report_to="none").report_to == []
    assert {"holter", "tensorboard"} <= set(config(report_to="all").report_to)
    assert config(report_to=["tensorboard", "holter"]).report_to == ["holter", "tensorboard"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"num_generation": 4}, "no setting 'num_generation'. Did you mean num_generations"),
        ({"max_new_tokens": 4}, "max_new_tokens is called max_completion_length here"),
        ({"use_vllm": True}, "use_vllm=True is not supported: completions are sampled in the training process"),
        ({"vllm_mode": "server"}, "not supported"),
        ({"top_entropy_quantile": 0.2}, "top_entropy_quantile=0.2 is not supported: all completion tokens"),
        ({"wandb_log_unique_prompts": True}, "is called log_unique_prompts here"),
        ({"loss_type": "grpoo"}, "loss_type must be one of grpo, bnpo, dr_grpo, dapo"),
        ({"scale_rewards": "groups"}, "scale_rewards must be one of"),
        ({"importance_sampling_level": "word"}, "importance_sampling_level must be one of token, sequence"),
        ({"temperature": 0.0}, "temperature must be positive"),
        ({"top_p": 1.5}, "top_p must lie in"),
        ({"min_p": -1.0}, "min_p must lie in"),
        ({"eval_steps": 5}, "eval_steps=5 has no effect: set eval_strategy='steps' too"),
        ({"report_to": "holter", "logging_dir": "x"}, "add 'tensorboard' to report_to"),
        ({"num_generations": 3}, "do not make whole groups of num_generations=3"),
        ({"num_generations": 1}, "at least 2"),
        ({"generation_batch_size": 12}, "must be a multiple of the 8 completions"),
        ({"generation_batch_size": 16, "steps_per_generation": 4}, "contradict each other"),
        ({"delta": 1.1}, "must be above 1 \\+ epsilon_high = 1.2"),
        ({"beta": -0.1}, "beta must not be negative"),
        ({"beta": float("nan")}, "beta must not be negative, not nan"),
        ({"beta": "small"}, "GRPOConfig: beta must be a number, not 'small'"),
        ({"learning_rate": "fast"}, "learning_rate must be a number, not 'fast'"),
        ({"auto_find_batch_size": True}, "auto_find_batch_size"),
        ({"use_liger_loss": True, "entropy_coef": 0.1}, "knows no entropy bonus"),
        ({"bf16": True, "fp16": True}, "exclude each other"),
        ({"fp16": True}, "fp16 has no effect on a CPU"),
        (
            {"lr_scheduler_kwargs": {"num_cycle": 2}, "lr_scheduler_type": "cosine"},
            "lr_scheduler_kwargs={'num_cycle': 2} does not go with lr_scheduler_type='cosine': got an unexpected keyword",
        ),
        ({"lr_scheduler_type": "cosine_with_min_lr"}, "lr_scheduler_kwargs=None does not go with"),
        (
            {"lr_scheduler_kwargs": {"lr_end": 1.0}, "lr_scheduler_type": "polynomial"},
            "lr_scheduler_kwargs={'lr_end': 1.0} does not go with lr_scheduler_type='polynomial'",
        ),
        (
            {"lr_scheduler_kwargs": {"power": 2.0}, "lr_scheduler_type": "cosine_with_min_lr"},
            "lr_scheduler_kwargs={'power': 2.0} does not go with lr_scheduler_type='cosine_with_min_lr'",
        ),
    ],
)
def test_wrong_settings_are_refused_with_the_way_out(settings, said):
    with pytest.raises(SettingsError, match=said):
        config(**settings)


def test_numbers_that_are_written_as_texts_are_numbers():
    found = config(beta="4e-2", num_generations="4", learning_rate="1e-5")
    assert (found.beta, found.num_generations, found.learning_rate) == (0.04, 4, 1e-5)


@pytest.mark.parametrize(
    ("schedule", "arguments"),
    [
        ("cosine", {"num_cycles": 0.5}),
        ("cosine_with_restarts", {"num_cycles": 3}),
        ("cosine_with_min_lr", {"min_lr_rate": 0.1}),
        ("cosine_warmup_with_min_lr", {"min_lr_rate": 0.1}),
        ("polynomial", {"lr_end": 1e-9, "power": 2.0}),
        ("inverse_sqrt", {"timescale": 100}),
        ("reduce_lr_on_plateau", {"factor": 0.5}),
        ("warmup_stable_decay", {"num_decay_steps": 100, "min_lr_ratio": 0.1}),
        ("cosine", '{"num_cycles": 0.5}'),
    ],
)
def test_arguments_that_a_schedule_has_are_taken(schedule, arguments):
    extra = (
        {"eval_strategy": "no"} if schedule != "reduce_lr_on_plateau" else {"eval_strategy": "steps", "eval_steps": 1}
    )
    assert config(lr_scheduler_type=schedule, lr_scheduler_kwargs=arguments, **extra).lr_scheduler_kwargs


def test_an_unknown_tracker_is_refused_with_the_nearest_one():
    with pytest.raises(UnknownNameError, match="Did you mean tensorboard"):
        config(report_to="tensorbord")


def test_every_setting_of_trl_is_known_and_accepted_where_it_asks_for_nothing():
    trl = pytest.importorskip("trl", minversion="1.16")
    ours = {f.name for f in dataclasses.fields(GRPOConfig)}
    for theirs in dataclasses.fields(trl.GRPOConfig):
        if theirs.name not in ours:
            config(**{theirs.name: theirs.default})
            with pytest.raises(SettingsError, match=f"{theirs.name}='something' is not supported: "):
                config(**{theirs.name: "something"})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tokenizer", "tokenizer is called processing_class here"),
        ("policy", "policy is called model here"),
        ("environment_factory", "environment_factory=1 is not supported: models here read and write text"),
        ("reward_func", "no argument 'reward_func'. Did you mean reward_funcs"),
        ("zzz", "no argument 'zzz'. It takes .*reward_funcs"),
    ],
)
@pytest.mark.parametrize("trainer", [GRPOTrainer, PPOTrainer])
def test_wrong_arguments_are_refused_with_the_right_name(trainer, name, said):
    with pytest.raises(SettingsError, match=f"{trainer.__name__}.*{said}"):
        trainer(**{name: 1})


def test_settings_of_trl_that_ask_for_nothing_are_accepted():
    made = config(use_vllm=False, sync_ref_model=False, generation_kwargs=None, router_aux_loss_coef=0.0)
    assert not hasattr(made, "use_vllm")


def test_sizes_follow_from_each_other():
    made = config(per_device_train_batch_size=4, gradient_accumulation_steps=4)
    assert (made.steps_per_generation, made.generation_batch_size) == (4, 16)
    made = config(per_device_train_batch_size=4, generation_batch_size=32)
    assert (made.steps_per_generation, made.generation_batch_size) == (8, 32)


def test_true_and_false_scale_rewards_as_in_old_snippets():
    assert config(scale_rewards=True).scale_rewards == "group"
    assert config(scale_rewards=False).scale_rewards == "none"


def test_there_is_evaluation_at_the_start_where_there_is_evaluation():
    assert not config().eval_on_start
    assert config(eval_strategy="steps", eval_steps=5).eval_on_start
    assert not config(eval_strategy="steps", eval_steps=5, eval_on_start=False).eval_on_start


def test_a_nan_loss_is_not_filtered_by_default():
    assert config().logging_nan_inf_filter is False


def test_every_setting_of_ours_has_a_help_text():
    theirs = {f.name for f in dataclasses.fields(__import__("transformers").TrainingArguments)}
    without = [f.name for f in dataclasses.fields(GRPOConfig) if f.name not in theirs and not f.metadata.get("help")]
    assert not without


def test_settings_are_read_from_a_command_line_as_transformers_reads_them():
    from transformers import HfArgumentParser

    words = ["--output_dir", "x", "--beta", "0.1", "--report_to", "none", "--use_cpu", "true", "--loss_type", "grpo"]
    (made,) = HfArgumentParser(GRPOConfig).parse_args_into_dataclasses(words)
    assert (made.beta, made.report_to, made.loss_type) == (0.1, [], "grpo")
    assert dataclasses.replace(made, beta=0.2).beta == 0.2
