import pytest

from holter.errors import SettingsError
from holter.trainers.prompts import GenerationBatches, PromptStream, PromptTokenizer

SIZES = {"group": 2, "batch": 8, "repeats": 3}


def batches(rank=0, ranks=1, epoch=0, rows=10, shuffle=True):
    made = GenerationBatches(rows, **SIZES, shuffle=shuffle, seed=1, rank=rank, ranks=ranks)
    made.set_epoch(epoch)
    return list(made)


def test_every_generation_is_given_out_as_often_as_it_lasts():
    found = batches(shuffle=False)
    assert found == [[0, 0, 1, 1, 2, 2, 3, 3]] * 3 + [[4, 4, 5, 5, 6, 6, 7, 7]] * 3
    assert len(found) == len(GenerationBatches(10, **SIZES, shuffle=False, seed=1))


def test_processes_share_one_generation():
    whole, first, second = batches(), batches(rank=0, ranks=2), batches(rank=1, ranks=2)
    assert [a + b for a, b in zip(first, second, strict=True)] == whole


def test_an_epoch_has_the_same_order_whenever_it_is_asked_for():
    assert batches(epoch=3) == batches(epoch=3)
    assert batches(epoch=3) != batches(epoch=4)
    assert sorted({row for batch in batches(rows=8) for row in batch}) == list(range(8))


def test_too_few_prompts_for_a_generation_are_refused():
    with pytest.raises(SettingsError, match="3 prompts, and one generation takes 4"):
        batches(rows=3)


def test_a_stream_gives_the_same_batches_as_a_list_in_order():
    rows = [{"prompt": str(i)} for i in range(10)]
    stream = PromptStream(iter(rows), **SIZES, rank=0, ranks=1)
    assert [[int(r["prompt"]) for r in batch] for batch in stream] == batches(shuffle=False)


def test_plain_prompts_are_tokenised_once_each(tokenizer):
    tokens = PromptTokenizer(tokenizer, None, {})
    first, second, third = tokens(["about the dog :", "about the dog :", "about the cat :"])
    assert first is second
    assert tokenizer.decode(third) == "about the cat :"


def test_long_prompts_keep_their_end(tokenizer):
    assert tokenizer.decode(PromptTokenizer(tokenizer, 2, {})(["about the dog :"])[0]) == "dog :"


def test_an_empty_prompt_is_refused(tokenizer):
    with pytest.raises(SettingsError, match="has no tokens"):
        PromptTokenizer(tokenizer, None, {})([""])


def test_conversations_go_through_the_chat_template(tokenizer):
    tokenizer = type(tokenizer)(tokenizer_object=tokenizer._tokenizer, unk_token="<unk>", pad_token="<pad>")
    tokenizer.chat_template = (
        "{% for m in messages %}{{ 'about ' if m['role'] == 'user' else 'the ' }}{{ m['content'] }} {% endfor %}"
        "{% if add_generation_prompt %}:{% endif %}"
    )
    tokens = PromptTokenizer(tokenizer, None, {})
    prompt = [{"role": "user", "content": "dog"}]
    assert tokenizer.decode(tokens([prompt])[0]) == "about dog :"
    assert tokens.completions([prompt, "plain"], ["cat", "text"]) == [[{"role": "assistant", "content": "cat"}], "text"]
    assert tokens.joined(prompt, [{"role": "assistant", "content": "cat"}], tokenizer) == "about dog the cat "
    assert tokens.joined("a", "b", tokenizer) == "ab"
