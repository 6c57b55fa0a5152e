"""Writes the message of a finding: fills in the words in braces of the messages in runtime/sights.def.

Long, since it fills in every word of the messages.
"""

from collections.abc import Iterator, Mapping
from signal import Signals

from kfuzz.devices.cpu.abi import OTHER_WORK, Place, RawFinding, Refused, RefusedMap, Relation, Traits, Work
from kfuzz.devices.cpu.scene import WORD, RunScene, coordinates, describe_line
from kfuzz.devices.cpu.sights import sight_type
from kfuzz.oracle.numbers.plural import plural

WORK = {
    Work.copy: "a copy",
    Work.set: "a memset",
    Work.host: "the host",
    Work.callback: "a host function on a stream",
    Work.allocation: "cudaMallocAsync",
    Work.freeing: "cudaFreeAsync",
    Work.operation: "an operation of torch",
    Work.library: "a library's function",
}
"""Names for work other than a kernel's threads that accesses memory."""

REFUSALS = {
    Refused.empty_grid: "an empty grid",
    Refused.large_grid: "a grid of more than 2^31-1 x 65535 x 65535 blocks",
    Refused.empty_block: "a block without threads",
    Refused.large_block: "a block of more than 1024 threads, or 64 along z",
    Refused.shared_memory: "more shared memory than the kernel is allowed: 48 KB with its static arrays, or the limit "
    "that cudaFuncSetAttribute sets",
    Refused.not_resident: "a cooperative grid of more blocks than are resident at once",
    Refused.cluster: "a grid that is not a multiple of its clusters, or a cluster of more than 8 blocks that the "
    "kernel is not allowed",
}


REFUSED_MAPS = {
    RefusedMap.map_address: "the CUtensorMap is not aligned to 64 bytes",
    RefusedMap.type: "an unknown type of elements",
    RefusedMap.word: "a value that its enumeration lacks",
    RefusedMap.rank: "a rank that is not 1 to 5",
    RefusedMap.interleaved_rank: "an interleaved array of fewer than 3 axes",
    RefusedMap.address: "the array's address is not a multiple of 16 bytes (32 if it is interleaved by 32)",
    RefusedMap.interleaved_swizzle: "an array that is interleaved by 32 bytes, and not swizzled by 32",
    RefusedMap.fill: "a fill of NaN for elements that are not floats",
    RefusedMap.list: "a list of sizes is null",
    RefusedMap.size: "an axis of no elements, or of more than 2^32",
    RefusedMap.box: "a side of the box that is not 1 to 256",
    RefusedMap.step: "an element stride that is not 1 to 8",
    RefusedMap.stride: "a stride that is not a multiple of 16 bytes (32 if interleaved by 32), or is 2^40 or more",
    RefusedMap.inner_side: "the inner side of the box is not a multiple of 16 bytes",
    RefusedMap.inner_width: "the inner side of the box is wider than the swizzle",
    RefusedMap.box_bytes: "a box of more than 228 KB, the shared memory of a multiprocessor",
}


def message(raw: RawFinding, scene: RunScene) -> str:
    """The message of a finding."""
    return sight_type(raw.kind).message.format_map(Wording(raw, scene))


