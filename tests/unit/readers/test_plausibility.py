"""Which columns are the log of a training run."""

import pytest

from holter.readers.plausibility import objection


@pytest.mark.parametrize(
    "names",
    [
        ["sampling/importance_sampling_ratio/mean"],
        ["train_rollout_logprob_abs_diff"],
        ["token_mult_prob_error"],
        ["completions/clipped_ratio", "completions/mean_length"],
        ["frac_reward_zero_std"],
        ["explained_variance"],
        ["val/ratio"],
        ["minibatch", "ratio_mean"],
        ["val/num_eos_tokens"],
    ],
)
def test_a_metric_that_only_training_has_needs_no_step(names):
    assert objection(names) is None


@pytest.mark.parametrize(
    "names",
    [["accuracy", "f1"], ["aspect_ratio", "width"], ["response_length", "accuracy"], ["lr", "kl_coef"], ["minibatch"]],
)
def test_results_sizes_and_settings_are_no_log(names):
    assert objection(names) is not None
