"""Tests marked gpu need a card; where there is none they are skipped, with the reason."""

import signal

import pytest
from installed import Machine
from installed import machine as set_up
from kfuzz.devices.gpu.device import why_not

# A shell tells its background jobs to ignore Ctrl-C, and what they start inherits that. Tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and (reason := why_not()):
        for item in wanting:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Somebody else's machine; those who use it are of one group, so that it is set up once."""
    return set_up(tmp_path_factory.mktemp("machine"))
