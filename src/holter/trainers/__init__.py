"""Who makes the tensors: trainers for GRPO and PPO on `transformers.Trainer`, and what they share.

```
config.py  grpo_config.py    settings: TRL's names, unknown and contradictory ones refused
names.py                     what is said of a name that is TRL's only, called otherwise here, or misspelt
models.py                    policy, reference, reward models, tokenizer
prompts.py                   datasets to prompts, in generation batches; tokenising
rollout.py                   sampling completions, with the log-probabilities they were sampled at
decoder.py                   decoding without module calls, for the commonest architecture
scoring.py                   log-probabilities and entropy of given completions, on their own positions only
rewards.py                   reward functions and reward models, weighted
advantages.py                from rewards to advantages
buffer.py                    the completions of a generation, cut into micro-batches
checkpoint.py                what a resumed run needs besides what transformers saves
evaluation.py                evidence beside the proxy: perplexity, alignment, preferences, held-out prompts
clock.py                     where the time of a step goes, by phase
measures.py                  what every trainer measures of completions and rewards
reporting.py                 rows and completions to the run folder, the trackers and the monitor
integration.py               trackers that transformers integrates, as sinks
printing.py                  completions and a progress bar on the terminal
lifecycle.py                 what transformers tells callbacks only
launch.py                    a run from a configuration file
on_policy.py                 what both trainers need of `transformers.Trainer`
grpo.py                      GRPO, from top to bottom
liger.py                     liger-kernel's fused loss for it

ppo_config.py                settings of PPO
gae.py  kl_control.py        advantages from values; the price of drift
value_model.py               policy and value function as one module; reward models that read tokens
value_trainer.py             what a value function adds to `transformers.Trainer`: clipping, learning rates, checkpoints
token_prompts.py             datasets whose prompts come as tokens
ppo_measures.py              what PPO measures, and how TRL reduces it
ppo.py                       PPO, from top to bottom
```

Another on-policy trainer subclasses `OnPolicyTrainer`, says in `collect` how completions become micro-batches and in
`loss` what is minimised and measured, and subclasses `OnPolicyConfig` for its settings. Needs ``holter[train]``.
"""
