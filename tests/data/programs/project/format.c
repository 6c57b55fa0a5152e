#include <stdio.h>

void show(const char *name, double value) { printf("%s: %.1f\n", name, value); }
