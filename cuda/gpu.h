/* The CUDA backend's own data. */
#ifndef OZ_CUDA_GPU_H
#define OZ_CUDA_GPU_H

#include "cuda/shim.h"
#include "cuda/exact.h"

namespace OZ_NAMESPACE {

enum {
  TIMER_SORT = OZ_STAGE_COUNT,
  TIMER_LISTS,
  TIMER_DENSITY_LIST,
  TIMER_WALLS,
  TIMER_LINKS,
  TIMER_COUNT
};
/* as in stages.def */
enum stage_kind {
  KIND_C,
  KIND_D,
  KIND_MAP,
  KIND_ITEM,
  KIND_WALL,
  KIND_BODY,
  KIND_MEMBER,
  KIND_ONE,
  KIND_LINK,
  KIND_BOTH,
  KIND_OUTER = KIND_C,
  KIND_MATRIX = KIND_C,
  KIND_SPARE = KIND_C,
  KIND_LATE = KIND_D
};
enum {
  GROUP = 32,       /* particles whose rows lie interleaved: one warp reads one line of entries */
  AROUND = 14,      /* blocks that the 27 cells around a cell make (cells.h) */
  QUEUE = 512,      /* stages that wait to be launched together */
  FRAMES = 6,       /* different frames among them */
  GRAPHS = 12,      /* recorded sequences that are kept */
  BLOCK = 128,      /* threads a block in stages */
  MOST_SUMS = 4,    /* that a stage delivers */
  SHARE = OZ_SHARE, /* particles whose neighbours are brought into shared memory together */
  /* neighbours that they can have in all; where they have more, each is read from where it is */
  SHARE_MOST = 2048,
  STAGING = 1 << 20,                       /* bytes */
  EXACT_BYTES = 3 * sizeof(oz_exact_sums), /* three sets of sums (queue.cu) */
  /* threads a particle: with more of them, gradients are read, with fewer computed */
  STORED_ABOVE = 4,
  NONE_U32 = 0x7fffffff
};

/* One region of device memory that grows and is counted. */
struct buffer {
  void *at;
  size_t bytes;
};

/* What kernels leave for the host. One copy brings all of it. */
struct news {
  int box[6];             /* least and minus greatest cell */
  uint32_t reset, spare0; /* particles that finish has had to put back: counted with the box */
  uint32_t cells;
  uint32_t walls;
  uint32_t lost, links;    /* particles; lines of link rows asked for */
  uint32_t fastest;        /* bits of the greatest speed squared */
  uint32_t slots;          /* walls that have room */
  uint32_t stirred, spare; /* particles that the density list looks at */
  /* list lines (of 32 entries) that C, and density's further rows, ask for */
  unsigned long long groups[2];
  unsigned long long neighbours;
  unsigned long long shared; /* entries of the lists of neighbours that blocks share */
  uint32_t widest, spare2;   /* the longest of those within SHARE_MOST */
  double scalar[OZ_SCALAR_COUNT];
  OZ_D void clear_box() {
    for (int k = 0; k < 6; k++) box[k] = NONE_U32;
    reset = 0;
  }
  OZ_D void clear_groups() { groups[0] = groups[1] = neighbours = shared = 0, widest = 0; }
};

/* Who is to tell the host of them (tell.h). to: NULL, nobody. */
struct telling {
  const uint32_t *from;
  volatile uint32_t *to;
  uint32_t number;
};

/* Counts particles in a table by the Morton codes of their cells (cells.h). table: NULL, nobody
 * does. */
struct counting {
  /* cell of each particle, and how many were counted there before it (any order) */
  uint32_t *table, *cell, *within;
  int bits[3]; /* of a coordinate that count */
};

/* Particles by cell. */
struct cells {
  int low[3];    /* cell that key 0 means */
  uint32_t bits; /* an axis */
  uint32_t capacity, hash_mask;
  buffer start, key, hash, around;
};

struct rows {
  buffer entries, group, len;
};
/* What a substep's lists take the place of, when they are made while the last ones are still read
 * (ahead.cu); and positions for that. */
struct spare_lists {
  rows c;
  buffer near_first, near_j, place, x;
};

/* Links: where each particle's row begins (its entries lie 32 apart), true length, entries. */
struct link_rows {
  buffer row, len, j, rest, kind, spare, share;
  uint64_t lines; /* capacity, in lines of 32 */
};

/* State on its way to another order (permute.h). backup: record 4, velocity and source, or NULL. */
struct permuting {
  const uint32_t *order;
  float *backup;
  oz_frame from, to;
};

struct stage_args;
struct shake_item;

/* A stage that waits. */
struct waiting {
  uint16_t stage, frame;
};

struct gpu {
  oz_backend base;
  oz_memory *memory;
  int device;
  cudaStream_t stream, side, wall_side; /* the latter two beside the first (ahead.cu) */
  /* events: all that these were given; predict; finish */
  void *side_done, *walls_done, *moved, *ended;
  bool apart;       /* what was launched since predict has nothing to do with walls, */
  bool walls_aside; /* and so walls are found beside it; */
  bool walls_given; /* wall_side has been given something that nobody waits for yet; */
  bool clears;      /* the table of what is stirred is being cleared on walls' stream */
  bool lists_aside; /* lists are: nothing but state may be asked for before join_side */
  char text[128];
  ooze_result lost;
  uint64_t bytes, scratch_bytes, memory_limit; /* limit: 0 is none */

