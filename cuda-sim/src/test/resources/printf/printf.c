/* Prints what PrintFormatTest expects: a format, an argument's bits, and C's text between bars.
   gcc printf.c -o printf && ./printf > printf.txt */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const floats[] = {"%f", "%.0f", "%#.0f", "%.1f", "%12.3f", "%-12.3f", "%+012.3f", "%e", "%.0e",
                                     "%#.0e", "%.12E", "%g", "%G", "%#g", "%.3g", "%.15g", "%a", "%A", "%.2a", "%.0a",
                                     "%20.15a", "% .20f", "%010g"};
static const double doubles[] = {0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 3.14159265358979, 1e-5, 0.0001, 123456.0, 1234567.0,
                                 999999.5, 9.9999995, 1e22, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308,
                                 0.1, 1.0 / 3, 1.9999999999999998};
static const char *const ints[] = {"%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%.3d", "%8.3d", "%08.3d", "%.0d",
                                   "%u", "%x", "%X", "%#x", "%#o", "%o", "%#010x", "%hd", "%hhd", "%hu", "%hhu",
                                   "%i", "%c"};
static const int numbers[] = {0, 1, -1, 42, -42, 65, 255, 32768, 2147483647, -2147483647 - 1};
static const char *const longs[] = {"%ld", "%lld", "%lu", "%llx", "%20lld", "%-20ld|", "%zu", "%jd", "%p"};
static const long long wide[] = {0, -1, 1234567890123LL, -9223372036854775807LL - 1};

int main(void) {
  double special[] = {1 / 0.0, -1 / 0.0};
  for (unsigned f = 0; f < sizeof floats / sizeof *floats; f++) {
    for (unsigned i = 0; i < sizeof doubles / sizeof *doubles + 2; i++) {
      unsigned known = sizeof doubles / sizeof *doubles;
      double value = i < known ? doubles[i] : special[i - known];
      if (strcmp(floats[f], "%#g") == 0 && value == 999999.5) {
        continue; /* glibc loses the zeros that # keeps (C17 7.21.6.1) where rounding adds a digit */
      }
      uint64_t bits;
      memcpy(&bits, &value, 8);
      printf("%s\t%" PRIx64 "\t[", floats[f], bits);
      printf(floats[f], value);
      printf("]\n");
    }
  }
  for (unsigned f = 0; f < sizeof ints / sizeof *ints; f++) {
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
      if (strcmp(ints[f], "%c") != 0 || numbers[i] == 65 || numbers[i] == 42) {
        printf("%s\t%x\t[", ints[f], numbers[i]);
        printf(ints[f], numbers[i]);
        printf("]\n");
      }
    }
  }
  for (unsigned f = 0; f < sizeof longs / sizeof *longs; f++) {
    for (unsigned i = 0; i < sizeof wide / sizeof *wide; i++) {
      printf("%s\t%llx\t[", longs[f], wide[i]);
      printf(longs[f], wide[i]);
      printf("]\n");
    }
  }
  return 0;
}
