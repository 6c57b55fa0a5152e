#pragma once
#include "device_wide.cuh"
