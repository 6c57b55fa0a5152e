"""The cases of early_launches.cu: the ways to launch, the right ones, and the wrong ones with the name in the mark."""

RIGHT = {
    "stream": (
        "waits", "waits_by_ptx", "reads_weights_early", "one_waits_and_all_meet",
        "third_reads_the_first_after_the_second_waited", "third_reads_the_first_and_the_second_never_triggers",
        "writes_what_an_ended_kernel_read", "no_wait_after_a_copy", "no_wait_after_an_event",
        "no_wait_without_the_attribute", "third_reads_the_first_and_the_second_only_waits",
        "third_reads_the_first_by_a_full_launch",
    ),
    "capture": (
        "waits", "third_reads_the_first_after_the_second_waited", "no_wait_without_the_attribute",
        "third_reads_the_first_and_the_second_only_waits",
    ),
    "port0": (
        "never_waits", "third_reads_the_first_before_the_second_waited",
        "third_reads_the_first_that_the_second_never_waits_for",
    ),
    "port1": (
        "waits", "third_reads_the_first_after_the_second_waited", "writes_what_an_ended_kernel_read",
        "third_reads_the_first_and_the_second_only_waits",
    ),
    "port2": ("waits", "reads_weights_early"),
}  # fmt: skip
WRONG = {
    "stream": {
        "reads_before_the_wait": "reads_early",
        "never_waits": "reads_late",
        "never_waits_and_nothing_triggers": "reads_late",
        "third_reads_the_first_before_the_second_waited": "reads_older_early",
        "third_reads_the_first_that_the_second_never_waits_for": "reads_unwaited",
        "writes_before_the_wait": "writes_early",
        "one_waits_and_nothing_tells_the_others": "reads_late",
    },
    "capture": {
        "never_waits": "reads_late",
        "third_reads_the_first_before_the_second_waited": "reads_older_early",
        "third_reads_the_first_that_the_second_never_waits_for": "reads_unwaited",
    },
    "port1": {
        "never_waits": "reads_late",
        "third_reads_the_first_before_the_second_waited": "reads_older_early",
        "third_reads_the_first_that_the_second_never_waits_for": "reads_unwaited",
    },
    "port2": {
        "never_waits": "reads_late",
        "writes_what_an_ended_kernel_read": "writes_early",  # it has begun, and may not have ended
        "third_reads_the_first_after_the_second_waited": "reads_older_early",
    },
}
"""The name in the mark on the line that comes too early."""
