/* The data of the CUDA backend, part by part, and the functions that its files share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_GPU_H
#define OZ_CUDA_GPU_H

#include "cuda/debug_options.h"
#include "cuda/exact_sum.h"
#include "cuda/shim.h"
#include "cuda/stage_args.h"

namespace OZ_NAMESPACE {

enum {
  TIMER_SORT = OZ_STAGE_COUNT,
  TIMER_LISTS,
  TIMER_DENSITY_LIST,
  TIMER_WALLS,
  TIMER_LINKS,
  TIMER_COUNT
};
enum {
  QUEUE = 512,       /* stages in the queue */
  FRAMES = 6,        /* distinct frames among them */
  GRAPHS = 12,       /* recorded graphs in the cache */
  STAGING = 1 << 20, /* bytes of pinned memory for uploads */
  BIRTH_PARTS = 64,  /* arrays of particle state, planes counted one by one */
  BIRTHS_MAX = 4096, /* new particles that are written by one kernel */
  EXACT_BYTES = 3 * sizeof(oz_exact_sums)
};

/* State transitions are checked in the tests' build of the host loops and in debug builds. */
#if defined(OZ_CUDA_CHECKS)
#define OZ_EXPECT_STATE(condition)                                                 \
  do {                                                                             \
    if (!(condition)) {                                                            \
      fprintf(stderr, "%s:%d: state is not %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                     \
    }                                                                              \
  } while (0)
#else
#define OZ_EXPECT_STATE(condition) (void)0
#endif

/* A region of device memory; it grows, and its bytes are counted. */
struct buffer {
  void *at;
  size_t bytes;
};

/* ---- device ---- */

struct device_info {
  int index;
  char text[128];           /* name, for messages */
  uint32_t multiprocessors; /* 0: unknown, as in the host loops */
  uint32_t shared_memory;   /* bytes a multiprocessor */
  uint32_t threads;         /* one wave of gathers, in threads */

  /* particle counts, from the number of multiprocessors (device.cu: scale_limits) */
  uint32_t few;          /* largest scene with 16 threads a particle */
  uint32_t deferred_max; /* largest scene with deferred checks */
  uint32_t team8_max;    /* searches with 8 threads a particle, */
  uint32_t team4_max;    /* with 4; more: with 1 */
  uint32_t prefetch_min; /* above it the start list has one thread a particle, with prefetch */
};

/* ---- streams (streams.cu) ---- */

/* Work on a side stream that the main stream has not waited for. */
enum unjoined_work : uint32_t {
  UNJOINED_LISTS = 1,        /* the start neighbour list */
  UNJOINED_CONTACTS = 2,     /* the search for wall contacts, */
  UNJOINED_WALL_KERNELS = 4, /* and kernels behind it on the same stream */
  UNJOINED_SORT = 8,
  UNJOINED_CLEAR = 16 /* of the moved-cell table */
};
struct stream_set {
  cudaStream_t lists, walls;     /* side streams; the main one is gpu::stream */
  void *lists_done, *walls_done; /* events: all work of a side stream so far, */
  void *predicted, *finished;    /* the last predict, the last finish */
  uint32_t unjoined;             /* UNJOINED_ bits */
};

/* Pinned memory for uploads. */
struct staging_memory {
  void *at;
  size_t used; /* bytes since the host last waited */
};

/* Rows of new particles that are still to be written (births.cu). */
struct birth_rows {
  uint32_t *to;
  const uint32_t *from; /* staged; NULL: zeros */
  uint32_t words;
};
struct birth_batch {
  uint32_t first, count; /* particles */
  uint32_t parts;        /* 0: none is open */
  birth_rows rows[BIRTH_PARTS];
};

/* ---- mailbox (mailbox.cu) ---- */

/* A post is a copy of the device status into the host's memory, by a kernel. */
enum post_state {
  POST_NONE,
  POST_OWED,    /* results are pending, and no post is on its way */
  POST_DEFERRED /* the next kernel that can carries it */
};
/* Checks that the substep went on without. */
enum pending_check { PENDING_START_LIST = 1, PENDING_WALLS = 2, PENDING_DENSITY_LIST = 4 };
struct mailbox_state {
  buffer device;       /* device_status */
  device_status *host; /* pinned; the number of the last post that arrived follows it */
  uint32_t number;     /* of the last post */
  uint32_t pending;    /* PENDING_ bits */
  post_state post;
  bool box_clear, counters_clear; /* a kernel has reset the box, the list counters */
  bool counts_reset;              /* the last finish has counted reset particles */
};

/* ---- sorter (sort.cu, cells.cu) ---- */

/* Particles by cell. */
struct cell_grid {
  int low[3];    /* cell of key 0 */
  uint32_t bits; /* an axis */
  uint32_t capacity, hash_mask;
  buffer start, key, hash, around;
};
enum box_state {
  BOX_UNKNOWN,
  BOX_POSTED, /* the next post to arrive has it */
  BOX_KNOWN   /* sorter.box is that of the positions as they are */
};
/* Sorting the next substep's cells on the wall stream, right after finish. */
enum presort_state { PRESORT_NONE, PRESORT_ALLOWED, PRESORT_STARTED };
/* Structure that holds the cells of the last search. */
enum cells_state { CELLS_GRID, CELLS_GRID_OF_START_LIST, CELLS_TABLE };
/* Further work of the kernel that runs finish. */
enum finish_work { FINISH_ONLY, FINISH_BOX, FINISH_BOX_AND_COUNT };
struct cell_sorter {
  buffer key[2], order[2];
  int current;    /* which of the two is sorted */
  bool wide_keys; /* 64 bits */
  buffer cell_of, temp;
  cell_grid grid;
  cells_state cells;

  float cell; /* m: cell size of the last sort */
  int box[6]; /* as in device_status */
  box_state box_known;
  uint32_t unplaced; /* new particles behind the others, whose positions are still to be uploaded */
  /* positions or ranks have been uploaded since the last finish, on the main stream */
  bool births;
  uint32_t extent[3]; /* largest cell coordinates of the box */
  uint32_t wrap[3];   /* bits of a coordinate that count in the order (cells.h) */

  buffer table, density_table;         /* counters by Morton code */
  buffer gone;                         /* places and ranks of particles that leave */
  size_t table_bytes, table_clear;     /* used by the last sort; cleared for the next */
  size_t density_bytes, density_clear; /* the same of density_table */
  bool counted;                        /* finish has filled the counters */
  finish_work at_finish;
  presort_state presort;
  uint32_t presort_pause; /* substeps without a presort, after a wasted one */

  bool permutation_pending; /* state is still in the old order, though gpu::arrays has the new */
  pending_permutation permutation;
  bool has_backup; /* velocities and sources of the substep's beginning are kept */
};

/* ---- neighbour lists (neighbour_lists.cu, moved_cells.cu) ---- */

struct rows {
  buffer entries, group, len;
};
/* The other half of each double buffer, for lists that are built ahead (streams.cu); x: sorted
 * copies of the positions. */
struct spare_lists {
  rows start;
  buffer block_first, block_j, place, x;
};
/* Work for the next start list that has been done ahead of it. */
enum prebuilt_state { PREBUILT_NONE, PREBUILT_ORDER, PREBUILT_LIST };
struct bin_item;
struct neighbour_lists {
  rows start;                  /* start neighbour list */
  rows density;                /* rows that the density list adds to it */
  buffer block_first, block_j; /* lists of a block: first entry and length; entries */
  buffer gradients;            /* 4 halves an entry of the start list; small scenes */
  uint32_t *place;             /* start positions, packed */
  spare_lists spare;
  prebuilt_state prebuilt;
  bool start_fits, density_fits;    /* the last such list had room */
  size_t wish_entries, wish_blocks; /* bytes that the next list built ahead should have, or 0 */

  uint32_t block_limit;  /* longest list of a block that shared memory can hold */
  uint32_t block_room;   /* entries that gathers have room for */
  uint32_t widest_block; /* longest list of a block, when last known */
  double mean_neighbours;

  buffer moved_cells;                          /* table of moved cells */
  size_t moved_cells_bytes, moved_cells_clear; /* used by the last list; cleared for the next */
  const bin_item *binning; /* bins displacements in the kernel of the queued advance */
  bool density_overlaps;   /* the density list was launched last, and has triggered its dependent */
  uint32_t sift_pause;     /* density lists without sifting, after most cells had moved */
  uint32_t density_lines;  /* lines of entries that the last density list added */
};

/* ---- links (links.cu) ---- */

/* Row of each particle (entries are 32 apart), true length, entries. */
struct link_rows {
  buffer row, len, j, rest, kind, spare, share;
  uint64_t lines; /* capacity, in lines of 32 */
};
struct link_lists {
  link_rows rows[2];
  uint32_t current; /* which of the two is valid */
  bool present;     /* memory is allocated */
  buffer width;     /* by group of 32 particles */
};

/* ---- wall contacts (wall_contacts.cu) ---- */

/* Kernels since predict: none that walls depend on. */
enum wall_fork { FORK_NONE, FORK_POSSIBLE, FORK_WITH_VOTES };
struct wall_contacts {
  buffer contact, near, particle, plane_count, impulse, row;
  uint32_t contact_planes;  /* planes a contact has room for; never shrinks */
  uint32_t count, capacity; /* contacts */
  uint32_t last_count;      /* of the last substep whose count is known */
  uint32_t room;            /* contacts that this substep has */
  uint32_t *slot_of;        /* contact + 1 of each particle, or 0 */
  buffer votes;             /* a bit a particle: near a wall, by predict */
  wall_fork fork;
  bool flat, planar; /* no collider is curved; all are planes */

  buffer load;             /* boundary particles' loads of each contact, */
  buffer slip;             /* and slip along them, */
  bool has_load, has_slip; /* where the last contacts have them */
  buffer loads;            /* sums a collider */
  bool has_loads;
  double *host_loads;
  size_t host_loads_bytes;
};

/* ---- the rest ---- */

/* Colliders, nozzles, materials and bodies as the device has them. */
struct scene_data {
  buffer collider, brick_key, brick_values, friction_map_key, friction_map_values;
  buffer nozzle, matter, body, body_state, member;
  uint32_t collider_count, nozzle_count, matter_count, body_count, member_count;
  uint32_t brick_boxes; /* of oz_frame */
  /* the host's, to skip uploads of colliders and nozzles at rest */
  void *collider_copy, *nozzle_copy;
  size_t collider_copy_bytes, nozzle_copy_bytes;
};
struct queue_entry {
  uint16_t stage, frame;
};
struct stage_queue {
  uint32_t count, frame_count;
  queue_entry entry[QUEUE];
  oz_frame frame[FRAMES];
  bool starts; /* a velocity projection, and its first iteration has not been launched */
};
/* Sums over all particles (reductions.h) and over the blocks of a launch (block_scan.h). */
struct reduction_buffers {
  buffer partial, ticket;
  uint32_t exact_turn; /* set of exact sums that cg_apply uses; the other one is clear, */
  bool exact_clear;    /* if the last launch succeeded */
  buffer blocks;       /* a word a block */
  buffer answers;      /* of queries.cu */
  uint32_t launch;     /* number of the last scan */
};
struct graph_entry;
struct graph_cache {
  int enabled;
  graph_entry *entry;
  uint64_t clock;
};
struct stage_profile {
  int on;
  double seconds[TIMER_COUNT];
  uint64_t calls[TIMER_COUNT];
  void *event[2];
};

struct gpu {
  oz_backend base;
  oz_memory *memory;
  device_info device;
  uint32_t disabled; /* debug_options.h: DISABLE_ bits */
  ooze_result lost_result;
  uint64_t bytes, scratch_bytes, memory_limit; /* limit 0: none */
  int lanes_override;                          /* threads a particle; 0: by particle count */

  /* particles */
  uint32_t count, capacity, parity;
  oz_frame arrays; /* pointers of this parity */
  buffer block;
  buffer field[OZ_FIELD_STATE_COUNT];    /* optional fields that are set, */
  buffer field_to[OZ_FIELD_STATE_COUNT]; /* and their second halves in small scenes (sort.cu) */

  cudaStream_t stream; /* launches go here: the main stream, or a side one (on_stream) */
  stream_set streams;
  staging_memory staging;
  birth_batch births;
  mailbox_state mailbox;
  cell_sorter sorter;
  neighbour_lists lists;
  link_lists links;
  wall_contacts walls;
  scene_data scene;
  stage_queue queue;
  reduction_buffers sums;
  graph_cache graphs;
  stage_profile profile;
};

template <class T> inline T *as(const buffer &b) { return static_cast<T *>(b.at); }
static inline gpu *GPU(oz_backend *b) { return reinterpret_cast<gpu *>(b); }
inline device_status *status_on_device(const gpu *g) {
  return as<device_status>(g->mailbox.device);
}
inline bool disabled(const gpu *g, uint32_t what) { return (g->disabled & what) != 0; }

#define OZ_CUDA(call, what)                                        \
  do {                                                             \
    cudaError_t oz_e = (call);                                     \
    if (oz_e != cudaSuccess) return fail_cuda(g, oz_e, what, why); \
  } while (0)

/* Blocks of 256 threads for a grid-stride loop: all resident at once, 2,048 threads a
 * multiprocessor. */
inline uint32_t one_wave(const gpu *g, uint32_t blocks) {
  const uint32_t most = 8 * (g->device.multiprocessors ? g->device.multiprocessors : 1);
  return blocks < most ? blocks : most;
}

/* ---- backend.cu, capacity.cu, memory.cu, mailbox.cu ---- */

extern const oz_backend_table gpu_table;
ooze_result reserve(oz_backend *b, uint32_t count, ooze_message *why);
ooze_result resize(oz_backend *b, uint32_t count, ooze_message *why);
ooze_result fail_cuda(gpu *g, cudaError_t e, const char *what, ooze_message *why);
ooze_result grow(gpu *g, buffer *b, size_t bytes, const char *what, ooze_message *why,
                 bool scratch = false);
void drop(gpu *g, buffer *b, bool scratch);

/* Posts the status, after joining the side streams; in whatever stream g has now; or with the next
 * kernel that can carry it. */
ooze_result post_status(gpu *g, ooze_message *why);
ooze_result post_status_on_stream(gpu *g, ooze_message *why);
ooze_result post_status_deferred(gpu *g, ooze_message *why);
status_post next_post(gpu *g);
/* Waits for the last post. */
ooze_result await_status(gpu *g, ooze_message *why);
/* Both. */
ooze_result fetch_status(gpu *g, ooze_message *why);

/* Whether the host goes on without waiting for list sizes. */
inline bool defers_checks(const gpu *g, const oz_frame *f) {
  return f->restartable && !disabled(g, DISABLE_DEFERRED_CHECKS) &&
         g->count <= g->device.deferred_max;
}

/* ---- sort.cu, permute.cu ---- */

ooze_result sort(oz_backend *b, oz_frame *f, ooze_message *why);
ooze_result roll_back(oz_backend *b, ooze_message *why);
/* keep_backup: velocities and sources, for roll_back */
ooze_result permute(gpu *g, const uint32_t *order, uint32_t n, bool keep_backup, ooze_message *why);
ooze_result apply_pending_permutation(gpu *g, ooze_message *why);
/* prefix_sum.cu */
ooze_result inclusive_sum(gpu *g, uint32_t *v, uint32_t n, chain in, ooze_message *why);
ooze_result exclusive_sum(gpu *g, uint32_t *v, uint32_t n, chain in, ooze_message *why);
/* Bounding box of the cells; the next post has it. */
ooze_result launch_box(gpu *g, const oz_frame *f, ooze_message *why);
ooze_result clear_box(gpu *g, ooze_message *why);
void keep_box(gpu *g); /* from the last status that arrived */
void extend_box(gpu *g, uint32_t first, uint32_t count, const float *x);
/* A little more than h, because coordinates are rounded. */
inline float sort_cell_size(const oz_frame *f) { return 1.01f * f->h; }

inline float sort_cells_per_metre(const oz_frame *f) { return 1.0f / sort_cell_size(f); }
/* Sorts the next substep's cells on the wall stream, behind finish. */
ooze_result presort(gpu *g, ooze_message *why);
bool may_presort(gpu *g, const oz_frame *f);
/* Particles are no longer where finish left them. */
void cancel_presort(gpu *g);

/* ---- cells.cu ---- */

ooze_result clear_cell_table(gpu *g, ooze_message *why);
ooze_result clear_density_table(gpu *g, ooze_message *why);
/* Counters for finish; none where the table is not clear. */
cell_counter cell_counter_for(gpu *g, const uint32_t wrap[3]);

/* ---- neighbour_lists.cu, moved_cells.cu, row_order.cu ---- */

ooze_result lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why);
ooze_result density_list(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why);
/* The start list on the list stream, behind the sort. */
ooze_result build_start_list_ahead(gpu *g, const oz_frame *f, ooze_message *why);
/* Posts a pending status, unless a post is on its way. */
ooze_result post_pending(gpu *g, ooze_message *why);
/* OZ_AGAIN, with room made, where something had none. */
ooze_result check_pending(gpu *g, ooze_message *why);
ooze_result clear_moved_cells(gpu *g, ooze_message *why);
/* The same on the wall stream, behind the sort. */
ooze_result clear_moved_cells_aside(gpu *g, ooze_message *why);
/* Rows of places in an order without bank conflicts. */
cudaError_t order_rows(const gpu *g, const uint32_t *group, const uint16_t *len, uint16_t *entries,
                       bool dependent);

/* ---- streams.cu ---- */

/* Whether the next lists can be built ahead; makes room for them. */
bool can_build_ahead(gpu *g, const oz_frame *f);
void swap_lists(gpu *g); /* the spare ones become the substep's */
void release_spare_lists(gpu *g);
ooze_result join_clear(gpu *g, ooze_message *why); /* waits for clear_moved_cells_aside */
ooze_result record_finish(gpu *g, ooze_message *why);
ooze_result wait_for_finish(gpu *g, ooze_message *why); /* on the wall stream */
ooze_result record_sort(gpu *g, ooze_message *why);     /* the list stream waits for it */
ooze_result join_sort(gpu *g, ooze_message *why);
/* Side streams wait for predict, and the wall stream for lists. */
ooze_result fork_streams(gpu *g, ooze_message *why);
/* The main stream waits for both side streams. */
ooze_result join_streams(gpu *g, ooze_message *why);
struct on_stream { /* yes: launches within its scope go to the side stream */
  gpu *g;
  cudaStream_t before;
  on_stream(gpu *gg, bool yes, cudaStream_t stream_set::*side = &stream_set::lists);
  ~on_stream();
};

/* ---- wall_contacts.cu, links.cu, queries.cu ---- */

ooze_result walls(oz_backend *b, oz_frame *f, ooze_message *why);
/* Pending permutation, material, predict, and votes of particles near a wall; memory: shared, bytes
 * a block. */
cudaError_t predict_with_votes(gpu *g, const oz_frame &f, uint32_t memory);
/* By the last status: whether contacts had room. */
ooze_result check_walls(gpu *g, bool *fits, ooze_message *why);

ooze_result links_update(oz_backend *b, oz_frame *f, uint32_t rule, ooze_message *why);
ooze_result links_put(oz_backend *b, const uint32_t *at, const oz_link_pair *links, uint64_t count,
                      ooze_message *why);
ooze_result links_get(oz_backend *b, const uint32_t *at, oz_link_pair *out, uint64_t *count,
                      ooze_message *why);
ooze_result links_reserve(gpu *g, uint32_t capacity, ooze_message *why);
ooze_result links_resize(gpu *g, uint32_t count, ooze_message *why);
ooze_result links_move(gpu *g, const uint32_t *order, uint32_t kept, uint32_t all,
                       ooze_message *why);
void links_frame(const gpu *g, oz_frame *f);
void links_release(gpu *g);

ooze_result wall_loads(oz_backend *b, double *out, ooze_message *why);
ooze_result fastest(oz_backend *b, double *out, ooze_message *why);
ooze_result column_sums(oz_backend *b, const oz_columns *columns, uint64_t *out, ooze_message *why);
ooze_result statistics(oz_backend *b, float volume, uint32_t results, uint32_t inner, oz_sums *out,
                       ooze_message *why);
ooze_result within(oz_backend *b, const oz_within *which, float *out, uint32_t *out_count,
                   ooze_message *why);
ooze_result extremes(oz_backend *b, uint32_t materials, oz_extreme_bits *out, ooze_message *why);

/* ---- removal.cu ---- */

ooze_result lost(oz_backend *b, const oz_leaving *which, uint32_t *out, ooze_message *why);
ooze_result remove_lost(oz_backend *b, const oz_leaving *which, uint32_t count, uint32_t *ranks,
                        ooze_message *why);

/* ---- copies.cu ---- */

ooze_result copy_take(oz_backend *b, const oz_copy_request *request, oz_copy **out,
                      ooze_message *why);
ooze_result copy_words(oz_copy *copy, oz_field field, const void **out, ooze_message *why);
uint64_t copy_bytes(const oz_copy *copy);
void copy_drop(oz_copy *copy);

/* ---- bricks.cu ---- */

/* Keys of all colliders' bricks, at least one, and behind them tables that find them, in memory
 * that the caller frees. */
ooze_result make_brick_keys(gpu *g, const oz_collider *c, uint32_t count, const uint64_t *keys,
                            uint32_t bricks, void **out, size_t *bytes, ooze_message *why);

/* ---- births.cu ---- */

/* Opens a batch for new rows, which have zeros; false: there are too many. */
bool begin_births(gpu *g, uint32_t first, uint32_t count);
/* An array of the batch; false: there is no such one, or no room. */
bool put_births(gpu *g, void *to, const void *from, size_t bytes);
/* One kernel on the present stream. */
ooze_result write_births(gpu *g, ooze_message *why);

/* ---- stage_queue.cu ---- */

ooze_result run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums, ooze_message *why);
ooze_result finished(oz_backend *b, double *sums, ooze_message *why);

/* ---- stage_launch.cu ---- */

int stage_kind(int stage); /* KIND_, as in stages.def */
int stage_reductions(int stage);
/* Everything that is still to be launched; or all but new particles. */
ooze_result flush(gpu *g, ooze_message *why);
ooze_result flush_stages(gpu *g, ooze_message *why);
ooze_result flush_except_bound(gpu *g, ooze_message *why);
/* Whether the queue ends with an advance whose kernel can bin displacements. */
bool advance_can_bin(const gpu *g, const oz_frame *f);
uint32_t rounded_launch(const gpu *g, uint32_t n); /* size of a wall stage's launch */
void forget_graphs(gpu *g);
graph_entry *new_graph_cache(oz_memory *memory); /* NULL: no memory */
int lanes_for(const gpu *g);                     /* threads a particle in gathers */

/* ---- profile.cu ---- */

void profile(oz_backend *b, oz_stage stage, double *seconds, uint64_t *calls);
void profile_reset(oz_backend *b);
void profile_start(oz_backend *b);

/* ---- arrays.cu ---- */

/* Pointers for a parity, laid out from `at`. */
void lay_out(oz_frame *f, float *at, uint32_t capacity, uint32_t parity);
size_t words_per_particle();
struct field_array {
  size_t member;
  uint32_t words;
  bool planes, optional;
  const char *name;
};
const field_array *field_of(oz_field field);
float *array_of(const oz_frame *f, const field_array *a);
void put_array(oz_frame *f, const field_array *a, float *p);
void spare_fields(oz_frame *f);
uint32_t *slots_of(float *at, uint32_t capacity, uint32_t parity);
uint32_t *places_of(float *at, uint32_t capacity);
float *backup_of(float *at, uint32_t capacity);

/* ---- scopes ---- */

/* Times its scope on the device, when profiling (profile.cu). */
struct timer {
  gpu *g;
  int which;
  timer(gpu *gg, int w);
  ~timer();
};
/* Makes the backend's device current, and puts the caller's back. */
struct on_device {
  int before;
  explicit on_device(const gpu *g);
  ~on_device();
};

} // namespace OZ_NAMESPACE
#endif