  /* particles */
  buffer block;
  buffer field[OZ_FIELD_STATE_COUNT]; /* of optional fields that are there */
  /* where small scenes sort them to: the two change places (order.cu) */
  buffer field_to[OZ_FIELD_STATE_COUNT];
  uint32_t count, capacity, parity;
  /* they are where they were before the sort, though `arrays` has them where they belong: whoever
   */
  bool permutes;
  /* asks for them permutes them first: flush does, with material and predict in one kernel where
   * these come first */
  permuting permuting_later;
  bool backed;     /* velocities and sources of before the substep are kept */
  oz_frame arrays; /* pointers of this parity */

  /* scratch */
  void *staging; /* pinned: what is on its way to the device */
  size_t staged; /* bytes of it that are taken since the host last waited */
  buffer key[2], order[2], cell_of, table, stirred, temp, partial, ticket, device_news;
  news *host_news; /* pinned; behind it stands the number of the last ones that came */
  uint32_t told;   /* how often it was asked for */
  uint32_t due;    /* what the substep went on without knowing whether it has room: DUE_ bits */
  bool knows_near, knows_further; /* such lists have had room before */
  int no_late;                    /* for tests: wait for every answer */
  cells grid;
  float cell;     /* m: of the last sort */
  int box[6];     /* as in news, of the last one that was asked for */
  bool box_known; /* it is that of the positions as they are, in such cells */
  bool box_told;  /* that of host_news will be once the last news are there */
  /* a kernel has made these of the news ready for what adds to them */
  bool box_clear, groups_clear;
  bool untold;             /* due, but no news of it are under way yet */
  bool soon;               /* news of it go with the next kernel that can take them along */
  bool counts_reset;       /* the last finish has counted whom it put back in the news */
  bool ends;               /* the kernel that waits with finish in it finds the box, */
  bool ends_counting;      /* and counts particles for the next sort */
  uint32_t last[3];        /* its largest cell coordinates */
  uint32_t bits[3];        /* of those that count in the order of list C (cells.h: rounds) */
  int now;                 /* which of key[2], order[2] is sorted */
  bool wide;               /* keys of 64 bits */
  bool starts;             /* the grid is that of list C */
  const shake_item *shake; /* goes with the advance that waits, if that takes it along (stir.h) */
  /* the density list was launched last, and lets the next one come: only such a one as waits for it
   * (stages.cu) */
  bool sought;
  /* of `stirred` that the last density list had cleared; that are clear for the next */
  size_t stirred_bytes, stirred_clear;
  size_t table_bytes, table_clear; /* of `table`, by the last sort and for the next */
  uint32_t sift_rest; /* density lists that need not be sifted, because most was stirred lately */
  /* cells of the last search are those of the table: by Morton code, or of the density list
   * (stirred.cu) */
  bool by_table;
  /* for tests: sort always; walls in kernels of their own; position iterations stage by stage; sums
   * are always added up where they are made; images before the move; news and boxes by kernels of
   * their own; rows as found; lists when all before them is done */
  int no_table, no_join, no_both, no_left, no_beside, no_soon, no_spread, no_ahead;
  int no_twice; /* and optional fields as large scenes have them */
  rows c, extra;
  /* lists of neighbours that blocks share: where each begins, how long it is; entries */
  buffer near_first, near_j;
  uint32_t share_most;    /* what fits into the shared memory of a block; SHARE_MOST at most */
  uint32_t share_room;    /* for which gathers have room */
  uint32_t widest;        /* the longest of them when that was last known */
  double mean_neighbours; /* likewise */
  spare_lists spare;
  bool ahead;     /* particles are sorted in spare.x, and nothing has moved them since */
  bool near_made; /* list C is made from that already: search_ahead */
  bool foresees;  /* the side may sort what finish leaves as soon as that is done */
  /* it does, for the next sort, if the box that finish finds takes as many bits as the last */
  bool foreseen;
  bool sorting;          /* the main stream does not wait for it yet: after_sort */
  bool counted;          /* finish has counted them */
  uint32_t foresee_rest; /* substeps that do not, because it was for nothing lately */
  buffer ghat;           /* 4 halves an entry of c; small scenes only */
  uint32_t *place;       /* start positions, packed: written with list C */
  uint32_t *slot_of;     /* slot + 1 of each particle's walls, or 0 */

