/* Figures of `ooze bench`, in print. SPDX-License-Identifier: Apache-2.0 */
#include "bench_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const bench_stage *stage_of(const bench_result *r, const char *name) {
  for (uint32_t i = 0; i < r->stage_count; ++i)
    if (strcmp(r->stages[i].name, name) == 0) return &r->stages[i];
  return NULL;
}

static const char *model_name(uint32_t model, char out[24]) {
  const char *at = cli_menu("solver", "model");
  for (uint32_t k = 0; k < model; ++k) at = strchr(at, '|') + 1;
  snprintf(out, 24, "%.*s", (int)strcspn(at, "|"), at);
  return out;
}

void bench_print_table(const bench_scene *s, const bench_settings *o, const bench_result *r,
                       const bench_result *twin) {
  double steps = (double)r->steps, accounted = 0.0;
  char name[24];
  printf("%s: %s%s%s\n", s->name, s->about, o->model ? "; model " : "",
         o->model ? model_name(o->model, name) : "");
  printf("  %u particles, %u steps of %.4g ms a frame, %u + %u iterations, %s; %u frames after %u "
         "to warm "
         "up\n",
         r->particles, o->steps, 1e3 * o->dt, o->velocity, o->position, r->backend, o->frames,
         o->warmup);
  const char *other_name = o->walls == WALLS_BOTH ? "contact" : "scalar";
  if (o->walls)
    printf("  walls are boundary particles%s\n", twin ? "; beside them, plain contact" : "");
  if (o->walls == WALLS_BOTH)
    printf("  %-26s %+12.1f%% of contact's processor time\n", "boundary particles",
           100.0 * (r->processor_per_step / twin->processor_per_step - 1.0));
  printf("  %-26s %12.5g", "seconds a frame", r->seconds_per_frame);
  if (twin)
    printf(" %12.5g %s %8.2fx", twin->seconds_per_frame, other_name,
           twin->seconds_per_frame / r->seconds_per_frame);
  if (s->paper_seconds > 0.0) printf("   (the paper, on a GTX 1070: %g)", s->paper_seconds);
  printf("\n  %-26s %12.5g", "seconds a step", r->seconds_per_step);
  if (twin) printf(" %12.5g", twin->seconds_per_step);
  printf("\n  %-26s %12.5g", "processor seconds a step", r->processor_per_step);
  if (twin)
    printf(" %12.5g %s %8.2fx", twin->processor_per_step, other_name,
           twin->processor_per_step / r->processor_per_step);
  printf("\n  %-26s %12.5g\n", "seconds a simulated second", r->seconds_per_step / o->dt);
  printf("  %-26s %12.5g\n", "microseconds a particle", 1e6 * r->seconds_per_step / r->particles);
  printf("  %-26s %12.4g ns a particle", "velocity iteration", r->velocity_ns);
  if (twin)
    printf(" %12.4g %s %8.2fx", twin->velocity_ns, other_name, twin->velocity_ns / r->velocity_ns);
  printf("\n  %-26s %12.4g ns a particle", "position iteration", r->position_ns);
  if (twin)
    printf(" %12.4g %s %8.2fx", twin->position_ns, other_name, twin->position_ns / r->position_ns);
  printf("\n  %-26s %12.4g ns a particle\n", "neighbour work of a step", r->lists_ns);
  printf("  %-26s %12.2f\n", "neighbours", r->neighbours);
  printf("  %-26s %12" PRIu64 "   (%.1f MiB in all)\n", "bytes a particle", r->bytes_per_particle,
         (double)r->bytes / 1048576.0);
  if (r->device_bytes)
    printf("  %-26s %12" PRIu64 "   (and %" PRIu64 " for sorting and searching)\n", "on the device",
           r->device_bytes / r->particles, r->device_scratch / r->particles);
  printf("  %-26s   %016" PRIx64 "%s\n", "state", r->hash,
         twin && !o->walls
             ? twin->hash == r->hash ? "   (scalar: the same)" : "   (scalar: other bits)"
             : "");
  printf("  %-26s %12s %8s %12s", "stage", "ms a step", "share", "calls a step");
  if (twin) printf(" %9s ms        x", other_name);
  putchar('\n');
  double total = r->seconds_per_step * steps;
  for (uint32_t i = 0; i < r->stage_count; ++i) {
    const bench_stage *t = &r->stages[i], *other = twin ? stage_of(twin, t->name) : NULL;
    accounted += t->seconds;
    printf("    %-24s %12.4f %7.1f%% %12.1f", t->name, 1e3 * t->seconds / steps,
           100.0 * t->seconds / total, (double)t->calls / steps);
    if (other)
      printf(" %12.4f %8.2f", 1e3 * other->seconds / (double)twin->steps,
             other->seconds / (double)twin->steps / (t->seconds / steps));
    putchar('\n');
  }
  printf("    %-24s %12.4f %7.1f%%\n\n", "(outside the stages)", 1e3 * (total - accounted) / steps,
         100.0 * (total - accounted) / total);
  fflush(stdout);
}

