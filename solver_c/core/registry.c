/* The one file that names the backends of this build. Core reaches them through their tables alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/schema.h"
#include "core/solver.h"

/* cpu/backend.c */
ooze_result oz_cpu_backend_create(const oz_backend_desc *desc, oz_backend **out, ooze_message *why);
#if defined(OOZE_HAVE_CUDA)
/* cuda/ */
ooze_result oz_cuda_backend_create(const oz_backend_desc *desc, oz_backend **out,
                                   ooze_message *why);
uint64_t oz_cuda_bytes(uint64_t particles);
int oz_cuda_usable(const char **detail); /* detail: the device's name, or why there is none */
#endif

typedef struct oz_choice {
  uint32_t backend, isa;
  const char *name;
  int (*usable)(const char **detail);
} oz_choice;

static int always(const char **detail) {
  *detail = "";
  return 1;
}
#if defined(__x86_64__) && (defined(OZ_HAVE_AVX2) || defined(OZ_HAVE_AVX512))
static int has_avx2(const char **detail) {
  int has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  *detail = has ? "" : "this processor has no AVX2";
  return has;
}
static int has_avx512(const char **detail) {
  int has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
            has_avx2(detail);
  *detail = has ? "" : "this processor has no AVX-512 (F, DQ, BW, VL)";
  return has;
}
#endif

/* The wider ones first: AUTO takes the first that is usable. */
static const oz_choice choices[] = {
#if defined(OZ_HAVE_AVX512)
    {OOZE_BACKEND_CPU, OOZE_ISA_AVX512, "cpu avx512", has_avx512},
#endif
#if defined(OZ_HAVE_AVX2)
    {OOZE_BACKEND_CPU, OOZE_ISA_AVX2, "cpu avx2", has_avx2},
#endif
#if defined(OZ_HAVE_SSE)
    {OOZE_BACKEND_CPU, OOZE_ISA_SSE, "cpu sse", always},
#endif
#if defined(OZ_HAVE_NEON)
    {OOZE_BACKEND_CPU, OOZE_ISA_NEON, "cpu neon", always},
#endif
    {OOZE_BACKEND_CPU, OOZE_ISA_SCALAR, "cpu scalar", always},
#if defined(OOZE_HAVE_CUDA)
    {OOZE_BACKEND_CUDA, OOZE_ISA_AUTO, "cuda", oz_cuda_usable},
#endif
};
enum { CHOICES = (int)(sizeof choices / sizeof *choices) };

static const char *const isa_names[] = {"auto", "scalar", "neon", "sse", "avx2", "avx512"};
static const char *const task_names[] = {"auto", "host", "tbb", "pool", "serial", "shuffled"};

uint32_t ooze_backend_count(void) { return CHOICES; }

ooze_result ooze_backend_get(uint32_t index, ooze_backend_info *out) {
  if (index >= CHOICES) return OOZE_ERROR_NOT_FOUND;
  ooze_backend_info info;
  ooze_backend_info_default(&info);
  info.backend = choices[index].backend;
  info.isa = choices[index].isa;
  info.name = choices[index].name;
  info.usable = (uint32_t)(choices[index].usable(&info.detail) != 0);
  return oz_struct_write(out, &info, sizeof info, "backend info", NULL);
}

uint64_t ooze_device_bytes(uint64_t particles) {
#if defined(OOZE_HAVE_CUDA)
  return oz_cuda_bytes(particles);
#else
  (void)particles;
  return 0;
#endif
}

/* The variants of a backend in this build, for messages: "cpu neon, cpu scalar". */
static const char *names(char *text, size_t capacity) {
  size_t at = 0;
  text[0] = 0;
  for (int i = 0; i < CHOICES && at < capacity; ++i) {
    int n = snprintf(text + at, capacity - at, "%s%s", i ? ", " : "", choices[i].name);
    if (n < 0) break;
    at += (size_t)n;
  }
  return text;
}

static ooze_result create_cpu(const ooze_solver_desc *desc, oz_backend_desc *ask, oz_backend **out,
                              ooze_message *why) {
  char text[160];
  for (int i = 0; i < CHOICES; ++i) {
    const char *detail = "";
    if (choices[i].backend != OOZE_BACKEND_CPU) continue;
    if (desc->isa != OOZE_ISA_AUTO && choices[i].isa != desc->isa) continue;
    if (!choices[i].usable(&detail)) {
      if (desc->isa == OOZE_ISA_AUTO) continue;
      return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "%s: %s", choices[i].name, detail);
    }
    ask->isa = choices[i].isa;
    ooze_result r = oz_cpu_backend_create(ask, out, why);
    if (r != OOZE_ERROR_UNSUPPORTED) return r;
    /* the kind of tasks and the vector width are there, so it was memory or threads that were
     * missing */
    return oz_fail(why, OOZE_ERROR_MEMORY, "%s: out of memory or threads for tasks (%s)",
                   choices[i].name, task_names[desc->tasks]);
  }
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "cpu %s: this build has %s", isa_names[desc->isa],
                 names(text, sizeof text));
}

