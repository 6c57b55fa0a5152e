"""Writes the functions of a PTX module as C++, each instruction by the table that asm statements use.

A register is a local variable, a symbol an address of 64 bits, a parameter a place in memory. An instruction without
a row ends the run when a thread comes to it, so that a module runs whose other functions do without it.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from kfuzz.devices.cpu.ptx.asm_text import AsmError
from kfuzz.devices.cpu.ptx.blocks import is_carrying, words_in_flight
from kfuzz.devices.cpu.ptx.entries import body_name, entry_name, places_of_parameters, write_entry
from kfuzz.devices.cpu.ptx.grammar import (
    PtxAddress,
    PtxInstruction,
    PtxLabel,
    PtxPair,
    PtxProgram,
    PtxVector,
    PtxWord,
    read_program,
)
from kfuzz.devices.cpu.ptx.module import PtxFunction, PtxModule
from kfuzz.devices.cpu.ptx.storage import MARK, address_of, cpp_name, declare, identifier, shown_name
from kfuzz.devices.cpu.ptx.table import is_counted, write_instruction
from kfuzz.devices.cpu.ptx.variables import PtxVariable
from kfuzz.devices.cpu.ptx.words import COUNTED, TYPES, C, PtxNames

ALONE = "which runs on the GPU alone"
UNCOUNTED = "whose roundings do not count"
_CALLS = ("call", "call.uni")
_OF_DEVICE_RUNTIME = ("cudaCGGetIntrinsicHandle", "cudaCGSynchronize")
_BUILT_IN = {
    name: f"{C}ptx_{name.strip('_')}" for name in ("vprintf", "__assertfail", "malloc", "free", *_OF_DEVICE_RUNTIME)
}
"""Functions that every module may call, and those of CUDA's device runtime by which Numba's grids meet."""


@dataclass(frozen=True)
class WrittenModule:
    """The C++ of a module, and the C++ names of its dynamic shared arrays, constants and kernels."""

    text: str
    dynamic_shared: tuple[str, ...]
    constants: tuple[str, ...]
    kernels: Mapping[str, str]


@dataclass(frozen=True)
class _ModuleScope:
    """What the words of a function mean, and its tables of labels."""

    names: PtxNames
    function: PtxFunction
    module: PtxModule
    spaces: Mapping[str, str]
    """The addresses of parameters, by their names."""
    counts: bool = False
    """Whether its registers know what their numbers went through."""


def write_module(
    module: PtxModule,
    wanted: Collection[str],
    directive: Callable[[int], str],
    with_launches: bool = True,
    counts: bool = False,
) -> WrittenModule:
    """The C++ of a module with the wanted kernels; `directive` gives the `#line` for a line of it.

    `with_launches`: each kernel has a function that takes its parameters one by one. `counts`: for the count flavour.
    """
    variables = [f"{directive(one.line)}{declare(one, is_static=True)}\n" for one in module.variables if one.bytes]
    symbols = {one.name: address_of(one) for one in module.variables if one.bytes or one.space == "shared"}
    defined = [one for one in module.functions if one.body and (not one.is_entry or one.name in wanted)]
    symbols |= {one.name: f"reinterpret_cast<uint64_t>(&{_name_of(one)})" for one in defined}
    declared = [f"static void {_name_of(one)}({_given(one)});\n" for one in defined]
    pieces = [*declared, *variables]  # a table may hold the addresses of functions
    for one in defined:
        pieces += _write_function(one, module, symbols, directive, counts)
        if one.is_entry and with_launches:
            pieces.append(f"{directive(one.line)}{write_entry(one, counts)}\n")
    return WrittenModule(
        "".join(pieces),
        tuple(one.name for one in module.variables if one.space == "shared" and one.count is None),
        tuple(shown_name(cpp_name(one)) for one in module.variables if one.space == "const"),
        {one.name: entry_name(one.name) for one in module.entries},
    )


def _name_of(function: PtxFunction) -> str:
    return body_name(function.name)


def _given(function: PtxFunction) -> str:
    """The C++ parameters: the addresses of the results' and the parameters' places, or of all of a kernel's."""
    if function.is_entry:
        return f"uint64_t {MARK}given"
    return ", ".join(f"uint64_t {MARK}at_{identifier(one.name)}" for one in (*function.results, *function.parameters))


def _write_function(
    function: PtxFunction,
    module: PtxModule,
    symbols: Mapping[str, str],
    directive: Callable[[int], str],
    counts: bool,
) -> Iterator[str]:
    """The pieces of a function: its head, what it declares, and each instruction on its line."""
    assert function.body
    yield f"{directive(function.line)}static void {_name_of(function)}({_given(function)}) {{\n"
    try:
        text = module.text[function.body]
        program = read_program(text, _line_numbers(text, module.text.count("\n", 0, function.body.start) + 1))
        scope = replace(_scope_of(function, module, program, symbols), counts=counts)
        yield from (f"{one}\n" for one in _declarations(program, scope))
    except AsmError as error:
        yield f"{_refuse(error)} }}\n"
        return
    current = ""
    for item in program.items:
        if (wanted := directive(item.line)) != current:
            current = wanted
            yield wanted
        yield f"{_write_item(item, scope)}\n"
        current = _next_line(current)
    yield "}\n"


def _line_numbers(text: str, first: int) -> list[int]:
    """The line in the module of each character of a function."""
    return [first + number for number, line in enumerate(text.split("\n")) for _ in range(len(line) + 1)]