class Wording(Mapping[str, str]):
    """The words for one finding. A property makes each word only when the message uses it, since most numbers of a
    finding have a meaning for a few sights only.
    """

    def __init__(self, raw: RawFinding, scene: RunScene) -> None:
        self._raw, self._scene, self._launch = raw, scene, scene.launch(raw)

    def __getitem__(self, word: str) -> str:
        return str(getattr(self, word))

    def __iter__(self) -> Iterator[str]:
        return (name for name, one in vars(Wording).items() if isinstance(one, property))

    def __len__(self) -> int:
        return len(list(iter(self)))

    @property
    def me(self) -> str:
        """The thread that made the access, or its program."""
        if self._scene.is_tiled:
            return f"program {_format(coordinates(self._raw.block, self._launch.grid))}"
        return f"thread {_format(coordinates(self._raw.thread, self._launch.block))}"

    @property
    def other(self) -> str:
        """The other thread."""
        if self._scene.is_tiled:
            return "another thread of this program"
        return f"thread {_format(coordinates(self._raw.other_thread, self._launch.block))}"

    @property
    def other_block(self) -> str:
        return f"block {_format(coordinates(self._raw.other_block, self._launch.grid))}"

    @property
    def actor(self) -> str:
        """The thread or other work that made the access."""
        return WORK.get(self._raw.work, _by_itself(self._raw.traits) + self.me)

    @property
    def does(self) -> str:
        return "writes" if self._raw.writes else "reads"

    @property
    def accesses(self) -> str:
        """The verb for the access, with its traits."""
        if self._raw.traits & Traits.frees:
            return "frees"
        if self._raw.traits & Traits.is_atomic:
            return "updates atomically" + _scope(self._raw.traits)
        return self.does + _volatile(self._raw.traits)

    @property
    def other_accessed(self) -> str:
        """The other thread or other work, and its access."""
        traits = self._raw.other_traits
        if traits & Traits.is_bulk:
            return f"{_by_itself(traits)}{self._other_actor} {'writes' if self._raw.other_writes else 'reads'}"
        verb = "updated atomically" if traits & Traits.is_atomic else "wrote" if self._raw.other_writes else "read"
        return f"{self._other_actor} {verb}{_scope(traits)}{_volatile(traits)}"

    @property
    def _other_actor(self) -> str:
        relation = self._raw.relation
        if relation in OTHER_WORK:
            return _other_work(self._raw, self._scene)
        if relation == Relation.in_other_blocks and self._scene.is_tiled:
            return f"program {_format(coordinates(self._raw.other_block, self._launch.grid))}"
        if relation == Relation.in_other_blocks:
            return f"{self.other} of {self.other_block}"
        if self._raw.other_thread == self._raw.thread:  # one of the two is a bulk copy that it asked for
            return "that thread"
        if self._scene.is_tiled:
            return self.other
        return f"{self.other} of its warp" if relation == Relation.in_one_warp else f"{self.other} of another warp"

    @property
    def wait_for_copy(self) -> str:
        """What would say that the other access, by a bulk copy, is over."""
        if not self._raw.other_writes:
            return "needs a wait by cp.async.bulk.wait_group.read, or for its mbarrier, before"
        return "needs a wait for the phase of its mbarrier, or by cp.async.bulk.wait_group, before"

    @property
    def end_of_product(self) -> str:
        """What would say that an operation of tensor cores is over."""
        if self._raw.other_traits & Traits.is_of_product:
            return "wgmma.wait_group before, and a barrier or mbarrier if other threads wait"
        return "a tcgen05.commit by that thread to an mbarrier, and a wait for its phase, before"

    @property
    def wait_for_transfer(self) -> str:
        """What would say that a transfer between tensor memory and registers is over."""
        what = "ld" if self._raw.other_traits & Traits.is_tensor_load else "st"
        return f"tcgen05.wait::{what} by its warp before, and a barrier or mbarrier if another warp waits"

    @property
    def tensor_fence(self) -> str:
        """The fence of tcgen05 that is missing."""
        if self._raw.detail:
            return "tcgen05.fence::after_thread_sync after this thread has waited"
        return "tcgen05.fence::before_thread_sync by that thread before it tells others, and ::after_thread_sync here"

    @property
    def not_allocated(self) -> str:
        return "freed" if self._raw.detail else "not allocated"

    @property
    def reachable_lanes(self) -> str:
        """The lanes of tensor memory that a warp reaches."""
        return f"lanes {self._raw.detail} to {self._raw.detail + 31}"

    @property
    def instruction(self) -> str:
        """An instruction descriptor of tcgen05.mma."""
        return f"0x{self._raw.detail:08x}"

    @property
    def refused_product(self) -> str:
        """What an instruction descriptor names that its kind of product does not have."""
        bits = self._raw.detail
        if self._raw.bytes == 1:
            return f"{(bits >> 24 & 31) * 16} x {(bits >> 17 & 63) * 8} sums, which this kind does not have"
        return "a type or an order of elements that this kind does not have"

    @property
    def wait_for_product(self) -> str:
        """What would say that a product is over."""
        return "wgmma.commit_group and wgmma.wait_group" if self._raw.detail else "wgmma.wait_group"

    @property
    def without_fence(self) -> str:
        """Why a product needs a fence of registers."""
        return "and has executed no wgmma.fence" if self._raw.detail else "after it has written one of its sums"

    @property
    def never_waits(self) -> str:
        """The line of the launch between two others that never waits for the first of them."""
        return describe_line(self._scene.library, self._scene.launches[self._raw.detail].line or 0)

    @property
    def initialiser(self) -> str:
        """The thread that initialised an mbarrier."""
        return self._other_actor

    @property
    def array(self) -> str:
        return str(place_of(self._raw, self._scene)[0])

    @property
    def address(self) -> str:
        return f"0x{self._raw.address:x}"

    @property
    def where(self) -> str:
        """The element of an array, or the address if it lies in no array."""
        array, index = place_of(self._raw, self._scene)
        where = f"{array}[{index}]" if array is not None else f"address {self.address}"
        if self._raw.place == Place.tensor_memory:
            where = f"lane {self._raw.offset >> 16}, column {self._raw.offset & 0xFFFF} of tensor memory"
        owner = f" of block {_format(coordinates(self._raw.owner - 1, self._launch.grid))}" if self._raw.owner else ""
        return where + owner

    @property
    def place(self) -> str:
        """The element of an array, or so many bytes there if the access has another size."""
        array = self._scene.arrays[self._raw.place_number] if self._raw.place == Place.buffer else None
        is_element = not array or array.element_bytes == self._raw.bytes
        return self.where if is_element and self._raw.place != Place.nowhere else f"{self.size} at {self.where}"

    @property
    def outside(self) -> str:
        """The array that the access missed."""
        if self._raw.place != Place.buffer:
            return f"that is {plural(self._raw.offset, 'byte')} from its start, outside the array"
        array = self._scene.arrays[self._raw.place_number]
        if not has_been_freed(self._raw, self._scene):
            return str(array.extent)
        is_by_thread = "by_host" not in sight_type(self._raw.kind).traits
        return f"{array.extent}{array.freed}{self._node if is_by_thread else ''}"

    @property
    def left(self) -> str:
        """The part of an access by the host that an array had, or the array, if it was freed before."""
        if self._raw.place == Place.buffer and has_been_freed(self._raw, self._scene):
            return self.outside
        return f"where the array has only {self.detail} left"

    @property
    def _node(self) -> str:
        """If the launch is a node of a graph: its line, and the line that launches the graph."""
        if not self._launch.graph_line:
            return ""
        lines = [describe_line(self._scene.library, one) for one in (self._launch.line or 0, self._launch.graph_line)]
        return f"; the launch in {lines[0]} is a node of the graph that {lines[1]} launches"

    @property
    def bytes(self) -> str:
        return str(self._raw.bytes)

    @property
    def size(self) -> str:
        return plural(self._raw.bytes, "byte")

    @property
    def threads(self) -> str:
        return plural(self._raw.detail, "thread")

    @property
    def others(self) -> str:
        return plural(self._raw.detail, "other")

    @property
    def blocks_wait(self) -> str:
        """How many blocks, with their verb."""
        return plural(self._raw.detail, "block waits", "blocks wait")

    @property
    def detail(self) -> str:
        """A number whose meaning depends on the sight."""
        return str(self._raw.detail)

    @property
    def index(self) -> str:
        """The same number as a signed index."""
        return str(self._raw.detail - (1 << 64) if self._raw.detail >= 1 << 63 else self._raw.detail)

    @property
    def mask(self) -> str:
        """The same number as a mask of lanes."""
        return f"mask {self._raw.detail:#010x}"

    @property
    def signal(self) -> str:
        """The same number as the name of a signal."""
        return Signals(self._raw.detail).name

    @property
    def at_other_place(self) -> str:
        """The place where the missing lane waits."""
        return "at a barrier of the block" if self._raw.bytes else "in another warp operation"

    @property
    def map_refusal(self) -> str:
        """The reason why the driver refuses a tensor map."""
        return REFUSED_MAPS[self._raw.detail]

    @property
    def refusal(self) -> str:
        """The reason why a GPU refuses the launch."""
        grid, block = ("x".join(map(str, size)) for size in (self._launch.grid, self._launch.block))
        shared = f", {plural(self._launch.shared, 'byte')} of shared memory" if self._launch.shared else ""
        return f"{REFUSALS[self._launch.refused]} (grid {grid}, block {block}{shared})"


