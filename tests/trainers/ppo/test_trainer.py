"""What one update does and logs."""

import copy
import json
import math
import types

import pytest
import tiny_world
import torch

from holter.errors import SettingsError

from ..test_metrics import Looks

MEASURED = ("completions", "rollout", "update", "updated")
DOCUMENTED = [
    "eps",
    "objective/kl",
    "objective/entropy",
    "objective/non_score_reward",
    "objective/rlhf_reward",
    "objective/scores",
    "policy/approxkl_avg",
    "policy/clipfrac_avg",
    "loss/policy_avg",
    "loss/value_avg",
    "val/clipfrac_avg",
    "policy/entropy_avg",
    "val/ratio",
    "val/ratio_var",
    "val/num_eos_tokens",
    "lr",
    "episode",
]
BESIDES = [
    "grad_norm",
    "critic/grad_norm",
    "critic/lr",
    "objective/kl_coef",
    "explained_variance",
    "advantages/mean",
    "advantages/std",
    "advantages/abs_max",
    "val/ratio_min",
    "val/ratio_max",
    "policy/kl_k1_avg",
    "policy/kl_k3_avg",
    "reward/nan_fraction",
    "reward/min",
    "reward/max",
    "completions/mean_length",
    "completions/clipped_ratio",
    "completions/eos_ratio",
    "value/mean",
    "value/error",
    "throughput/tokens_per_s",
    "time/rollout",
    "time/reward",
    "time/reference",
    "time/value",
    "time/forward",
    "time/backward",
    "time/optimizer",
    "step_time",
    "num_tokens",
    "policy/update_fraction",
]


def test_every_documented_name_is_logged_in_every_row(ppo, trained):
    for row in trained(ppo(missing_eos_penalty=1.0)):
        assert not {*DOCUMENTED, *BESIDES} - row.keys()
        assert all(math.isfinite(row[name]) for name in (*DOCUMENTED, *BESIDES))


def test_identities_hold(ppo, trained):
    for number, row in enumerate(trained(ppo(kl_coef=0.3, max_steps=3)), start=1):
        assert row["objective/non_score_reward"] == pytest.approx(-0.3 * row["objective/kl"], rel=1e-5)
        total = row["objective/scores"] + row["objective/non_score_reward"]
        assert row["objective/rlhf_reward"] == pytest.approx(total, rel=1e-5, abs=1e-6)
        assert row["episode"] == 16 * number
        assert row["completions/eos_ratio"] == pytest.approx(1 - row["completions/clipped_ratio"])
        assert row["val/num_eos_tokens"] == pytest.approx(16 * row["completions/eos_ratio"])
        assert row["val/ratio_min"] <= row["val/ratio"] <= row["val/ratio_max"]
        assert row["advantages/std"] == pytest.approx(1, abs=1e-4)
        assert row["sampling/sampling_logp_difference/max"] < 1e-4


def test_episodes_a_second_are_those_of_the_row_or_as_in_trl_of_all_time(ppo, trained, monkeypatch):
    for row in trained(ppo(logging_steps=2, max_steps=4)):
        tokens = row["eps"] * row["completions/mean_length"]
        assert tokens == pytest.approx(row["throughput/tokens_per_s"])
    trainer = ppo(trl_compatible_metrics=True, max_steps=3)
    trainer._began = 100.0
    monkeypatch.setattr("holter.trainers.ppo.time", types.SimpleNamespace(perf_counter=lambda: 110.0))
    assert [row["eps"] for row in trained(trainer)] == [1, 3, 4]


def test_a_reference_that_is_the_policy_has_no_kl_at_first(ppo, trained):
    first = trained(ppo(max_steps=1))[0]
    assert first["objective/kl"] == pytest.approx(0, abs=1e-4)


def test_a_missing_end_costs(ppo, trained):
    rows = trained(ppo(response_length=3, missing_eos_penalty=2.0, max_steps=1, rewards=[_one]))
    assert rows[0]["completions/clipped_ratio"] == 1.0
    assert rows[0]["objective/scores"] == -1.0
    assert rows[0]["rewards/_one/mean"] == 1.0


def test_a_function_of_weight_zero_is_evidence_only(ppo, trained):
    rows = trained(ppo([_one, tiny_world.quality], reward_weights=[1.0, 0.0], max_steps=1))
    assert rows[0]["objective/scores"] == 1.0
    assert 0 < rows[0]["rewards/quality/mean"] < 1


def test_nothing_stops_completions_when_nothing_is_to(ppo, trained):
    row = trained(ppo(stop_token="none", max_steps=1))[0]
    assert row["completions/min_length"] == row["completions/max_length"] == 24
    assert row["val/num_eos_tokens"] > 0


def test_any_token_can_stop(ppo, trained):
    full_stop = tiny_world.IDS["."]
    trainer = ppo(stop_token_id=full_stop, max_steps=1)
    assert trained(trainer)[0]["completions/mean_length"] < 12
    assert trainer.sampling.ends == (full_stop,)


