#include "knowledge.h"
#include "state.h"

#include <sys/mman.h>

namespace cuda_on_cpu {

namespace {

// A binary trie over the bits of agents, from the highest, whose nodes are only the bits that distinguish two agents
// (Okasaki and Gill, Fast Mergeable Integer Maps, 1998).
struct Node {
  uint32_t key;  // an agent; in a branch, the bits that all agents below it share
  uint32_t bit;  // the highest bit in which those below differ; 0: a leaf
  uint32_t left, right;  // the children for bit 0 and bit 1; a leaf has its moment in `left`
};

constexpr uint32_t capacity = 8 << 20, reserve = 4096;  // no single operation uses more than the reserve

struct NodeMapping {
  Node *nodes;
};
PerProcess<NodeMapping> mapping;

// What two branches have been joined to. 256 warps of a cluster that each arrive at 16 barriers join the same parts again and
// again: a launch of 16 blocks of 512 threads took 20 s, of which 16 s were joins.
struct Join {
  Knowledge a, b, made;
  uint32_t life;  // of these numbers
};
constexpr uint32_t joins_bits = 14;
struct Joins {
  Join of[1 << joins_bits];
  uint32_t lives;
};
PerProcess<Joins> joins;

struct Nodes {
  uint32_t used = 1;
  uint32_t changeable_from = ~0u;
  uint32_t life = ++joins.lives;  // until the numbers of nodes are given again
};
PerRun<Nodes> known;

Join &join_of(Knowledge a, Knowledge b) { return joins.of[(a * 0x9E3779B1u ^ b * 0x85EBCA77u) >> (32 - joins_bits)]; }

Knowledge node(uint32_t key, uint32_t bit, uint32_t left, uint32_t right) {
  if (known.used == capacity) return nothing;
  mapping.nodes[known.used] = {key, bit, left, right};
  return known.used++;
}

Knowledge replaced(Knowledge old, uint32_t left, uint32_t right) {
  Node &n = mapping.nodes[old];
  if (n.left == left && n.right == right) return old;
  if (old < known.changeable_from) return node(n.key, n.bit, left, right);
  n.left = left;
  n.right = right;
  return old;
}

uint32_t above(uint32_t key, uint32_t bit) { return key & ~(bit | (bit - 1)); }
bool is_below(uint32_t key, const Node &branch) { return above(key, branch.bit) == branch.key; }

// Joins two maps that differ in a bit above both.
Knowledge linked(Knowledge a, Knowledge b) {
  uint32_t bit = 1u << (31 - __builtin_clz(mapping.nodes[a].key ^ mapping.nodes[b].key));
  bool a_is_left = !(mapping.nodes[a].key & bit);
  return node(above(mapping.nodes[a].key, bit), bit, a_is_left ? a : b, a_is_left ? b : a);
}

Knowledge joined_below(Knowledge branch, Knowledge other) {
  const Node n = mapping.nodes[branch];
  if (mapping.nodes[other].key & n.bit) return replaced(branch, n.left, joined(n.right, other));
  return replaced(branch, joined(n.left, other), n.right);
}

}  // namespace

Knowledge joined(Knowledge a, Knowledge b) {
  if (a == b || !b) return a;
  if (!a) return b;
  const Node x = mapping.nodes[a], y = mapping.nodes[b];
  if (x.bit == y.bit && x.key == y.key) {
    if (!x.bit) return x.left >= y.left ? a : b;
    bool is_final = known.changeable_from == ~0u;  // no map changes in place
    Join &before = join_of(a, b);
    if (is_final && before.a == a && before.b == b && before.life == known.life) return before.made;
    Knowledge left = joined(x.left, y.left), right = joined(x.right, y.right);
    Knowledge made = left == y.left && right == y.right ? b : replaced(a, left, right);
    if (is_final && made) before = {a, b, made, known.life};
    return made;
  }
  if (x.bit > y.bit && is_below(y.key, x)) return joined_below(a, b);
  if (y.bit > x.bit && is_below(x.key, y)) return joined_below(b, a);
  return linked(a, b);
}

Knowledge with(Knowledge knowledge, uint32_t agent, uint32_t until) {
  if (known_until(knowledge, agent) >= until) return knowledge;
  return joined(knowledge, node(agent, 0, until, 0));
}

uint32_t known_until(Knowledge knowledge, uint32_t agent) {
  while (knowledge) {
    const Node &n = mapping.nodes[knowledge];
    if (!n.bit) return n.key == agent ? n.left : 0;
    if (!is_below(agent, n)) return 0;
    knowledge = agent & n.bit ? n.right : n.left;
  }
  return 0;
}

Knowledge with_copies(Knowledge knowledge, uint32_t first, uint32_t last, uint32_t bits) {
  struct Walk {
    Knowledge made;
    uint32_t first, last, bits;
    void over(Knowledge at) {
      if (!at) return;
      const Node n = mapping.nodes[at];
      if (n.key > last || n.key + 2 * uint64_t{n.bit} < uint64_t{first} + (n.bit ? 1 : 0)) return;
      if (!n.bit) {
        if (has_room_for_knowledge()) made = with(made, n.key | bits, n.left);
        return;
      }
      over(n.left);
      over(n.right);
    }
  } walk = {knowledge, first, last, bits};
  walk.over(knowledge);
  return walk.made;
}

void begin_joining() { known.changeable_from = known.used; }
void end_joining() { known.changeable_from = ~0u; }

bool has_room_for_knowledge() { return known.used + reserve < capacity; }

bool map_knowledge() {
  if (mapping.nodes) return true;
  void *memory = mmap(nullptr, capacity * sizeof(Node), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  mapping.nodes = static_cast<Node *>(memory);
  return true;
}

void forget_knowledge() {
  known.used = 1;
  known.life = ++joins.lives;
}

}  // namespace cuda_on_cpu
