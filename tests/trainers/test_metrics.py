"""What a row holds, that it is the same however the batch is cut, and what it costs to look at."""

import math

import pytest
import tiny_world
import torch

DOCUMENTED = {
    "num_tokens",
    *(f"completions/{which}_{infix}length" for which in ("mean", "min", "max") for infix in ("", "terminated_")),
    "completions/clipped_ratio",
    "rewards/cheerfulness/mean",
    "rewards/cheerfulness/std",
    "reward",
    "reward_std",
    "kl",
    "entropy",
    *(f"clip_ratio/{name}" for name in ("low_mean", "low_min", "high_mean", "high_max", "region_mean")),
    "frac_reward_zero_std",
    "step_time",
}
BESIDES = {
    "loss",
    "grad_norm",
    "learning_rate",
    "epoch",
    "objective/kl_coef",
    "advantages/mean",
    "advantages/std",
    "advantages/abs_max",
    "val/ratio",
    "val/ratio_var",
    "val/ratio_min",
    "val/ratio_max",
    "policy/approxkl_avg",
    "policy/kl_k1_avg",
    "reward_group_std",
    "reward/nan_fraction",
    "reward/min",
    "reward/max",
    "completions/eos_ratio",
    "throughput/tokens_per_s",
    "throughput/gen_tokens_per_s",
    "sampling/sampling_logp_difference/mean",
    "sampling/sampling_logp_difference/max",
    *(f"time/{phase}" for phase in ("rollout", "reward", "reference", "forward", "backward", "optimizer", "train")),
}
TIMED = ("time", "throughput")


def numbers(row):
    return {k: v for k, v in row.items() if not k.startswith(TIMED) and k not in ("step_time", "loss", "grad_norm")}


def replayed(trainer, completions):
    """Give the trainer these completions instead of what it would sample."""
    given = iter(completions)
    trainer.complete = lambda prompts: next(given)
    return trainer


@pytest.fixture
def remembering(grpo, trained):
    """A run, with the completions it sampled."""

    def run(**settings):
        trainer = grpo(**settings)
        kept, complete = [], trainer.complete

        def sample(prompts):
            kept.append(complete(prompts))
            return kept[-1]

        trainer.complete = sample
        return trained(trainer), kept

    return run


def test_every_documented_metric_is_in_every_row_and_what_trl_lacks_too(grpo, trained):
    rows = trained(grpo(beta=0.04))
    for row in rows:
        assert set(row) >= DOCUMENTED | BESIDES
        assert all(math.isfinite(v) for v in row.values())


def test_every_key_of_a_row_is_a_signal_of_the_catalog(grpo, trained):
    from holter.dialects.registry import detect, meaning

    row = trained(grpo(beta=0.04))[0]
    spoken = detect(row)
    assert spoken.name == "holter"
    assert [k for k in row if k != "step" and meaning(spoken, k) is None] == []


def test_there_is_no_kl_without_a_reference(grpo, trained):
    trainer = grpo(beta=0.0)
    row = trained(trainer)[0]
    assert trainer.reference is None
    assert not {"kl", "objective/kl_coef", "time/reference"} & set(row)


