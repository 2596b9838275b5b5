/* Recorded sequences of launches: small scenes, whose kernels are shorter than a launch, replay
 * them as graphs. Included by stage_launch.cu, inside its namespace.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_GRAPH_CACHE_H
#define OZ_CUDA_GRAPH_CACHE_H

struct graph_entry {
  uint64_t key, used;
  uint32_t seen;
  cudaGraphExec_t exec;
};

graph_entry *new_graph_cache(oz_memory *memory) {
  return static_cast<graph_entry *>(oz_alloc(memory, GRAPHS * sizeof(graph_entry)));
}
void forget_graphs(gpu *g) {
  for (int k = 0; g->graphs.entry && k < GRAPHS; k++) {
    if (g->graphs.entry[k].exec) cudaGraphExecDestroy(g->graphs.entry[k].exec);
    memset(&g->graphs.entry[k], 0, sizeof g->graphs.entry[k]);
  }
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes) {
  const unsigned char *p = static_cast<const unsigned char *>(data);
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint64_t w;
    memcpy(&w, p, 8);
    h = (h ^ w) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  for (; bytes; bytes--, p++) h = (h ^ *p) * 0x9e3779b97f4a7c15ull;
  return h;
}

static cudaError_t record(gpu *g, int lanes, cudaGraphExec_t *out) {
  cudaGraph_t graph = nullptr;
  cudaError_t e = cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal);
  if (e != cudaSuccess) return e;
  e = launch_all(g, lanes);
  cudaError_t end = cudaStreamEndCapture(g->stream, &graph);
  if (e == cudaSuccess) e = end;
  if (e == cudaSuccess) e = cudaGraphInstantiate(out, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  return e;
}

static cudaError_t profile_all(gpu *g, int lanes) {
  launch all[QUEUE];
  const uint32_t n = plan(g, lanes, all);
  for (uint32_t k = 0; k < n; k++) {
    timer t(g, all[k].stage);
    cudaError_t e = launch_one(g, all[k], lanes, k + 1 == n);
    if (e != cudaSuccess) return e;
  }
  return cudaSuccess;
}

static cudaError_t launch_queue(gpu *g, int lanes) {
  if (g->profile.on) return profile_all(g, lanes);
  /* larger scenes gain nothing: their kernels take longer than a launch, and recording takes
   * milliseconds */
  if (!g->graphs.enabled || g->queue.count < 8 || lanes <= COMPUTED_GRADIENT_LANES)
    return launch_all(g, lanes);
  /* equal stages on equal frames are equal kernels */
  uint64_t key =
      hash_bytes(0x5eed + (uint64_t)lanes, g->queue.entry, g->queue.count * sizeof *g->queue.entry);
  key = hash_bytes(key, g->queue.frame, g->queue.frame_count * sizeof *g->queue.frame);
  graph_entry *slot = &g->graphs.entry[0];
  for (int k = 0; k < GRAPHS; k++) {
    graph_entry *e = &g->graphs.entry[k];
    if (e->used && e->key == key) {
      slot = e;
      break;
    }
    if (e->used < slot->used) slot = e; /* least recently used */
  }
  if (!slot->used || slot->key != key) {
    if (slot->exec) cudaGraphExecDestroy(slot->exec);
    memset(slot, 0, sizeof *slot);
    slot->key = key;
  }
  slot->used = ++g->graphs.clock;
  /* recording costs a few launches: only for a sequence that has come before */
  if (!slot->exec && slot->seen++ >= 1) {
    cudaError_t e = record(g, lanes, &slot->exec);
    if (e != cudaSuccess) {
      slot->exec = nullptr;
      cudaGetLastError();
      g->graphs.enabled = 0; /* works without */
    }
  }
  return slot->exec ? cudaGraphLaunch(slot->exec, g->stream) : launch_all(g, lanes);
}
#endif
