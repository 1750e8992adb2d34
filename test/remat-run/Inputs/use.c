/* Runs an emitted step as a user's program does. usage: use ARGUMENTS RESULTS [STEP.so]
 *
 * ARGUMENTS holds the data of all arguments, one behind the other; RESULTS gets the results' data in the same way. With
 * BY_NAME the step and the C API are looked up in STEP.so; else the program is linked with them. */
#include "step.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef BY_NAME
static void *library;
static void *lookUp(const char *name) {
  void *symbol = dlsym(library, name);
  if (!symbol) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return symbol;
}
#define CALL(NAME) ((__typeof__(&NAME))lookUp(#NAME))
#else
#define CALL(NAME) NAME
#endif

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, CALL(remat_error)());
  return 1;
}

int main(int argc, char **argv) {
#ifdef BY_NAME
  library = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
#endif
  remat_program *program = CALL(step_open)();
  if (!program)
    return fail("open");
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
  size_t count = CALL(remat_argument_count)(program), results = CALL(remat_result_count)(program);
  void **arguments = calloc(count + 1, sizeof(*arguments));
  remat_tensor tensor;
  for (size_t i = 0; i < count; ++i) {
    CALL(remat_argument)(program, i, &tensor);
    arguments[i] = aligned_alloc(64, ((size_t)tensor.bytes + 63) / 64 * 64 + 64);
    if (fread(arguments[i], 1, (size_t)tensor.bytes, in) != (size_t)tensor.bytes) {
      fprintf(stderr, "%s is cut off\n", argv[1]);
      return 1;
    }
  }
  remat_context *context = CALL(remat_context_create)(program, NULL, 0);
  if (!context || CALL(remat_run)(context, (const void *const *)arguments) != 0)
    return fail("run");
  for (size_t i = 0; i < results; ++i) {
    CALL(remat_result)(program, i, &tensor);
    fwrite(CALL(remat_result_data)(context, i), 1, (size_t)tensor.bytes, out);
  }
  printf("%zu arguments, %zu results, %d threads\n", count, results, CALL(remat_threads)(program));
  CALL(remat_context_destroy)(context);
  CALL(remat_program_close)(program);
  for (size_t i = 0; i < count; ++i)
    free(arguments[i]);
  free(arguments);
#ifdef BY_NAME
  if (dlclose(library) != 0)
    return 1;
#endif
  fclose(in);
  return fclose(out) != 0;
}
