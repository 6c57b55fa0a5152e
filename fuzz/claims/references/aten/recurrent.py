"""Networks with a state, each as one loop of a formula: GRU, LSTM and the plain one."""

from collections.abc import Sequence

from kfuzz.claims.references.aten.term import Arg, SizeTexts, Term, UnknownError, Writer, Writing, tensor


def network(cell: str) -> Writing:
    """(x, states, weights, has biases, layers, both ways, batch first): the answers and the last states."""

    def rule(to: Writer, name: str, args: Sequence[Arg], options: dict[str, Arg], shape: SizeTexts) -> list[Term]:
        x, states, weights = tensor(args[0]), args[1], args[2]
        shapes = options.get("results")
        if not isinstance(states, list) or not isinstance(weights, list) or not isinstance(shapes, list):
            raise UnknownError
        held, given = (f"[{', '.join(tensor(one).text for one in several)}]" for several in (states, weights))
        whole = f"{name}_all"
        how = ", ".join(map(repr, (*args[3:7], whole)))
        to.steps[whole] = None
        if cell == "gru":
            to.forms["blend"] = ("n + z (h - n)", "(1 - z) n + z h")
        made = to.set(whole, f'{to.use("network")}(N, "{cell}", {x.text}, {held}, {given}, {how})')
        return [Term(to.set(f"{name}_{place}", f"{made}[{place}]"), one) for place, one in enumerate(shapes)]

    return rule
