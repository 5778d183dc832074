"""A PPO trainer that is given its responses, so that two runs see the same ones."""

import contextlib
import io

from holter import PPOConfig, PPOTrainer
from holter.trainers.rollout import Completions
from holter.trainers.scoring import score, sequences

from . import parity_world


class Replay(PPOTrainer):
    """Takes the response to each prompt from a dictionary, in the order in which they are asked for."""

    given: dict

    def complete(self, prompts):
        responses = [self.given[self.state.global_step, tuple(p)] for p in prompts]
        batch = sequences(prompts, responses, self.args.device)
        # Parameters that lie in parts are put together by what is around the policy.
        model = self.model_wrapped if self.sampling.synchronised else self.policy
        logprobs = score(model, batch, temperature=self.args.temperature).logprobs.detach()
        return Completions(responses, [r[-1] == parity_world.EOS for r in responses], logprobs)


def replay(folder, updates, *, scenario="ended", max_grad_norm=0.0, trainer_type=Replay, **more):
    """A trainer for `updates`, each with ``prompts`` and ``responses``; on the models of a scenario of the parity test."""
    wanted = {**parity_world.settings(scenario), **more}
    del wanted["total_episodes"]
    args = PPOConfig(str(folder), shuffle_dataset=False, max_grad_norm=max_grad_norm, max_steps=len(updates), **wanted)
    rows = [{"input_ids": p} for update in updates for p in update["prompts"]]
    trainer = trainer_type(args, parity_world.tokenizer(), train_dataset=rows, **parity_world.models(scenario))
    trainer.given = {
        (number, tuple(p)): r
        for number, update in enumerate(updates)
        for p, r in zip(update["prompts"], update["responses"], strict=True)
    }
    return trainer


def rows_of(trainer, **options):
    """Trains; the logged rows of its updates."""
    with contextlib.redirect_stdout(io.StringIO()):
        trainer.train(**options)
    return [row for row in trainer.state.log_history if "objective/kl" in row]
