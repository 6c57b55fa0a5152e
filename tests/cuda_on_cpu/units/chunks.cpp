// units: chunks patterns shadow growing arena guard_zone block
#include "runtime/chunks.h"

#include "expect.h"

using namespace cuda_on_cpu;

int main() {
  Region region = {};
  constexpr uintptr_t start = uintptr_t{1} << 40, from = start + 4 * chunk_bytes, bytes = 2 * chunk_bytes + 4099;
  EXPECT(map_shadow(region, start, 16 * chunk_bytes) && map_chunks(region, from));
  EXPECT(!has_chunks(region, from - 4) && has_chunks(region, from));

  mark(region, from, bytes, false);
  EXPECT(cell_of_all(region, from)->state == 15 && cell_of_all(region, from + 2 * chunk_bytes - 4)->state == 15);
  EXPECT(!cell_of_all(region, from + 2 * chunk_bytes));  // of the last chunk only a part lies in the array
  EXPECT(region.cell(from - 4)->state == 0);
  EXPECT(region.cell(from + bytes - 7)->state == 15);  // the last whole word
  EXPECT(region.cell(from + bytes - 3)->state == 7 && region.cell(from + bytes + 1)->state == 0);

  set_initialised(region, from, chunk_bytes, true);
  EXPECT(cell_of_all(region, from)->state == Cell::all && cell_of_all(region, from + chunk_bytes)->state == 15);
  EXPECT(!give_cells(region, reinterpret_cast<uintptr_t>(region.cell(from - 4))));
  EXPECT(!give_cells(region, reinterpret_cast<uintptr_t>(region.settled_at(from))));
  EXPECT(give_cells(region, reinterpret_cast<uintptr_t>(region.cell(from + 1000))));
  EXPECT(!cell_of_all(region, from) && cell_of_all(region, from + chunk_bytes));
  EXPECT(region.cell(from)->state == Cell::all && region.cell(from + chunk_bytes - 4)->state == Cell::all);

  give_cells(region, reinterpret_cast<uintptr_t>(region.cell(from + chunk_bytes)));
  set_initialised(region, from + chunk_bytes - 8, 16, false);  // over the border of two chunks
  EXPECT(region.cell(from + chunk_bytes - 12)->state == Cell::all && region.cell(from + chunk_bytes - 8)->state == 15);
  EXPECT(region.cell(from + chunk_bytes + 4)->state == 15);

  uintptr_t words = 0, uniform = 0;
  unmark(region, from, bytes);
  EXPECT(region.cell(from)->state == 0 && region.cell(from + bytes - 3)->state == 0);
  mark(region, from, bytes, true);
  walk(region, from + 4, from + bytes, [&](uintptr_t at, uintptr_t end) { return words += end - at, true; },
       [&](Chunk &chunk, uintptr_t at) { return uniform += at == from + chunk_bytes && chunk.all.state == Cell::all, true; });
  EXPECT(uniform == 1 && words == bytes - 4 - chunk_bytes);
  set_initialised(region, from + 100, chunk_bytes, true);  // parts of two chunks that are initialised: neither needs its cells
  EXPECT(cell_of_all(region, from) && cell_of_all(region, from + chunk_bytes));
  unmap_shadow(region);
  return failures;
}
