"""kfuzz's own code in a process that runs the files of others bears the name of no file.

That nothing of it is seen there shows the exhibit wrong_but_where_it_is_tested.
"""

import kfuzz.common
from kfuzz.common import unnamed_process
from kfuzz.common.unnamed_process import UnnamedFinder, rename_code, start


def test_code_within_code_is_renamed_too() -> None:
    space: dict[str, object] = {}
    exec(rename_code(compile("def outer():\n    return lambda: 1", "here.py", "exec"), "<there>"), space)  # noqa: S102  our own text
    outer = space["outer"]
    assert callable(outer)
    assert [one.__code__.co_filename for one in (outer, outer(), start)] == ["<there>", "<there>", "<start>"]  # type: ignore[attr-defined]


def test_modules_of_kfuzz_alone_are_found_and_keep_their_lines() -> None:
    finder = UnnamedFinder()
    assert finder.find_spec("json.decoder", None) is None
    found = finder.find_spec("kfuzz.common.unnamed_process", kfuzz.common.__path__)
    assert found is not None
    assert isinstance(found.loader, unnamed_process.UnnamedLoader)
    code = found.loader.get_code("kfuzz.common.unnamed_process")
    assert code is not None
    assert (code.co_filename, found.origin) == ("<common/unnamed_process.py>", unnamed_process.__file__)