def test_a_score_that_is_no_number_is_left_out_and_counted(ppo, trained):
    rows = trained(ppo([_sometimes_nan], max_steps=2))
    for row in rows:
        assert 0 < row["reward/nan_fraction"] < 1
        numbers = [v for k, v in row.items() if isinstance(v, float)]
        assert all(map(math.isfinite, numbers))


def test_no_score_at_all_teaches_nothing(ppo, trained):
    trainer = ppo([_always_nan], max_steps=1)
    before = {n: p.clone() for n, p in trainer.policy.named_parameters()}
    row = trained(trainer)[0]
    assert row["reward/nan_fraction"] == 1.0
    assert "objective/scores" not in row
    for name, parameter in trainer.policy.named_parameters():
        assert torch.equal(parameter, before[name]), name


def test_a_policy_that_is_no_number_is_an_error_that_says_so(ppo, trained, policy):
    from holter.trainers.rollout import SamplingError

    with torch.no_grad():
        policy.lm_head.weight[7] = math.nan
    with pytest.raises(SamplingError, match="weights are broken"):
        trained(ppo(max_steps=1))


@pytest.mark.parametrize(("target", "done"), [(1e-4, 1), (1e4, 6), (None, 6)])
def test_an_update_ends_when_the_policy_has_moved_far_enough(ppo, trained, target, done):
    # The first of the six passes never has a KL; the second, after one step, has one.
    row = trained(ppo(num_ppo_epochs=6, learning_rate=5e-3, max_steps=1, target_kl=target))[0]
    assert row["policy/update_fraction"] == pytest.approx(done / 6)


def test_a_mini_batch_that_finds_the_policy_too_far_away_does_not_move_it_further(ppo, trained, taught):
    weights, rows = [], []
    for settings in ({"num_ppo_epochs": 1}, {"num_ppo_epochs": 6, "target_kl": 1e-4}):
        trainer = ppo(model=copy.deepcopy(taught), learning_rate=5e-3, max_steps=1, **settings)
        rows.append(trained(trainer))
        weights.append({**trainer.policy.state_dict(), **trainer.both.value_model.state_dict()})
    for name, tensor in weights[0].items():
        assert torch.equal(tensor, weights[1][name]), name
    for row, ended in zip(*rows, strict=True):
        assert (ended["grad_norm"], ended["lr"]) == (row["grad_norm"], row["lr"])
        # What stopped the update is to be seen, and so is the loss that it had.
        assert ended["policy/kl_k3_avg"] > 1e-4 > row["policy/kl_k3_avg"]
        assert math.isfinite(ended["loss"])


def test_the_coefficient_is_led_towards_the_target(ppo, trained):
    rows = trained(ppo(kl_coef=0.2, kl_target=1e-3, kl_horizon=100, max_steps=3, learning_rate=3e-3))
    used = [row["objective/kl_coef"] for row in rows]
    assert used[0] == pytest.approx(0.2)
    # No drift yet: the coefficient falls by 20 % x 16 / 100; then there is more than wanted.
    assert used[1] == pytest.approx(0.2 * (1 - 0.2 * 0.16), rel=1e-5)
    assert used[2] == pytest.approx(used[1] * (1 + 0.2 * 0.16), rel=1e-5)


def test_the_estimator_is_the_one_asked_for(ppo, trained):
    rows = trained(ppo(kl_estimator="k3", max_steps=4, learning_rate=3e-3))
    assert all(row["objective/kl"] >= 0 for row in rows)


def test_gradients_are_clipped_and_their_norms_logged_before(ppo, trained):
    trainer = ppo(max_grad_norm=1e-3, max_steps=1, num_ppo_epochs=1)
    norms = []
    step = torch.optim.AdamW.step

    def watching(self, *args, **kwargs):
        of_policy, of_value = (
            torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in parameters if p.grad is not None]))
            for parameters in (trainer.policy.parameters(), trainer.both.value_parameters())
        )
        norms.append((float(of_policy), float(of_value)))
        return step(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "step", watching)
        row = trained(trainer)[0]
    assert norms == [(pytest.approx(1e-3, rel=1e-2), pytest.approx(1e-3, rel=1e-2))]
    assert row["grad_norm"] > 0.01
    assert row["critic/grad_norm"] > 0.01


def test_the_value_function_has_a_learning_rate_of_its_own(ppo, trained):
    trainer = ppo(value_learning_rate=5e-3, max_steps=1)
    row = trained(trainer)[0]
    assert (row["lr"], row["critic/lr"]) == (1e-3, 5e-3)
    rates = {g["lr"] for g in trainer.optimizer.param_groups}
    assert rates == {1e-3, 5e-3}
    grouped = sum(len(g["params"]) for g in trainer.optimizer.param_groups)
    assert grouped == len(list(trainer.both.parameters()))


