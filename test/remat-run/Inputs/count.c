/* Runs an emitted step several times and counts what the process allocates behind the first run, all threads of all
   libraries included: this program's malloc comes before the C library's. */
#include "step.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZER_HAS_MALLOC
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZER_HAS_MALLOC
#endif
#endif

static long allocations;

#ifndef SANITIZER_HAS_MALLOC
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static void count(void) { __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED); }
void *malloc(size_t size) { return count(), __libc_malloc(size); }
void *calloc(size_t number, size_t size) { return count(), __libc_calloc(number, size); }
void *realloc(void *memory, size_t size) { return count(), __libc_realloc(memory, size); }
void *memalign(size_t alignment, size_t size) { return count(), __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return count(), __libc_memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
void free(void *memory) { __libc_free(memory); }
#endif

static _Alignas(64) char zeros[1 << 20];

int main(void) {
  remat_program *program = step_open();
  if (!program)
    return printf("%s\n", remat_error()), 1;
  const void *arguments[1024];
  for (size_t i = 0; i < remat_argument_count(program); ++i) {
    remat_tensor tensor;
    remat_argument(program, i, &tensor);
    if (i >= 1024 || tensor.bytes > (int64_t)sizeof(zeros))
      return printf("the step is too large for this test\n"), 1;
    arguments[i] = zeros;
  }
  remat_context *context = remat_context_create(program, NULL, 0);
  if (!context || remat_run(context, arguments) != 0)
    return printf("%s\n", remat_error()), 1;
  long before = allocations;
  for (int run = 0; run < 20; ++run)
    if (remat_run(context, arguments) != 0)
      return printf("%s\n", remat_error()), 1;
  /* Before printf, which allocates. */
  long during = allocations - before;
  printf("%s before the first run's end, %ld in 20 more runs on %d threads\n", before ? "some" : "none seen", during,
         remat_threads(program));
  remat_context_destroy(context);
  remat_program_close(program);
  return during != 0;
}