@pytest.mark.parametrize(
    "settings",
    [
        {"loss_type": "grpo", "importance_sampling_level": "sequence", "scale_rewards": "batch"},
        {"loss_type": "dr_grpo", "mask_truncated_completions": True, "max_completion_length": 13},
        {"loss_type": "dapo", "entropy_coef": 0.02, "delta": 1.5, "top_p": 0.9, "temperature": 0.8},
    ],
)
@pytest.mark.parametrize("parts", [2, 8])
def test_the_same_batch_cut_into_other_micro_batches_gives_the_same_numbers(
    remembering, grpo, trained, taught, settings, parts
):
    import copy

    shared = {"beta": 0.04, "num_generations": 4, "max_steps": 3, "num_iterations": 2, **settings}
    whole, completions = remembering(per_device_train_batch_size=8, **shared)
    cut = {"per_device_train_batch_size": 8 // parts, "gradient_accumulation_steps": parts}
    again = trained(replayed(grpo(model=copy.deepcopy(taught), **shared, **cut), completions))
    for row, other in zip(whole, again, strict=True):
        assert numbers(row) == pytest.approx(numbers(other), rel=1e-5, abs=1e-5)
        assert row["loss"] == pytest.approx(other["loss"], rel=1e-5, abs=1e-5)
        assert row["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-4, abs=1e-5)


def test_padding_on_the_other_side_gives_the_same_numbers(remembering, grpo, trained, taught, monkeypatch):
    import copy

    from holter.trainers import buffer, on_policy
    from holter.trainers.scoring import sequences

    whole, completions = remembering(beta=0.04, max_steps=3)

    def left(*args, **options):
        return sequences(*args, **{**options, "padding": "left"})

    monkeypatch.setattr(buffer, "sequences", left)
    monkeypatch.setattr(on_policy, "sequences", left)
    again = trained(replayed(grpo(model=copy.deepcopy(taught), beta=0.04, max_steps=3), completions))
    for row, other in zip(whole, again, strict=True):
        assert numbers(row) == pytest.approx(numbers(other), rel=1e-5, abs=1e-5)
        assert row["loss"] == pytest.approx(other["loss"], rel=1e-5, abs=1e-5)


def test_a_row_of_several_steps_merges_their_tokens_and_keeps_their_extremes(remembering, grpo, trained, taught):
    import copy

    single, completions = remembering(beta=0.04, max_steps=4)
    rows = trained(replayed(grpo(model=copy.deepcopy(taught), beta=0.04, max_steps=4, logging_steps=4), completions))
    assert len(rows) == 1
    tokens = [r["completions/mean_length"] for r in single]
    weighted = sum(r["entropy"] * n for r, n in zip(single, tokens, strict=True)) / sum(tokens)
    assert rows[0]["entropy"] == pytest.approx(weighted, rel=1e-5)
    assert rows[0]["completions/max_length"] == max(r["completions/max_length"] for r in single)
    assert rows[0]["loss"] == pytest.approx(sum(r["loss"] for r in single) / 4, abs=1e-6)


class Looks:
    """Counts how often the host waits for a tensor, while it is told to."""

    def __init__(self, monkeypatch):
        self.count, self.during = 0, {}
        self.counting, self.monkeypatch = False, monkeypatch
        for name in ("item", "tolist", "__bool__", "__float__", "__int__", "__index__", "cpu", "numpy"):
            monkeypatch.setattr(torch.Tensor, name, self.counted(getattr(torch.Tensor, name)))

    def counted(self, method):
        def look(tensor, *args, **options):
            self.count += self.counting
            self.counting, before = False, self.counting
            try:
                return method(tensor, *args, **options)
            finally:
                self.counting = before

        return look

    def watch(self, owner, name):
        """Count in this method of `owner`."""
        method = getattr(owner, name)
        self.during[name] = 0

        def watched(*args, **options):
            before, self.counting = self.count, True
            try:
                return method(*args, **options)
            finally:
                self.counting = False
                self.during[name] += self.count - before

        self.monkeypatch.setattr(owner, name, watched)


@pytest.mark.parametrize("parts", [1, 4])
def test_all_metrics_of_a_logged_step_cost_one_look_at_the_device(grpo, trained, monkeypatch, parts):
    trainer = grpo(beta=0.04, per_device_train_batch_size=8 // parts, gradient_accumulation_steps=parts, max_steps=3)
    trainer.args.num_completions_to_record = 0
    looks = Looks(monkeypatch)
    for name in ("_measure_rollout", "_measure_loss", "_row", "_get_grad_norm"):
        looks.watch(trainer, name)
    trained(trainer)
    assert looks.during == {"_row": 3, "_measure_rollout": 0, "_measure_loss": 0, "_get_grad_norm": 0}


def test_compatible_numbers_average_micro_batches_and_the_usual_ones_average_tokens(remembering, grpo, trained, taught):
    import copy

    settings = {"beta": 0.0, "per_device_train_batch_size": 2, "gradient_accumulation_steps": 4, "max_steps": 1}
    usual, completions = remembering(**settings)
    torch.manual_seed(0)
    again = replayed(grpo(model=copy.deepcopy(taught), trl_compatible_metrics=True, **settings), completions)
    compatible = trained(again)
    assert compatible[0]["reward"] == pytest.approx(usual[0]["reward"])
    assert compatible[0]["entropy"] != pytest.approx(usual[0]["entropy"], abs=1e-4)


def test_a_nan_reward_is_counted_and_harms_nobody_else(grpo, trained):
    def sometimes(completions, **_):
        return [float("nan") if i % 4 == 0 else float(len(c)) for i, c in enumerate(completions)]

    rows = trained(grpo([sometimes], beta=0.0))
    assert rows[0]["reward/nan_fraction"] == 0.25
    assert math.isfinite(rows[0]["reward"])
    assert math.isfinite(rows[0]["loss"])


@pytest.mark.parametrize("filtered", [False, True])
def test_a_nan_loss_reaches_the_row(grpo, trained, policy, filtered):
    trainer = grpo(beta=0.04, max_steps=1, logging_nan_inf_filter=filtered)
    with torch.no_grad():
        next(trainer.reference.parameters()).fill_(float("nan"))
    row = trained(trainer)[0]
    assert math.isnan(row["loss"])
    assert math.isnan(row["kl"])
    assert math.isnan(row["grad_norm"])


def test_a_zero_weight_makes_a_function_evidence(grpo, trained):
    rows = trained(grpo([tiny_world.cheerfulness, tiny_world.quality], reward_weights=[1.0, 0.0], beta=0.0))
    assert rows[0]["reward"] == pytest.approx(rows[0]["rewards/cheerfulness/mean"])
    assert rows[0]["rewards/quality/mean"] > 0


def test_what_reward_functions_log_is_in_the_row_and_the_samples(grpo, trained):
    def talks(completions, log_metric, log_extra, trainer_state, **_):
        log_metric("my/metric", float(len(completions)))
        log_extra("shouted", [c.upper() for c in completions])
        return [0.0] * len(completions)

    trainer = grpo([talks], beta=0.0, max_steps=1, report_to="holter")
    shown = []
    trainer.report.samples = lambda rows, **_: shown.extend(rows)
    assert trained(trainer)[0]["my/metric"] == 8.0
    assert len(shown) == 8
    assert shown[0]["shouted"] == shown[0]["completion"].upper()
    assert {"prompt", "completion", "rewards/talks", "reward", "advantage", "group", "truncated"} <= set(shown[0])


def test_completions_that_nobody_takes_are_not_looked_at(grpo, trained, monkeypatch):
    trainer = grpo(max_steps=2, report_to="none", log_completions=False)
    taken = []
    monkeypatch.setattr(trainer.metrics, "record_samples", taken.append)
    monkeypatch.setattr(trainer.metrics, "dump_samples", taken.append)
    assert trained(trainer)
    assert taken == []


@pytest.mark.parametrize("parts", [1, 4])
def test_an_entropy_bonus_is_told_apart_from_the_loss_of_the_policy(grpo, trained, parts):
    settings = {"per_device_train_batch_size": 8 // parts, "gradient_accumulation_steps": parts}
    for row in trained(grpo(beta=0.04, entropy_coef=0.3, **settings)):
        assert row["entropy_coef"] == 0.3
        assert row["loss"] == pytest.approx(row["loss/policy_avg"] - 0.3 * row["entropy"], abs=1e-5)