def place_of(raw: RawFinding, scene: RunScene) -> tuple[str | None, int | None]:
    """The array, and the index of the element. In arrays of unknown type, an element is as large as the access."""
    if raw.place == Place.buffer:
        array = scene.arrays[raw.place_number]
        return array.name, raw.offset // array.element_bytes
    if raw.place == Place.static_shared:
        return scene.library.shared_arrays[raw.place_number][0], raw.offset // (raw.bytes or WORD)
    if raw.place == Place.global_variable:
        return scene.library.variables[raw.place_number][0], raw.offset // (raw.bytes or WORD)
    if raw.place == Place.heap:
        return f"an array of {plural(raw.place_number, 'byte')} from malloc", raw.offset // (raw.bytes or WORD)
    if raw.place == Place.dynamic_shared:
        names = scene.library.dynamic_shared
        return names[0] if len(names) == 1 else "dynamic shared memory", raw.offset // (raw.bytes or WORD)
    return None, None


def has_been_freed(raw: RawFinding, scene: RunScene) -> bool:
    """Whether the array was already freed at the access. A write outside the array does not show that."""
    array, sight = scene.arrays[raw.place_number], sight_type(raw.kind)
    if "left_behind" in sight.traits and not 0 <= raw.offset < array.bytes:
        return False
    if "detail_is_room" in sight.traits:
        return bool(array.freed) and not raw.detail
    return bool(array.freed) and ("detail_is_freed" not in sight.traits or bool(raw.detail))