def test_the_schedule_steps_once_an_update(ppo, trained):
    rows = trained(ppo(lr_scheduler_type="linear", max_steps=4, num_ppo_epochs=3, num_mini_batches=2))
    assert [row["lr"] for row in rows] == pytest.approx([1e-3, 0.75e-3, 0.5e-3, 0.25e-3])


@pytest.mark.parametrize(
    "size", [{"num_mini_batches": 2}, {"num_mini_batches": 16}, {"gradient_accumulation_steps": 1}]
)
def test_an_update_makes_as_many_steps_as_there_are_mini_batches(ppo, trained, size):
    trainer = ppo(max_steps=1, num_ppo_epochs=3, **size)
    steps = []
    trainer.create_optimizer()
    plain = type(trainer.optimizer).step

    def counting(self, *args, **kwargs):
        steps.append(1)
        return plain(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(trainer.optimizer), "step", counting)
        trained(trainer)
    assert len(steps) == 3 * size.get("num_mini_batches", 1)


def test_policy_and_value_function_can_share_a_trunk(ppo, trained):
    trainer = ppo(share_value_trunk=True, max_steps=2, vf_coef=0.5)
    head = trainer.both.value_head.weight.clone()
    rows = trained(trainer)
    assert not torch.equal(head, trainer.both.value_head.weight)
    assert "critic/grad_norm" not in rows[0]
    assert rows[1]["value/mean"] != 0


def test_logging_seldom_folds_what_was_seen(ppo, trained, policy):
    each = trained(ppo(max_steps=4, model=copy.deepcopy(policy)))
    both = trained(ppo(max_steps=4, model=copy.deepcopy(policy), logging_steps=2))
    assert [row["episode"] for row in both] == [32, 64]
    for folded, parts in zip(both, (each[:2], each[2:]), strict=True):
        for name in ("completions/mean_length", "objective/kl", "loss", "grad_norm", "val/num_eos_tokens"):
            assert folded[name] == pytest.approx(sum(row[name] for row in parts) / 2, rel=1e-5)
        assert folded["val/ratio_max"] == max(row["val/ratio_max"] for row in parts)


@pytest.mark.parametrize("parts", [1, 4])
def test_all_metrics_of_a_logged_update_cost_one_look_at_the_device(ppo, trained, monkeypatch, parts):
    size = {"per_device_train_batch_size": 8 // parts, "gradient_accumulation_steps": parts}
    trainer = ppo(kl_target=0.1, max_steps=3, num_completions_to_record=0, **size)
    looks = Looks(monkeypatch)
    for name in ("_row", "_get_grad_norm", "record_rates"):
        looks.watch(trainer, name)
    for name in MEASURED:
        looks.watch(trainer.measures, name)
    trained(trainer)
    assert looks.during.pop("_row") == 3
    assert looks.during == dict.fromkeys(("_get_grad_norm", "record_rates", *MEASURED), 0)


@pytest.mark.parametrize("filtered", [False, True])
def test_a_nan_loss_reaches_the_row(ppo, trained, filtered):
    trainer = ppo(max_steps=1, logging_nan_inf_filter=filtered)
    with torch.no_grad():
        next(trainer.reference.parameters()).fill_(math.nan)
    row = trained(trainer)[0]
    for key in ("loss", "loss/policy_avg", "loss/value_avg", "objective/kl", "objective/rlhf_reward", "grad_norm"):
        assert math.isnan(row[key]), key


def test_rows_and_completions_go_to_the_run_folder(ppo, trained, tmp_path):
    trained(ppo(report_to="holter", num_completions_to_record=3))
    folder = tmp_path / "out" / "holter"
    rows = [json.loads(line) for line in (folder / "metrics-0.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2]
    samples = [json.loads(line) for line in (folder / "samples-0.jsonl").read_text().splitlines()]
    assert len(samples) == 6
    wanted = {"prompt", "completion", "score", "reward", "kl", "advantage", "length", "truncated", "rewards/on_topic"}
    assert wanted <= samples[0].keys()
    assert json.loads((folder / "run.json").read_text())["algorithm"] == "ppo"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rewards": ()}, "something to be paid for"),
        ({"data_collator": lambda rows: rows}, "change the dataset's rows"),
        ({"share_value_trunk": True, "value_model": "somewhere"}, "one or the other"),
    ],
)
def test_what_is_missing_or_contradicts_is_said(ppo, wrong, said):
    with pytest.raises(SettingsError, match=said):
        ppo(**wrong)


def test_the_policy_is_no_reference(ppo, policy):
    with pytest.raises(SettingsError, match="a frozen copy is made"):
        ppo(ref_model=policy)


def _one(completions, **_):
    return [1.0] * len(completions)


def _always_nan(completions, **_):
    return [math.nan] * len(completions)


def _sometimes_nan(completions, **_):
    return [math.nan if i % 3 == 0 else float(len(c)) for i, c in enumerate(completions)]