static ooze_result create_cuda(oz_backend_desc *ask, oz_backend **out, ooze_message *why) {
#if defined(OOZE_HAVE_CUDA)
  return oz_cuda_backend_create(ask, out, why);
#else
  char text[160];
  (void)ask;
  *out = NULL;
  return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "cuda: not in this build, which has %s",
                 names(text, sizeof text));
#endif
}

ooze_result oz_registry_create(const ooze_solver_desc *desc, oz_memory *memory, oz_backend **out,
                               uint32_t *out_kind, uint32_t *out_isa, ooze_message *why) {
  oz_backend_desc ask;
  memset(&ask, 0, sizeof ask);
  ask.threads = desc->threads;
  ask.tasks = desc->tasks;
  ask.device = desc->device;
  ask.memory = memory;
  ask.hooks = &memory->hooks;
  if (desc->backend > OOZE_BACKEND_CUDA)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "solver: backend is %u; expected 0 to 2 (auto, cpu, cuda)",
                   (unsigned)desc->backend);
  if (desc->isa > OOZE_ISA_AVX512)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "solver: isa is %u; expected 0 to 5",
                   (unsigned)desc->isa);
  if (desc->tasks > OOZE_TASKS_SHUFFLED)
    return oz_fail(why, OOZE_ERROR_ARGUMENT, "solver: tasks is %u; expected 0 to 5",
                   (unsigned)desc->tasks);
  if (desc->tasks == OOZE_TASKS_HOST && !memory->hooks.parallel_for)
    return oz_fail(why, OOZE_ERROR_ARGUMENT,
                   "solver: tasks is host, but the hooks have no parallel_for");
#if !defined(OOZE_HAVE_TBB)
  if (desc->tasks == OOZE_TASKS_TBB)
    return oz_fail(why, OOZE_ERROR_UNSUPPORTED, "tasks %s: this build has no TBB; use pool",
                   task_names[desc->tasks]);
#endif

  /* AUTO: the GPU where there is one that works, unless something about CPU stages was asked for */
  *out = NULL;
  *out_kind = OOZE_BACKEND_CUDA;
  *out_isa = OOZE_ISA_AUTO;
  if (desc->backend == OOZE_BACKEND_CUDA) return create_cuda(&ask, out, why);
#if defined(OOZE_HAVE_CUDA)
  if (desc->backend == OOZE_BACKEND_AUTO && desc->isa == OOZE_ISA_AUTO &&
      desc->tasks == OOZE_TASKS_AUTO) {
    const char *detail = "";
    ooze_message news = {""};
    int usable = oz_cuda_usable(&detail);
    if (usable && create_cuda(&ask, out, &news) >= 0) return OOZE_OK;
    if (!usable) (void)oz_fail(&news, OOZE_OK, "cuda: %s; running on the CPU", detail);
    if (memory->hooks.log)
      memory->hooks.log(memory->hooks.user, usable ? OOZE_LOG_WARNING : OOZE_LOG_INFO, news.text);
  }
#endif
  *out_kind = OOZE_BACKEND_CPU;
  const ooze_result r = create_cpu(desc, &ask, out, why);
  *out_isa = ask.isa;
  return r;
}

const char *oz_registry_name(uint32_t backend, uint32_t isa) {
  static const char *const cpu[] = {"cpu",     "cpu scalar", "cpu neon",
                                    "cpu sse", "cpu avx2",   "cpu avx512"};
  if (backend == OOZE_BACKEND_CUDA) return "cuda";
  return isa < sizeof cpu / sizeof *cpu ? cpu[isa] : "an unknown cpu";
}

/* ---- description of this build ---- */

#define OZ_TEXT2(x) #x
#define OZ_TEXT(x) OZ_TEXT2(x)

uint32_t ooze_version(void) {
  return OOZE_VERSION_MAJOR * 10000u + OOZE_VERSION_MINOR * 100u + OOZE_VERSION_PATCH;
}
const char *ooze_version_text(void) {
  return OZ_TEXT(OOZE_VERSION_MAJOR) "." OZ_TEXT(OOZE_VERSION_MINOR) "." OZ_TEXT(
      OOZE_VERSION_PATCH);
}
const char *ooze_build_text(void) {
  return "ooze " OZ_TEXT(OOZE_VERSION_MAJOR) "." OZ_TEXT(OOZE_VERSION_MINOR) "." OZ_TEXT(
      OOZE_VERSION_PATCH)
#if defined(__clang__)
      "; clang " OZ_TEXT(__clang_major__) "." OZ_TEXT(__clang_minor__)
#elif defined(__GNUC__)
      "; gcc " OZ_TEXT(__GNUC__) "." OZ_TEXT(__GNUC_MINOR__)
#endif
          "; stages"
#if defined(OZ_HAVE_AVX512)
          " avx512"
#endif
#if defined(OZ_HAVE_AVX2)
          " avx2"
#endif
#if defined(OZ_HAVE_SSE)
          " sse"
#endif
#if defined(OZ_HAVE_NEON)
          " neon"
#endif
          " scalar; tasks"
#if defined(OOZE_HAVE_TBB)
          " tbb"
#endif
          " pool"
#if defined(OOZE_HAVE_CUDA)
          "; cuda"
#endif
      ;
}