  /* links */
  link_rows links[2];
  uint32_t links_now; /* which of the two is theirs */
  bool has_links;     /* there is memory for them */
  buffer link_width;  /* by group of 32 particles */

  /* walls, colliders */
  buffer wall, wall_near, wall_particle, wall_planes, wall_impulse, load, collider, brick_key,
      brick_values, grip_key, grip_values, nozzle, matter, body, body_state, member, loads;
  void *collider_copy; /* what the device has */
  size_t collider_copy_bytes;
  bool has_loads;
  bool has_load; /* the last slots have loads of boundary particles */
  double *host_loads;
  size_t host_loads_bytes;
  uint32_t slot_planes; /* that slots have room for; never less than before */
  uint32_t wall_last;   /* slots of the last substep whose number is known */
  uint32_t wall_room;   /* slots that this one has */
  buffer votes;         /* a bit a particle: it is near a wall, */
  bool voted;           /* if predict of this substep has looked */
  buffer block_sums;    /* before.h: of each block of a launch; and */
  uint32_t sums_launch; /* the number of the last such launch */
  /* which of two sets of exact sums cg_apply was told last; the other one is clear, */
  uint32_t exact_turn;
  bool exact_clear;  /* if nothing went wrong */
  bool flat, planar; /* no collider is curved; all are planes */
  uint32_t wall_count, wall_capacity, collider_count, nozzle_count, matter_count, body_count,
      member_count;

  /* stages */
  uint32_t queued, frames;
  waiting queue[QUEUE];
  oz_frame frame[FRAMES];
  int lanes_wish;                        /* 0: by particle count */
  uint32_t threads;                      /* that the device holds at once */
  uint32_t processors, processor_memory; /* multiprocessors; bytes of shared memory of each */
  int use_graphs, profiling;
  struct graph_entry *graphs;
  uint64_t graph_clock;

