// What may be said of a launch besides its sizes.
#pragma once
#include "api.h"

enum cudaLaunchAttributeID { cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeClusterDimension = 4, cudaLaunchAttributePriority = 8 };
union cudaLaunchAttributeValue {
  int cooperative, priority;
  struct {
    unsigned int x, y, z;
  } clusterDim;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};

CUDA_ON_CPU_RUNTIME cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                                    const cudaLaunchAttributeValue *value);
