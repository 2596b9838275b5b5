// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include <UT/UT_ParallelUtil.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bodies.h"
#include "driven.h"
#include "forces.h"
#include "newborn.h"

namespace oz {

Simulation::~Simulation() { drop(); }

void Simulation::drop() {
  myBridge.release();
  ooze_solver_destroy(mySolver);
  mySolver = nullptr;
  myColliders.forget();
  myNozzles.clear();
  myStamp = Stamp();
}

int64 Simulation::bytes() const {
  ooze_stats t;
  ooze_stats_default(&t);
  return mySolver && ooze_stats_counts(mySolver, &t) >= 0 ? int64(t.bytes) : 0;
}

std::string Simulation::info(size_t frames, int64 frame_bytes, int64 written, int64 read) const {
  char text[400], kept[200];
  ooze_stats t;
  ooze_stats_default(&t);
  std::snprintf(kept, sizeof kept,
                "Frames: %zu in memory (%.1f MB); disk: %lld written, %lld read\n", frames,
                double(frame_bytes) / 1e6, (long long)written, (long long)read);
  if (!mySolver || ooze_stats_counts(mySolver, &t) < 0)
    return std::string("Ooze: nothing simulated yet\n") + kept;
  std::snprintf(text, sizeof text,
                "Ooze: %u particles (%u born, %u killed in the last step)\n"
                "Last step: %u substeps of %u + %u iterations, %.4g s\n"
                "Solver: %.1f MB on %s\n",
                t.particles, t.born, t.killed, t.substeps, t.velocity_iterations,
                t.position_iterations, mySeconds, double(t.bytes) / 1e6,
                ooze_solver_backend(mySolver));
  return std::string(text) + kept;
}

// A solver on the machine that the node asks for; the one that is there if it will do.
bool Simulation::machine(const Parms &parms, float separation, bool fresh, Report &report) {
  uint32_t backend = uint32_t(parms.number("backend"));
  int32 device = int32(parms.number("device"));
  if (!choose_device(backend, device, report)) return false;
  if (mySolver && !fresh && ooze_solver_separation(mySolver) == separation &&
      backend == myBackend && device == myDevice)
    return true;
  drop();
  ooze_solver_desc d;
  ooze_message why = {""};
  ooze_solver_desc_default(&d);
  host.fill(d.hooks);
  d.backend = backend;
  d.device = device;
  d.tasks = OOZE_TASKS_HOST;
  d.particle_separation = separation;
  myBackend = backend;
  myDevice = device;
  if (!report.ok(ooze_solver_create(&d, &mySolver, &why), why, "solver")) return false;
  banner(mySolver);
  return true;
}

// The solver with everything that the step needs.
bool Simulation::prepare(const char *node, const Parms &parms, const StepInput &input,
                         GU_Detail &gdp, ColliderSettings &settings, Report &report) {
  ooze_params params;
  float separation = parms.real("particlesep");
  ooze_params_default(&params);
  if (!read_group(node, parms, "solver", "params", &params, report) ||
      !settings.read(node, parms, separation, report))
    return false;
  Materials materials;
  std::vector<Nozzle> nozzles;
  materials.read(gdp);
  if (input.sources && !add_particles(*input.sources, separation, materials, gdp, report))
    return false;
  if (!number_materials(gdp, materials, report)) return false;
  if (!find_nozzles(input.sources, input.sources_before, input.dt, materials, nozzles, report))
    return false;
  Births births;
  if (!births.find(gdp, materials, report)) return false;
  materials.write(gdp);

  bool warm =
      mySolver && myStamp == Bridge::stamp(gdp) && materials == myMaterials && births.none();
  std::vector<uint32_t> clock = Bridge::clock(gdp);
  if (!machine(parms, separation, !warm, report)) return false;
  ooze_collider_loads(mySolver, parms.on("outload"));
  if (ooze_params_set(mySolver, &params) < 0)
    return report.fail("parameters: %s", ooze_solver_message(mySolver));
  warm = warm && !(myStamp == Stamp());
  if (!warm) {
    ++loads;
    myMaterials = materials;
    if (!materials.apply(mySolver, report) || !myBridge.load(mySolver, gdp, report)) return false;
  } else if (!myBridge.adopt(gdp, report)) {
    return false;
  }
  std::vector<ooze_emitter> there;
  for (auto &n : nozzles) {
    if (ooze_emitter_put(mySolver, n.handle, &n.desc) < 0)
      return report.fail("nozzle: %s", ooze_solver_message(mySolver));
    there.push_back(n.handle);
  }
  for (ooze_emitter e : myNozzles)
    if (std::find(there.begin(), there.end(), e) == there.end()) ooze_emitter_remove(mySolver, e);
  myNozzles = there;
  if (!warm && !clock.empty() &&
      ooze_clock_load(mySolver, clock.data(), uint32_t(clock.size())) < 0)
    return report.fail("detail attribute ooze_clock: %s", ooze_solver_message(mySolver));
  if (!births.none() && (!births.add(mySolver, gdp, report) || !myBridge.adopt(gdp, report)))
    return false;
  return drive_bodies(mySolver, gdp, input.sources, input.sources_before, report) &&
         myColliders.update(mySolver, settings, input.colliders, report);
}

// ooze_step, with the forces on the particles. False where it failed or was cancelled. While a GPU
// works, the host gets memory for the result: pages that are new to the process take it longer
// than to write into them.
bool Simulation::advance(const Parms &parms, const StepInput &input, GU_Detail &gdp,
                         Report &report) {
  Forces forces;
  ooze_message why = {""};
  ooze_result r = OOZE_OK;
  if (!forces.read(mySolver, parms, gdp, myBridge.ids(), myBridge.offsets(), input.forces, report))
    return false;
  const bool idle = ahead || !std::strncmp(ooze_solver_backend(mySolver), "cuda", 4);
  UTparallelInvoke(
      idle,
      [&] {
        const auto begin = std::chrono::steady_clock::now();
        r = forces.none() ? ooze_step(mySolver, input.dt)
                          : ooze_step_forced(mySolver, &forces.desc(), input.dt, &why);
        const auto end = std::chrono::steady_clock::now();
        mySeconds = std::chrono::duration<double>(end - begin).count();
      },
      [&] {
        if (idle) myBridge.make_room(gdp);
      });
  if (host.broken) return report.fail("the thread pool failed");
  if (r < 0) return report.fail("%s", why.text[0] ? why.text : ooze_solver_message(mySolver));
  if (r == OOZE_CONTAINED) report.warn("%s", ooze_solver_message(mySolver));
  report.cancelled = r == OOZE_CANCELLED;
  return !report.cancelled;
}

bool Simulation::step(const char *node, const Parms &parms, const StepInput &input, GU_Detail &gdp,
                      Report &report) {
  GU_Detail work; // so that gdp is untouched unless all goes well
  ColliderSettings settings;
  bool done = false;
  work.replaceWith(gdp);
  host.broken = false;
  guarded(report, [&] {
    if (!prepare(node, parms, input, work, settings, report)) return;
    const double dt = input.dt * parms.number("timescale");
    if (!advance(parms, input, work, report)) return;
    if (!remove_old(mySolver, work, myBridge, dt, report)) return;
    Output output;
    output.stretch = parms.on("outstretch");
    output.stress = parms.on("outstress");
    output.mass = parms.on("outmass");
    done = myBridge.store(mySolver, work, output, report);
    if (done) grow_older(work, myBridge, input.sources, dt, parms.on("outage"));
    if (done && parms.on("outload")) myColliders.write_loads(mySolver, work);
    if (done && parms.on("outbodies")) write_bodies(mySolver, work);
  });
  if (!done) {
    drop();
    return false;
  }
  gdp.replaceWith(work);
  myStamp = Bridge::stamp(gdp);
  return true;
}

} // namespace oz
