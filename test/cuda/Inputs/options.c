/* Opens an emitted step with options of its own, and prints what loading it says. */
#include "step.h"

#include <stdio.h>

static void load(const char *what, const remat_cuda_options *options) {
  remat_cuda_program *program = step_open(options);
  int failed = !program || remat_cuda_load(program) != 0;
  printf("%s: %s\n", what, failed ? remat_cuda_error() : "loaded");
  remat_cuda_close(program);
}

int main(void) {
  remat_cuda_options nowhere = {.driver = "/nowhere/libcuda.so"}, before = {.device = -1};
  load("driver given", &nowhere);
  load("device -1", &before);
  load("defaults", NULL);
  return 0;
}
