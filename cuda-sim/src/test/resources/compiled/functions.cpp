#include "functions.h"

#include <cstdio>

// The results of inputs 0, 1, … and of their mixes, a line each.
int main() {
  for (unsigned i = 0; i < 256; i++) {
    unsigned long long out[8];
    results(i < 128 ? i : mix(i), out);
    for (int j = 0; j < 8; j++) std::printf("%llx%c", out[j], j == 7 ? '\n' : ' ');
  }
}