void bench_print_json(cli_json *j, const bench_scene *s, const bench_settings *o,
                      const bench_result *r, const bench_result *twin) {
  char name[24];
  cli_json_object(j, NULL);
  cli_json_text(j, "name", s->name);
  cli_json_text(j, "backend", r->backend);
  cli_json_text(j, "model", model_name(o->model, name));
  cli_json_integer(j, "device", o->machine.device < 0 ? 0 : (uint64_t)o->machine.device);
  cli_json_integer(j, "threads", o->machine.threads);
  cli_json_integer(j, "particles", r->particles);
  cli_json_number(j, "neighbours", r->neighbours);
  cli_json_integer(j, "steps", r->steps);
  cli_json_integer(j, "iterations", o->velocity + o->position);
  cli_json_number(j, "seconds_per_frame", r->seconds_per_frame);
  cli_json_number(j, "seconds_per_step", r->seconds_per_step);
  cli_json_integer(j, "bytes_per_particle", r->bytes_per_particle);
  cli_json_array(j, "stages");
  for (uint32_t i = 0; i < r->stage_count; ++i) {
    cli_json_object(j, NULL);
    cli_json_text(j, "name", r->stages[i].name);
    cli_json_number(j, "ms", 1e3 * r->stages[i].seconds);
    cli_json_integer(j, "calls", r->stages[i].calls);
    cli_json_object_end(j);
  }
  cli_json_array_end(j);
  cli_json_hash(j, "state_hash", r->hash);
  cli_json_number(j, "processor_seconds_per_step", r->processor_per_step);
  cli_json_integer(j, "frames", r->frames);
  cli_json_integer(j, "steps_per_frame", o->steps);
  cli_json_number(j, "dt", o->dt);
  cli_json_integer(j, "velocity_iterations", o->velocity);
  cli_json_integer(j, "position_iterations", o->position);
  cli_json_number(j, "velocity_iteration_ns", r->velocity_ns);
  cli_json_number(j, "position_iteration_ns", r->position_ns);
  cli_json_number(j, "neighbour_work_ns", r->lists_ns);
  cli_json_number(j, "setup_seconds", r->setup_seconds);
  cli_json_integer(j, "bytes", r->bytes);
  cli_json_integer(j, "device_bytes", r->device_bytes);
  cli_json_integer(j, "device_scratch", r->device_scratch);
  cli_json_number(j, "mean_compression", r->compression);
  cli_json_number(j, "max_speed", r->max_speed);
  cli_json_number(j, "paper_seconds_per_frame",
                  s->paper_seconds > 0.0 ? s->paper_seconds : (double)NAN);
  cli_json_text(j, "walls", o->walls ? "particles" : "contact");
  if (twin) {
    cli_json_object(j, o->walls ? "contact" : "scalar");
    cli_json_number(j, "seconds_per_frame", twin->seconds_per_frame);
    cli_json_number(j, "seconds_per_step", twin->seconds_per_step);
    cli_json_number(j, "velocity_iteration_ns", twin->velocity_ns);
    cli_json_number(j, "position_iteration_ns", twin->position_ns);
    cli_json_number(j, "processor_seconds_per_step", twin->processor_per_step);
    cli_json_number(j, "speedup", twin->seconds_per_step / r->seconds_per_step);
    cli_json_object_end(j);
  }
  cli_json_object_end(j);
}
