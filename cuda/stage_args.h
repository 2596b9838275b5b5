/* Arguments of kernels: sizes, the device status, the arguments of a stage.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_CUDA_STAGE_ARGS_H
#define OZ_CUDA_STAGE_ARGS_H

#include "cuda/exact_sum.h"
#include "cuda/shim.h"
#include "physics/columns.h"

namespace OZ_NAMESPACE {

/* Kinds of stages.def. */
enum stage_kind {
  KIND_START,
  KIND_DENSITY,
  KIND_MAP,
  KIND_ITEM,
  KIND_WALL,
  KIND_BODY,
  KIND_MEMBER,
  KIND_ONE,
  KIND_LINK,
  KIND_DENSITY_LINK,
  KIND_OUTER = KIND_START,
  KIND_MATRIX = KIND_START,
  KIND_SPARE = KIND_START,
  KIND_LATE = KIND_DENSITY
};
enum {
  GROUP = 32,         /* particles whose rows are interleaved, so that a warp's loads coalesce */
  BLOCKS_AROUND = 14, /* blocks of cells that cover the 27 around a cell (cells.h) */
  BLOCK = 128,        /* threads a block in stages */
  MAX_SUMS = 4,       /* sums a stage delivers */
  BLOCK_PARTICLES = OZ_SHARE,  /* particles whose neighbours share a block's shared memory */
  BLOCK_MAX_NEIGHBOURS = 2048, /* neighbours of a block in shared memory; the rest is gathered */
  COMPUTED_GRADIENT_LANES =
      4, /* threads a particle: with more, gradients are stored, not computed */
  NONE_U32 = 0x7fffffff
};

/* Results of kernels for the host; one post copies all of it. */
struct device_status {
  int box[6];             /* least and minus greatest cell */
  uint32_t reset, spare0; /* particles that finish has put back; counted with the box */
  uint32_t cells;
  uint32_t walls;
  uint32_t lost, links;         /* particles; lines of link rows wanted */
  uint32_t fastest;             /* bits of the greatest speed squared */
  uint32_t slots;               /* wall contacts that have room */
  uint32_t moved, spare;        /* particles that the density search visits */
  unsigned long long groups[2]; /* lines of 32 entries wanted: start list, density list */
  unsigned long long neighbours;
  unsigned long long columns[OZ_COLUMN_SUMS];
  unsigned long long shared; /* entries of the blocks' lists */
  uint32_t widest, spare2;   /* longest of those within BLOCK_MAX_NEIGHBOURS */
  double scalar[OZ_SCALAR_COUNT];
  OZ_D void clear_box() {
    for (int k = 0; k < 6; k++) box[k] = NONE_U32;
    reset = 0;
  }
  OZ_D void clear_list_counters() { groups[0] = groups[1] = neighbours = shared = 0, widest = 0; }
};

/* A post of the status to the host (mailbox.h). to: NULL, none. */
struct status_post {
  const uint32_t *from;
  volatile uint32_t *to;
  uint32_t number;
};

/* Counters of particles by the Morton codes of their cells (cells.h). table: NULL, none. */
struct cell_counter {
  uint32_t *table;
  uint32_t *cell, *within; /* cell of each particle; particles counted there before it */
  int bits[3];             /* of a coordinate that count */
};

/* State of particles on its way to another order (permute.h). backup: record 4, velocity and
 * source, or NULL. */
struct pending_permutation {
  const uint32_t *order;
  float *backup;
  oz_frame from, to;
};

/* Constants of oz_spiky for lengths in the units of packed positions (oz_place): h / 2^29. */
struct place_units {
  static constexpr float H = 536870912.0f;          /* h */
  float grad_norm, zero_energy_norm, inv_d, metres; /* metres: of a unit */
  float pull;                                       /* zero_energy_norm / grad_norm */
  void set(const oz_frame &f) {
    const double unit = (double)f.h / H;
    metres = (float)unit;
    grad_norm = (float)((double)f.grad_norm * unit * unit);
    zero_energy_norm = (float)((double)f.zero_energy_norm * unit);
    inv_d = (float)((double)f.inv_d * unit);
    pull = (float)((double)f.zero_energy_norm / ((double)f.grad_norm * unit));
  }
};

struct bin_item;

/* Arguments of a stage's kernel. */
struct stage_args {
  oz_frame f;
  const uint32_t *place; /* start positions, packed (oz_place_ld) */
  place_units units;
  uint32_t block_room; /* neighbours of a block that shared memory has room for */
  /* least shared memory of a block of a gather, of a map, bytes: balances the multiprocessors */
  uint32_t balance, balance_map;
  const uint32_t *slot_of;    /* wall contact + 1 of each particle, or 0 */
  const uint32_t *wall_count; /* on the device */
  double *partial;
  uint32_t multiprocessors;  /* 0: unknown */
  uint32_t *tally;           /* blocks of the summing kernel that are done; 0 between launches */
  uint32_t deferred_blocks;  /* blocks whose sums the next launch, or this one, adds up; 0: none */
  oz_exact_sums *exact;      /* sums of four numbers (reductions.h); NULL: too many blocks */
  oz_exact_sums *exact_next; /* cg_update clears these for the next iteration */
  const double *start;       /* first cg_update: partial sums of residual; otherwise NULL */
  uint32_t *ticket; /* blocks done; 0 between launches. NULL: a kernel of its own adds up */
  uint32_t fused;   /* stages fused into the kernel, FUSE_ bits (fusion.h) */
  uint32_t flat;    /* no collider is curved */
  uint32_t packed;  /* dx holds displacements and two halves (fused_position.h) */
  /* The kernel before this one runs on beside it: mirror pressure beside the move, the density list
   * beside the first density_lambda. Only the end of the move, and the density rows, wait for it.
   */
  uint32_t overlaps;
  status_post status; /* of all before this kernel */
  const bin_item
      *binning;    /* host pointer; advance bins displacements (displacement_bins.h), or NULL */
  int *box;        /* finish: least and minus greatest cell afterwards; NULL: not wanted */
  uint32_t *reset; /* with it: particles put back; otherwise they are summed */
  float box_inv;   /* 1/m: cells a metre */
  cell_counter counter; /* finish: particles afterwards, by those cells */
  int32_t scalar_stage; /* stage of kind ONE that the last block runs, or -1 */
};
/* g: frame of the fused wall stages, in which y may have changed places with y2. */
typedef cudaError_t (*stage_fn)(const stage_args &a, const oz_frame &g, int lanes,
                                cudaStream_t stream);

} // namespace OZ_NAMESPACE
#endif