def _next_line(directive: str) -> str:
    """The directive that the line after the next one would need."""
    return re.sub(r"\d+", lambda number: str(int(number[0]) + 1), directive, count=1)


def _scope_of(
    function: PtxFunction, module: PtxModule, program: PtxProgram, symbols: Mapping[str, str]
) -> _ModuleScope:
    registers = {one.name: f"{MARK}{one.name}" for one in program.registers}
    labels = {one.name: f"{MARK}to_{one.name}" for one in program.items if isinstance(one, PtxLabel)}
    tables = {name: f"{MARK}table_{name}" for name in program.tables}
    spaces = {one.name: address_of(one) for one in program.variables if one.space == "param"}
    if function.is_entry:
        spaces |= {one.name: f"({MARK}given + {at})" for one, at in places_of_parameters(function)}
    else:
        given = (*function.results, *function.parameters)
        spaces |= {one.name: f"{MARK}at_{identifier(one.name)}" for one in given}
    own = {one.name: address_of(one) for one in program.variables}
    # in brackets: a reference, of which the checker sees each access
    places = {word: f"CUDA_ON_CPU_PLACE(({registers[word]}))" for word in words_in_flight(program) if word in registers}
    names = PtxNames(0, {**symbols, **spaces, **own, **labels, **tables, **registers}, places)
    return _ModuleScope(names, function, module, spaces)


def _declarations(program: PtxProgram, scope: _ModuleScope) -> Iterator[str]:
    """The variables of a function, and those of its registers that it uses."""
    if any(one.space == "reg" for one in (*scope.function.results, *scope.function.parameters)):
        raise AsmError(f"{scope.function.name}, whose parameters are registers", scope.function.line)
    spaces: dict[str, PtxVariable] = {}
    for one in program.variables:
        if one.space != "param":
            yield declare(one)
        elif one.name not in spaces or spaces[one.name].bytes < one.bytes:
            spaces[one.name] = one
    yield from (f"alignas(16) unsigned char {cpp_name(one)}[{one.bytes}];" for one in spaces.values())
    used = {word.text for item in program.items if isinstance(item, PtxInstruction) for word in _words_of(item)}
    for register in program.registers:
        if register.type not in TYPES:
            raise AsmError(f"PTX registers of type .{register.type}", scope.function.line)
        if register.name in used:
            kind = (COUNTED if scope.counts else TYPES)[register.type]
            yield f"{kind} {scope.names.registers[register.name]};"
    if any(is_carrying(one) for one in program.items):
        yield "bool cuda_on_cpu_carry = false;"
    for name, targets in program.tables.items():
        if all(one in scope.names.registers for one in targets):
            labels = ", ".join(f"&&{scope.names.registers[one]}" for one in targets)
            yield f"static const void *const {scope.names.registers[name]}[] = {{{labels}}};"


def _words_of(item: PtxInstruction) -> Iterator[PtxWord]:
    """Every word of an instruction, its guard included."""
    if item.guard:
        yield item.guard
    for one in item.operands:
        if isinstance(one, PtxVector):
            yield from one.words
        elif isinstance(one, PtxAddress):
            yield from (one.base, *((one.offset,) if one.offset else ()), *one.more)
        elif isinstance(one, PtxPair):
            yield from (one.first, one.second)
        else:
            yield one


def _write_item(item: PtxInstruction | PtxLabel, scope: _ModuleScope) -> str:
    if isinstance(item, PtxLabel):
        return f"{scope.names.registers[item.name]}:;"
    guard = ""
    try:
        guard = f"if ({scope.names.write(item.guard, item.line)}) " if item.guard else ""
        if item.name in _CALLS:
            return f"{guard}{{ {_write_call(item, scope)}; }}"
        made = write_instruction(item, scope.names, of_module=True)
    except AsmError as error:
        return f"{guard}{{ {_refuse(error)} }}"
    if scope.counts:
        begin = f"{C}ptx_begin(); "
        made = f"{begin}{made}" if is_counted(item.name) else _refuse(AsmError(item.name), UNCOUNTED)
    return f"{guard}{{ {made}; }}"


def _refuse(error: AsmError, why: str = ALONE) -> str:
    """What ends the run at something that has no translation."""
    return f"cuda_on_cpu_refused_at({json.dumps(f'{error}, {why}')}, __LINE__);"


def _write_call(item: PtxInstruction, scope: _ModuleScope) -> str:
    """A call: the addresses of the places for its results and of its arguments."""
    first, *rest = item.operands
    results = first.words if isinstance(first, PtxVector) else ()
    callee = rest.pop(0) if isinstance(first, PtxVector) else first
    arguments = rest[0].words if rest and isinstance(rest[0], PtxVector) else ()
    if not isinstance(callee, PtxWord):
        raise AsmError("the PTX instruction call with these operands", item.line)
    places = [scope.spaces.get(word.text) for word in (*results, *arguments)]
    if None in places:
        raise AsmError("a call with registers as parameters", item.line)
    given = ", ".join(one for one in places if one)
    function = scope.module.function(callee.text)
    if function is None:
        kinds = ", ".join(["uint64_t"] * len(places))
        return f"reinterpret_cast<void (*)({kinds})>({scope.names.write(callee, item.line)})({given})"
    if function.body:
        return f"{_name_of(function)}({given})"
    if callee.text not in _BUILT_IN:
        raise AsmError(f"a call of {callee.text}, which this module does not define", item.line)
    return f"{_BUILT_IN[callee.text]}({', '.join(filter(None, (given, '__LINE__')))})"
