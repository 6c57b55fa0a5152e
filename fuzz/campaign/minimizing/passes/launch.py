"""The simplest launch: a plain run instead of a checked one, the first of the values that the claim lists."""

from dataclasses import replace

from kfuzz.campaign.minimizing.subject import Candidates, Subject

WORTH = 40


def candidates(subject: Subject) -> Candidates:
    """Everything at its simplest at once, then one thing after the other."""
    simplest = {name: values[0] for name, values in subject.kernel.tune.items()}
    launches = [replace(subject, check=check, seed=0, tune=simplest) for check in (False, True)]
    for candidate in launches:
        if (yield candidate):
            return
    for name, values in subject.kernel.tune.items():
        for value in values[: values.index(subject.tune[name])]:
            candidate = replace(subject, tune={**subject.tune, name: value})
            if (yield candidate):
                subject = candidate
                break
    for candidate in (replace(subject, check=False), replace(subject, seed=0)):
        if (yield candidate):
            subject = candidate
