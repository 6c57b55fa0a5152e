// Work that waits until something can see what it does. A benchmark does the same hundreds of times and reads none of the
// answers.
//
// Once a run samples large launches (runtime/sampling.h), a launch that is equal to one that has run (kernel, arguments,
// grid) is put off; before that, one that is equal to several that have run. So are the equal memsets and calls of cuBLAS
// and the frees that follow it. Everything that may see or change what they do, such as a copy or another launch, first
// does them all, in their order. What waits when the program ends is never done: nothing can have seen it.
//
// Only a program with one stream, and without memory that the host can access by itself, puts work off. If the host has
// waited meanwhile, or recorded an event, it has waited for all of it: an order that may be too strict shows no false race.
//
// A function may allocate a workspace at each call, and free it: then arguments count as equal if they only name another
// array of the same size, and work may wait until after the free of an array of which no copy can have given a kernel the address.
#pragma once
#include "host.h"

namespace cuda_on_cpu {

enum class Waiting { launch, library, set, allocation, free };

bool has_deferred();
// Whether work on this stream with these arguments may wait. None may wait until after the free of an array that it could use.
bool may_defer(cudaStream_t stream, const void *arguments, size_t bytes);
void defer(Waiting what, const Again &again);
void do_deferred();
// Before an array that waiting work may access is freed. True: the free waits, too.
bool defer_free(Buffer &array, const Again &again);
// Where no room is left for a new array: one that waits to be freed, which it may replace once `again` has come behind the
// free; null if there is none. Both are of this size, from the same line.
Buffer *allocate_behind_free(size_t bytes, int line, Again (*again)(Buffer &array));
// The host waits for what it has started, or marks how far it is.
void note_host_waits();

// Whether an array was allocated after the last work but memsets of such arrays: nothing that waits can access it.
bool is_unused(const Buffer &array);
void note_work();

// Work of a library by the bytes of its arguments. False: equal work was not done before, or may not wait.
using Does = void (*)();
bool may_defer_equal(const void *arguments, size_t bytes, Does does, cudaStream_t stream);
void note_equal(const void *arguments, size_t bytes, Does does);

}  // namespace cuda_on_cpu
