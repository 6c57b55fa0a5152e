"""Writes the program of an asm statement as one C++ expression: operands, registers, guards, labels, branches.

The expression is a statement in brackets, which g++ and clang have. Each instruction stays on its line of the source,
so that findings name it.
"""

from collections.abc import Iterator, Mapping

from kfuzz.devices.cpu.ptx.asm_text import AsmError, AsmOperand, AsmStatement
from kfuzz.devices.cpu.ptx.grammar import PtxInstruction, PtxLabel, PtxProgram, PtxVector, read_program
from kfuzz.devices.cpu.ptx.table import write_instruction
from kfuzz.devices.cpu.ptx.words import CONSTRAINTS, TYPES, C, PtxNames

_GO_ON = {"wgmma.mma_async": 2, "tcgen05.ld": 1}
"""Instructions that write registers after their statement, and among how many of their operands these are."""


def write_statement(statement: AsmStatement, newline: str = "\n") -> str:
    """The C++ for an asm statement; AsmError names the first thing that has no translation."""
    program = read_program(statement.text, statement.lines)
    if program.variables:
        one = program.variables[0]
        raise AsmError(f"a declaration in an asm statement (.{one.space} {one.name})", one.line)
    if not statement.text.strip():
        return "({ })"  # it tells a compiler that values are used, and accesses none
    places = _find_places(program, statement.operands)
    declared = [*_declare_operands(statement.operands, places), *_declare_registers(program)]
    labels = [f"cuda_on_cpu_to_{one.name}" for one in program.items if isinstance(one, PtxLabel)]
    first = f"__label__ {', '.join(labels)}; " if labels else ""
    pieces = ["({ ", first, " ".join(declared)]
    line = 0
    for at, text in _write_items(program, statement, places):
        pieces += newline * (at - line), " ", text
        line = max(at, line)
    given = (
        f" {C}ptx_give(cuda_on_cpu_place_{number}, cuda_on_cpu_{number});"
        for number, one in enumerate(statement.operands)
        if one.is_output and f"%{number}" not in places
    )
    return "".join((*pieces, *given, " })"))


def words_in_flight(program: PtxProgram) -> set[str]:
    """The words for registers of instructions that go on after the statement."""
    vectors = [
        vector
        for one in program.items
        if isinstance(one, PtxInstruction)
        for name, count in _GO_ON.items()
        if one.name.startswith(f"{name}.")
        for vector in one.operands[:count]
        if isinstance(vector, PtxVector)
    ]
    return {word.text for vector in vectors for word in vector.words}


def _find_places(program: PtxProgram, operands: tuple[AsmOperand, ...]) -> dict[str, str]:
    """The variables behind the registers of instructions that go on after the statement, by the operands' words."""
    found = words_in_flight(program)
    return {
        f"%{number}": f"CUDA_ON_CPU_PLACE({one.expression})"
        for number, one in enumerate(operands)
        if f"%{number}" in found
    }


def _declare_operands(operands: tuple[AsmOperand, ...], places: Mapping[str, str]) -> Iterator[str]:
    """Each operand as a register of its own, which gets its value once; the outputs are copied back at the end."""
    for number, one in enumerate(operands):
        if f"%{number}" in places:
            continue
        if one.constraint == "n" and not one.is_output:
            yield f"const auto cuda_on_cpu_{number} = ({one.expression});"
            continue
        kind = CONSTRAINTS.get(one.constraint)
        if kind is None:
            raise AsmError(f'the asm constraint "{one.constraint}"')
        if not one.is_output:
            yield f"const {kind} cuda_on_cpu_{number} = {C}ptx_given<{kind}>(({one.expression}));"
            continue
        yield f"auto &&cuda_on_cpu_place_{number} = ({one.expression});"
        value = f"{C}ptx_given<{kind}>(cuda_on_cpu_place_{number})" if one.is_input else f"{C}PtxUnwritten()"
        yield f"{kind} cuda_on_cpu_{number} = {value};"


def _declare_registers(program: PtxProgram) -> Iterator[str]:
    for one in program.registers:
        if one.type not in TYPES:
            raise AsmError(f"PTX registers of type .{one.type}")
        yield f"{TYPES[one.type]} cuda_on_cpu_r_{one.name} = {C}PtxUnwritten();"
    if any(is_carrying(one) for one in program.items):
        yield "bool cuda_on_cpu_carry = false;"


def _write_items(program: PtxProgram, statement: AsmStatement, places: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """The line and the C++ of each item."""
    registers = {one.name: f"cuda_on_cpu_r_{one.name}" for one in program.registers}
    labels = {one.name: f"cuda_on_cpu_to_{one.name}" for one in program.items if isinstance(one, PtxLabel)}
    names = PtxNames(len(statement.operands), registers | labels, places)
    carries = False
    for one in program.items:
        if isinstance(one, PtxLabel):
            yield one.line, f"cuda_on_cpu_to_{one.name}:;"
            continue
        carries = carries or ".cc" in one.name
        if is_carrying(one) and not carries:
            raise AsmError(f"a carry from another asm statement ({one.name})", one.line)
        guard = f"if ({names.write(one.guard, one.line)}) " if one.guard else ""
        yield one.line, f"{guard}{{ {write_instruction(one, names)}; }}"


def is_carrying(item: PtxInstruction | PtxLabel) -> bool:
    """Whether it adds a carry, or gives one."""
    if isinstance(item, PtxLabel):
        return False
    first, _, rest = item.name.partition(".")
    return first in ("addc", "subc", "madc") or "cc" in rest.split(".")
