#include "../host_config.h"
