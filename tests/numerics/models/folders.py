"""Folders with models, as they come from elsewhere."""

import json
from pathlib import Path
from typing import Any

MARKER = "marker"
CODE = f"""
from pathlib import Path
Path(__file__).with_name("{MARKER}").touch()
Path("{MARKER}").touch()
class C: pass
M = T = P = C
"""


def write(path: Path, **entries: Any) -> None:
    known = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(known | entries))


def custom_code(path: Path, known: bool) -> None:
    """Declare in every file that the classes are in a file of the folder, for a type that the library knows, or not."""
    (path / "foreign.py").write_text(CODE)
    model_type = {} if known else {"model_type": "foreign"}
    write(path / "config.json", auto_map={"AutoConfig": "foreign.C", "AutoModel": "foreign.M"}, **model_type)
    write(path / "tokenizer_config.json", tokenizer_class="T", auto_map={"AutoTokenizer": ["foreign.T", "foreign.T"]})
    write(path / "preprocessor_config.json", image_processor_type="P", auto_map={"AutoImageProcessor": "foreign.P"})
