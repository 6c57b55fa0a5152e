"""Level 4 of KernelBench: language models of transformers, with few layers, small widths and random weights.

A problem takes a model and its weights from a hub. Here the same classes of transformers are made from small
configurations instead. At the few places of a sequence BigBird and Reformer attend to all of them.
"""

import re
from collections.abc import Mapping

WIDTH, INNER, HEADS, VOCABULARY, PLACES = 16, 32, 2, 61, 32
BERT = {
    "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": INNER,
    "max_position_embeddings": PLACES,
}  # fmt: skip
CONFIGURATIONS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "gpt2": ("gpt2", {"n_layer": 2, "n_embd": WIDTH, "n_head": HEADS, "n_positions": PLACES}),
    "gpt-neo": ("gpt_neo", {
        "hidden_size": WIDTH, "num_layers": 2, "attention_types": [[["global", "local"], 1]], "num_heads": HEADS,
        "max_position_embeddings": PLACES, "window_size": 4, "intermediate_size": INNER,
    }),
    "opt": ("opt", {
        "hidden_size": WIDTH, "num_hidden_layers": 2, "ffn_dim": INNER, "num_attention_heads": HEADS,
        "max_position_embeddings": PLACES, "word_embed_proj_dim": WIDTH,
    }),
    "bart": ("bart", {
        "d_model": WIDTH, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER,
        "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "max_position_embeddings": PLACES,
    }),
    "electra": ("electra", {**BERT, "embedding_size": WIDTH}),
    "bigbird": ("big_bird", BERT),
    "reformer": ("reformer", {
        "hidden_size": WIDTH, "attention_head_size": WIDTH // HEADS, "num_attention_heads": HEADS,
        "feed_forward_size": INNER, "attn_layers": ["local", "lsh"], "axial_pos_embds_dim": [WIDTH // 2, WIDTH // 2],
        "axial_pos_shape": [4, 8], "is_decoder": True,
    }),
}  # fmt: skip
"""By a part of the model's name on the hub: its type, and what makes it small."""
MODEL = re.compile(r'^model_name = ".*?/?([^/"]*)"$', re.MULTILINE)
"""Of the line that names a model, the part after its owner."""


def without_hub(source: str) -> str:
    """The text of a problem whose model is made from a small configuration; any other text as it is."""
    named = MODEL.search(source)
    if named is None or "from_pretrained" not in source:
        return source
    kind, sizes = next(one for part, one in CONFIGURATIONS.items() if named[1].startswith(part))
    made = f'AutoConfig.for_model("{kind}", vocab_size={VOCABULARY}, **{dict(sizes)!r})'
    source = source.replace("AutoConfig.from_pretrained(model_name)", made)
    return re.sub(
        r"from_pretrained\(self\.model_name, config=self\.config\)", "from_config(self.config).eval()", source
    )
