"""`python -m kfuzz.oracle OP...` runs the admission test of ops. It exits with 1 if a check fails."""

import argparse
import sys

from kfuzz.oracle.judging.find_op import find
from kfuzz.oracle.numbers.errors import OracleError
from kfuzz.oracle.numbers.plural import plural
from kfuzz.oracle.proof.admission import admit


def main() -> int:
    """Print each check of each op."""
    parser = argparse.ArgumentParser(prog="python -m kfuzz.oracle", description=__doc__)
    parser.add_argument("ops", nargs="+", metavar="OP|FILE.py", help="an op of the oracle, or a file with a formula")
    try:
        ops = [find(name) for name in parser.parse_args().ops]
    except OracleError as error:
        parser.error(str(error))
    checks = []
    for op in ops:
        print(op.name)
        for check in admit(op):
            print(f"  {check}", flush=True)
            checks.append(check.holds)
    print(f"{checks.count(False)} of {plural(len(checks), 'check')} fail" if not all(checks) else "every check holds")
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