def _by_itself(traits: int) -> str:
    """What a thread asks for that accesses memory by itself, and the word before that thread."""
    names = {
        Traits.is_of_product: "a wgmma by ",
        Traits.is_of_tensor_core: "a tcgen05.mma or .cp by ",
        Traits.is_tensor_load: "a tcgen05.ld by ",
        Traits.is_tensor_store: "a tcgen05.st by ",
        Traits.is_bulk: "a bulk copy by ",
        0: "",
    }
    return next(name for trait, name in names.items() if not trait or traits & trait)


def _scope(traits: int) -> str:
    return " in block scope" if traits & Traits.is_of_block_scope else ""


def _volatile(traits: int) -> str:
    return " (volatile)" if traits & Traits.is_volatile else ""


def _other_work(raw: RawFinding, scene: RunScene) -> str:
    """The work that made the other access, if the host started it separately."""
    if raw.other_work != Work.kernel or raw.other_launched >= len(scene.launches):
        return WORK.get(raw.other_work, "a kernel")
    one = scene.launches[raw.other_launched]
    thread = f"thread {_format(coordinates(raw.other_thread, one.block))}"
    block = f" of block {_format(coordinates(raw.other_block, one.grid))}" if raw.other_block_known else ""
    return f"{thread}{block} of the launch in {describe_line(scene.library, one.line or 0)}"


def _format(place: tuple[int, int, int]) -> str:
    used = max((i for i, one in enumerate(place) if one), default=0) + 1
    return str(place[0]) if used == 1 else str(place[:used])
