"""Safetensors headers and indexes beside a configuration."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roofline.adapters.files import load_model_file
from roofline.adapters.safetensors_file import DTYPE_BITS, INDEX_NAME, SINGLE_NAME, counted_parameters, is_draft, parse_header
from roofline.errors import ConfigurationError, InputError, RooflineError
from roofline.performance.counts import parameter_counts
from roofline.specs.model import ModelSpec

CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 100,
    "tie_word_embeddings": False,
}
LAYER = {
    "self_attn.q_proj": (64, 64),
    "self_attn.k_proj": (32, 64),
    "self_attn.v_proj": (32, 64),
    "self_attn.o_proj": (64, 64),
    "mlp.gate_proj": (128, 64),
    "mlp.up_proj": (128, 64),
    "mlp.down_proj": (64, 128),
    "input_layernorm": (64,),
    "post_attention_layernorm": (64,),
}
Shapes = dict[str, tuple[int, ...]]


def shapes(n_layers: int = 2, *, head: bool = True) -> Shapes:
    found: Shapes = {"model.embed_tokens.weight": (100, 64), "model.norm.weight": (64,)}
    found |= {f"model.layers.{i}.{name}.weight": shape for i in range(n_layers) for name, shape in LAYER.items()}
    return found | {"lm_head.weight": (100, 64)} if head else found


def header(tensors: Shapes, dtype: str = "BF16") -> bytes:
    at, table = 0, {"__metadata__": {"format": "pt"}}
    for name, shape in tensors.items():
        size = prod(shape) * DTYPE_BITS[dtype] // 8
        table[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}  # type: ignore[dict-item]
        at += size
    text = json.dumps(table).encode()
    return len(text).to_bytes(8, "little") + text


def configure(folder: Path, **changes: Any) -> Path:
    (folder / "config.json").write_text(json.dumps({**CONFIG, **changes}))
    return folder


def index(folder: Path, tensors: Shapes, files: int = 2, **metadata: Any) -> Path:
    names = [f"model-{i + 1:05d}-of-{files:05d}.safetensors" for i in range(files)]
    table = {name: names[i % files] for i, name in enumerate(tensors)}
    path = folder / INDEX_NAME
    path.write_text(json.dumps({"metadata": metadata, "weight_map": table}))
    return path


def shards(folder: Path, tensors: Shapes, files: int = 2) -> list[Path]:
    paths = []
    for k in range(files):
        own = {name: shape for i, (name, shape) in enumerate(tensors.items()) if i % files == k}
        paths.append(folder / f"model-{k + 1:05d}-of-{files:05d}.safetensors")
        paths[-1].write_bytes(header(own))
    return paths


def n_numbers(tensors: Shapes) -> int:
    return sum(prod(shape) for shape in tensors.values())


def told(model: ModelSpec, *words: str) -> bool:
    return any(all(word in sentence for word in words) for sentence in model.assumptions)


def test_single_file_confirms_the_configuration(tmp_path: Path) -> None:
    path = configure(tmp_path) / SINGLE_NAME
    path.write_bytes(header(shapes()))
    model = load_model_file(path)
    assert model.stored_bytes == 2 * n_numbers(shapes())
    assert counted_parameters(model) == n_numbers(shapes()) == parameter_counts(model).total
    assert told(model, "as the configuration gives")
    assert load_model_file(tmp_path).stored_bytes == model.stored_bytes
    assert load_model_file(tmp_path / "config.json").stored_bytes is None


def test_index_alone_gives_the_size_and_the_names(tmp_path: Path) -> None:
    model = load_model_file(index(configure(tmp_path), shapes(), total_size=123_456))
    assert model.stored_bytes == 123_456
    assert told(model, "123,456", "index")
    silent = load_model_file(index(tmp_path, shapes()))
    assert silent.stored_bytes is None
    assert told(silent, "does not state")


def test_shards_beside_an_index_are_summed(tmp_path: Path) -> None:
    path = index(configure(tmp_path), shapes(), total_size=1)
    paths = shards(tmp_path, shapes())
    assert load_model_file(path).stored_bytes == load_model_file(paths[1]).stored_bytes == 2 * n_numbers(shapes())
    paths[0].unlink()
    assert load_model_file(path).stored_bytes == 1


def test_shards_without_an_index_are_found_by_name(tmp_path: Path) -> None:
    paths = shards(configure(tmp_path), shapes(), 3)
    assert load_model_file(paths[2]).stored_bytes == 2 * n_numbers(shapes())
    paths[0].unlink()
    with pytest.raises(InputError, match=paths[0].name):
        load_model_file(paths[2])


def test_draft_modules_and_a_stored_copy_of_the_tied_head_are_told(tmp_path: Path) -> None:
    draft = {"model.layers.2.eh_proj.weight": (64, 128), "mtp.fc.weight": (64, 64)}
    path = configure(tmp_path, tie_word_embeddings=True) / SINGLE_NAME
    path.write_bytes(header(shapes() | draft))
    model = load_model_file(path)
    assert told(model, "2 tensors of draft modules", f"{2 * n_numbers(draft):,} bytes")
    assert told(model, "lm_head.weight is stored although")
    assert told(model, f"{n_numbers(draft) + 6400:,} more")
    assert parameter_counts(model).total == n_numbers(shapes(head=False))


def test_a_missing_head_and_missing_draft_modules_are_told(tmp_path: Path) -> None:
    path = configure(tmp_path, num_nextn_predict_layers=1) / SINGLE_NAME
    path.write_bytes(header(shapes(head=False)))
    model = load_model_file(path)
    assert told(model, "no lm_head.weight")
    assert told(model, "no draft modules")
    assert told(model, "fewer")


def test_narrow_types_are_not_counted_as_parameters(tmp_path: Path) -> None:
    path = configure(tmp_path) / SINGLE_NAME
    path.write_bytes(header(shapes(), "U8"))
    model = load_model_file(path)
    assert model.stored_bytes == n_numbers(shapes())
    assert told(model, "narrow types")


def test_towers_are_no_draft_modules() -> None:
    assert not is_draft("visual.blocks.31.attn.qkv.weight", 2)
    assert is_draft("model.layers.61.shared_head.norm.weight", 61)
    assert not is_draft("model.layers.60.mlp.gate.weight", 61)


def test_files_of_another_model_are_refused(tmp_path: Path) -> None:
    path = index(configure(tmp_path, num_hidden_layers=5), shapes())
    with pytest.raises(ConfigurationError, match="2 layers, the configuration 5"):
        load_model_file(path)
    configure(tmp_path)
    shards(tmp_path, shapes() | {"stranger.weight": (4,)})
    with pytest.raises(ConfigurationError, match="stranger"):
        load_model_file(path)
    for shard in shards(tmp_path, shapes()):
        shard.write_bytes(header({"model.norm.weight": (64,)}))
    with pytest.raises(ConfigurationError, match="two files"):
        load_model_file(path)


def test_a_configuration_must_lie_beside(tmp_path: Path) -> None:
    (tmp_path / SINGLE_NAME).write_bytes(header(shapes()))
    with pytest.raises(InputError, match=r"config\.json"):
        load_model_file(tmp_path / SINGLE_NAME)
    with pytest.raises(InputError, match="no file"):
        load_model_file(configure(tmp_path) / INDEX_NAME)
    with pytest.raises(InputError, match="cannot be read"):
        load_model_file(tmp_path / "other.safetensors")


BAD_INDEXES = {
    "[]": "not a table",
    "{": "not JSON",
    "{}": "weight_map",
    '{"weight_map": {"a": "../../etc/passwd"}}': "same folder",
    '{"weight_map": {"a": 3}}': "same folder",
    '{"weight_map": {"a": ""}}': "same folder",
}


@pytest.mark.parametrize("content", BAD_INDEXES)
def test_bad_indexes_are_one_sentence(tmp_path: Path, content: str) -> None:
    (configure(tmp_path) / INDEX_NAME).write_text(content)
    with pytest.raises(InputError, match=BAD_INDEXES[content]):
        load_model_file(tmp_path / INDEX_NAME)


def test_large_indexes_are_refused(tmp_path: Path) -> None:
    with (configure(tmp_path) / INDEX_NAME).open("wb") as stream:
        stream.truncate(26 * 2**20)
    with pytest.raises(InputError, match="larger than 25 MiB"):
        load_model_file(tmp_path / INDEX_NAME)


BAD_FILES = {
    "empty": b"",
    "huge header": (2**62).to_bytes(8, "little"),
    "cut off": header({"a": (4,)})[:-3],
    "not JSON": (4).to_bytes(8, "little") + b"{\xff\xff}",
    "deep": (200_000).to_bytes(8, "little") + b"[" * 200_000,
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_one_sentence(tmp_path: Path, name: str) -> None:
    path = configure(tmp_path) / SINGLE_NAME
    path.write_bytes(BAD_FILES[name])
    with pytest.raises(InputError) as caught:
        load_model_file(path)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "entry",
    [
        3,
        {},
        {"dtype": "I1", "shape": [8], "data_offsets": [0, 1]},
        {"dtype": "F16", "shape": [-4], "data_offsets": [0, 8]},
        {"dtype": "F16", "shape": [4], "data_offsets": [8, 0]},
        {"dtype": "F16", "shape": [4], "data_offsets": [0, 9]},
        {"dtype": "F16", "shape": [4], "data_offsets": [0]},
        {"dtype": "F16", "shape": [True], "data_offsets": [0, 2]},
        {"dtype": "F16", "shape": [2**62] * 16, "data_offsets": [0, 2]},
        {"dtype": "F16", "shape": [1] * 17, "data_offsets": [0, 2]},
    ],
)
def test_bad_entries_name_the_tensor(entry: object) -> None:
    with pytest.raises(ConfigurationError, match="odd one"):
        parse_header(json.dumps({"odd one": entry}).encode(), "file")


def test_file_counts_beyond_reason_are_refused(tmp_path: Path) -> None:
    path = configure(tmp_path) / "model-00001-of-09999.safetensors"
    path.write_bytes(header(shapes()))
    with pytest.raises(InputError, match="up to 2,000"):
        load_model_file(path)
    (tmp_path / INDEX_NAME).mkdir()
    with pytest.raises(InputError, match="no file"):
        load_model_file(tmp_path / INDEX_NAME)


def test_an_empty_tensor_and_four_bits_are_fine() -> None:
    entries = {
        "empty": {"dtype": "F16", "shape": [0, 4], "data_offsets": [0, 0]},
        "scalar": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
        "narrow": {"dtype": "F4", "shape": [3], "data_offsets": [4, 6]},
    }
    assert [t.n_bytes for t in parse_header(json.dumps(entries).encode(), "file").values()] == [0, 4, 2]


def answers_or_refuses(read: Callable[[], object]) -> None:
    start, said = time.perf_counter(), ""
    try:
        read()
    except RooflineError as error:
        said = str(error)
    assert "\n" not in said
    assert time.perf_counter() - start < 5


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_cut_and_changed_headers_answer_or_refuse(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = configure(tmp_path_factory.getbasetemp()) / SINGLE_NAME
    changed = bytearray(header(shapes()))
    for _ in range(data.draw(st.integers(0, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(changed[: data.draw(st.integers(0, len(changed)) | st.just(len(changed)))]))
    answers_or_refuses(lambda: load_model_file(path))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["dtype", "shape", "data_offsets", "metadata", "weight_map", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(json_values)
def test_any_tables_answer_or_refuse(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    folder = configure(tmp_path_factory.getbasetemp())
    (folder / INDEX_NAME).write_text(json.dumps(value))
    answers_or_refuses(lambda: load_model_file(folder / INDEX_NAME))
    answers_or_refuses(lambda: parse_header(json.dumps({"t": value}).encode(), "file"))
    (folder / INDEX_NAME).unlink()
