// The common part of the kernels by cluster: a row in the shared memory of several blocks, and reductions over all of them.
//
// Every block sends its result into the shared memory of each, and after the cluster's barrier all can be read there.
// No block reaches into another's memory after the last barrier, and so no block has to wait for others at its end.
#pragma once

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include "row.cuh"

template <int CLUSTER, int THREADS>
struct RowOfCluster {
    // The share of a row that this block has: vectors [begin, begin + count) of it, and of the edge all or nothing.
    BlockRow<float> row;
    int rank;  // ranges [0, CLUSTER)
    int begin;
    int count;  // ranges [0, share]
    int col;  // this worker's element of the edge, or -1
    float edge;

    __device__ __forceinline__ RowOfCluster(const float *x, int cols, int share, float padding)
        : row(x, blockIdx.x / CLUSTER, cols), rank(blockIdx.x % CLUSTER) {
        begin = min(rank * share, row.vectors);
        count = min(share, row.vectors - begin);
        col = rank == 0 ? row.edge(threadIdx.x) : -1;
        edge = padding;
    }

    // Copies the share without registers. A thread reads back only what it has copied itself: no barrier is needed.
    __device__ __forceinline__ void load(float4 *held) {
        const float *from = row.x + place(0);
        for (int i = threadIdx.x; i < count; i += THREADS) {
            __pipeline_memcpy_async(&held[i], from + 4 * i, 16);
        }
        __pipeline_commit();
        if (col >= 0) {
            edge = row.x[col];
        }
        __pipeline_wait_prior(0);
    }

    __device__ __forceinline__ int place(int i) const {
        return row.head + 4 * (begin + i);
    }
};

template <class T, int CLUSTER>
__device__ __forceinline__ void send_to_all(T value, T (&of_block)[CLUSTER]) {
    // all threads of the block have `value`; all blocks have begun. `of_block` is for one call alone.
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    if (threadIdx.x < CLUSTER) {
        cluster.map_shared_rank(of_block, threadIdx.x)[cluster.block_rank()] = value;
    }
    cluster.sync();
}

template <int CLUSTER>
__device__ __forceinline__ float cluster_sum(float value, float (&of_block)[CLUSTER]) {
    send_to_all(value, of_block);
    return lanes_sum<CLUSTER>(of_block[threadIdx.x % CLUSTER]);
}