  double seconds[TIMER_COUNT];
  uint64_t calls[TIMER_COUNT];
  void *event[2];
};

/* What oz_spiky asks of a frame, for lengths in the units of packed positions (oz_place): h / 2^29.
 */
struct place_units {
  static constexpr float H = 536870912.0f;   /* h */
  float grad_norm, hour_norm, inv_d, metres; /* metres: of a unit */
  float pull;                                /* hour_norm / grad_norm */
  void set(const oz_frame &f) {
    const double unit = (double)f.h / H;
    metres = (float)unit;
    grad_norm = (float)((double)f.grad_norm * unit * unit);
    hour_norm = (float)((double)f.hour_norm * unit);
    inv_d = (float)((double)f.inv_d * unit);
    pull = (float)((double)f.hour_norm / ((double)f.grad_norm * unit));
  }
};
/* Stages that join another in its kernel. Of moves: */
enum {
  JOIN_MIRROR = 1,
  JOIN_PROJECT = 2,
  JOIN_DENSITY = 4,
  JOIN_BOTH = 8 /* strain joins density_lambda, density_move joins conform_move: position.h; and
                   finish conform_update, cg_last force */
};
/* Of wall_planes: wall_hold comes behind it. */
enum { JOIN_HOLD = 2 };
/* Of cg_update: wall_load comes before it; after the last one advance and what belongs to that
 * (velocity.h), whose own bits are so many places up. */
enum { JOIN_LOAD = 1, JOIN_ADVANCE = 2, ADVANCE_BITS = 2 };
/* Everything that a launch of one stage is told. */
struct stage_args {
  oz_frame f;
  const uint32_t *place; /* start positions, packed (oz_place_ld) */
  place_units units;
  uint32_t share_room; /* neighbours for which a block has room */
  /* bytes of shared memory that a block of a gather, or of a map, asks for at least (queue.cu) */
  uint32_t even, even_map;
  const uint32_t *slot_of;    /* slot + 1 of each particle, or 0 */
  const uint32_t *wall_count; /* on the device */
  double *partial;
  uint32_t processors; /* multiprocessors; 0: not known */
  uint32_t *tally;     /* of the kernel that adds up: blocks done; 0 between launches */
  /* blocks that leave their sums to the next launch, or have left them for this one; 0: none */
  uint32_t left;
  /* where sums of four numbers are added up, or lie (sums.h); NULL: blocks are many */
  oz_exact_sums *exact;
  oz_exact_sums *exact_next; /* of cg_update: where the next ones will be, which it clears */
  const double *start;       /* of the first cg_update: what residual has left; otherwise NULL */
  /* blocks done; 0 between launches. NULL: blocks are many, a kernel of its own adds their sums up
   */
  uint32_t *ticket;
  uint32_t walls;  /* stages that join it in the same kernel, as bits (JOIN_) */
  uint32_t flat;   /* no collider is curved */
  uint32_t packed; /* dx holds what position.h puts there */
  /* wall_mirror and the move after it run side by side: only the end of the move asks for what
   * images do. Likewise the first density_lambda and the density list before it, which it asks for
   * after the rows of list C */
  uint32_t beside;
  telling tell; /* what came before this kernel */
  /* on the host, of advance: particles go into the table of cells (stir.h); NULL: they do not */
  const shake_item *shake;
  /* of finish: least and minus greatest cell of where particles are then; NULL: nobody asks */
  int *box;
  /* with it: particles that were put back; otherwise these are summed as other stages sum */
  uint32_t *reset;
  float box_inv;  /* 1/m: cells a metre */
  counting count; /* of finish: particles where they are then, in those cells */
  int32_t one;    /* stage of kind ONE that follows in the last block, or -1 */
};
/* g: the frame of the wall stages that follow, in which y may have changed places with y2. */
typedef cudaError_t (*stage_fn)(const stage_args &a, const oz_frame &g, int lanes,
                                cudaStream_t stream);

/* gpu.cu */
extern const oz_backend_table gpu_table;
ooze_result fail_cuda(gpu *g, cudaError_t e, const char *what, ooze_message *why);
ooze_result grow(gpu *g, buffer *b, size_t bytes, const char *what, ooze_message *why,
                 bool scratch = false);
ooze_result bring_news(gpu *g, ooze_message *why);
ooze_result tell_news(gpu *g, ooze_message *why); /* bring_news without waiting */
/* the same in whatever stream g has now, of what that has waited for */
ooze_result tell_beside(gpu *g, ooze_message *why);
ooze_result tell_soon(gpu *g, ooze_message *why); /* the same, by the next kernel if that can */
telling next_telling(gpu *g);
ooze_result await_news(gpu *g, ooze_message *why); /* for what was told last */
enum { DUE_NEAR = 1, DUE_WALLS = 2, DUE_FURTHER = 4 };
/* Whether to go on before the answer is there. Large scenes win nothing, and a substep that is run
 * again costs them more. */
enum { LATE_MOST = 200000 };
inline bool goes_on(const gpu *g, const oz_frame *f) {
  return f->repeated && !g->no_late && g->count <= LATE_MOST;
}
/* search.cu: news of what is due, unless they are under way */
ooze_result tell_due(gpu *g, ooze_message *why);
/* search.cu: OZ_AGAIN, with room made, where something had none */
ooze_result check_due(gpu *g, ooze_message *why);
/* slots.cu: the permutation if it waits, material and predict, and who is near a wall; memory:
 * shared, bytes that a block asks for */
cudaError_t predict_voting(gpu *g, const oz_frame &f, uint32_t memory);
ooze_result fit_walls(gpu *g, bool *fits, ooze_message *why); /* slots.cu: by the news */
uint32_t rounded(const gpu *g, uint32_t n); /* queue.cu: as launches of wall stages are cut */
/* Copies to the device; `from` is the caller's again. Small ones do not wait. */
ooze_result send(gpu *g, void *to, const void *from, size_t bytes, const char *what,
                 ooze_message *why);

void drop(gpu *g, buffer *b, bool scratch);

/* links.cu */
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

/* order.cu, search.cu, slots.cu */
ooze_result sort(oz_backend *b, oz_frame *f, ooze_message *why);
ooze_result lists(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why);
ooze_result density_list(oz_backend *b, oz_frame *f, oz_build_result *out, ooze_message *why);
ooze_result walls(oz_backend *b, oz_frame *f, ooze_message *why);
/* spread.cu: rows that hold places */
cudaError_t spread_rows(const gpu *g, const uint32_t *group, const uint16_t *len, uint16_t *entries,
                        bool early);
/* each becomes the sum up to and with it */
ooze_result add_up(gpu *g, uint32_t *v, uint32_t n, ooze_message *why);
/* keep: for undo */
ooze_result permute(gpu *g, const uint32_t *order, uint32_t n, bool keep, ooze_message *why);
ooze_result permute_now(gpu *g, ooze_message *why); /* what waits for it, if anything does */
ooze_result undo(oz_backend *b, ooze_message *why);
/* the next bring_news has it */
ooze_result launch_box(gpu *g, const oz_frame *f, ooze_message *why);
ooze_result ready_box(gpu *g, ooze_message *why); /* for whoever finds the box: it is empty */
float cells_of_sort(const oz_frame *f);           /* 1/m */
void keep_box(gpu *g);                            /* that of the news which are there */

/* ahead.cu */
bool goes_ahead(gpu *g, const oz_frame *f); /* makes room for it */
void change_lists(gpu *g);                  /* the spare ones become those of the substep */
void drop_spare(gpu *g);
ooze_result clear_stirred(gpu *g, ooze_message *why); /* stirred.cu */
ooze_result clear_table(gpu *g, ooze_message *why);   /* cells.cu */
/* cells.cu: who counts there; nobody where it is not clear */
counting count_into(gpu *g, const uint32_t bits[3]);
ooze_result clear_beside(gpu *g, ooze_message *why); /* behind the sort, on walls' stream */
/* what is launched from now on comes after that */
ooze_result after_cleared(gpu *g, ooze_message *why);
/* order.cu: sorts on the side what finish leaves, before the host knows where that is */
ooze_result foresee(gpu *g, ooze_message *why);
bool foresees(gpu *g, const oz_frame *f); /* whether it may */
/* search.cu: list C on the side, behind the sort there */
ooze_result search_ahead(gpu *g, const oz_frame *f, ooze_message *why);
/* foresee comes after what was launched so far */
ooze_result note_ended(gpu *g, ooze_message *why);
ooze_result after_ended(gpu *g, ooze_message *why);
ooze_result note_sorted(gpu *g, ooze_message *why); /* lists come after the sort */
/* what is launched from now on comes after the sort on the side */
ooze_result after_sort(gpu *g, ooze_message *why);
void give_up_foreseen(gpu *g); /* particles are no longer where finish left them */
/* what goes aside from now on comes after predict, and walls after lists */
ooze_result fork_side(gpu *g, ooze_message *why);
/* what is launched from now on comes after what went aside */
ooze_result join_side(gpu *g, ooze_message *why);
struct aside { /* yes: what is launched meanwhile goes there */
  gpu *g;
  cudaStream_t was;
  aside(gpu *gg, bool yes, cudaStream_t gpu::*there = &gpu::side);
  ~aside();
};

/* census.cu */
ooze_result lost(oz_backend *b, float limit, int kill, uint32_t *out, ooze_message *why);
ooze_result wall_loads(oz_backend *b, double *out, ooze_message *why);
ooze_result fastest(oz_backend *b, double *out, ooze_message *why);

/* queue.cu */
ooze_result run(oz_backend *b, const oz_frame *f, oz_stage stage, double *sums, ooze_message *why);
ooze_result finished(oz_backend *b, double *sums, ooze_message *why);
ooze_result flush(gpu *g, ooze_message *why);
/* whether what waits ends with an advance that takes g->shake along, and nobody asks for news after
 * it */
bool shakes(const gpu *g, const oz_frame *f);
ooze_result flush_but_bound(gpu *g, ooze_message *why);
void forget_graphs(gpu *g);
int lanes_for(const gpu *g); /* threads a particle in gathers */

/* arrays.cu: pointers for a parity, laid out from `at` */
void lay_out(oz_frame *f, float *at, uint32_t capacity, uint32_t parity);
size_t words_per_particle();
struct field_array {
  size_t member;
  uint32_t words;
  bool planes, optional;
  const char *name;
};
const field_array *field_of(oz_field field);

/* Times what lies between its begin and its end on the device, when asked to. */
struct timer {
  gpu *g;
  int which;
  timer(gpu *gg, int w);
  ~timer();
};

/* Makes the backend's device current and puts the host's back. */
struct on_device {
  int before;
  explicit on_device(const gpu *g);
  ~on_device();
};

template <class T> inline T *as(const buffer &b) { return static_cast<T *>(b.at); }
static inline gpu *GPU(oz_backend *b) { return reinterpret_cast<gpu *>(b); }

#define OZ_CUDA(call, what)                                        \
  do {                                                             \
    cudaError_t oz_e = (call);                                     \
    if (oz_e != cudaSuccess) return fail_cuda(g, oz_e, what, why); \
  } while (0)

} // namespace OZ_NAMESPACE
#endif
