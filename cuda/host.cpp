/* The whole backend as plain C++ on one thread: the same kernels and host code, for machines
 * without a GPU. SPDX-License-Identifier: Apache-2.0 */
#define OZ_CUDA_HOST 1
#include "cuda/backend.cu"

#include "cuda/mailbox.cu"
#include "cuda/memory.cu"
#include "cuda/capacity.cu"
#include "cuda/debug_options.cu"
#include "cuda/prefix_sum.cu"
#include "cuda/profile.cu"

#include "cuda/arrays.cu"
#include "cuda/queries.cu"
#include "cuda/copies.cu"
#include "cuda/births.cu"
#include "cuda/bricks.cu"
#include "cuda/static_cells.cu"
#include "cuda/cells.cu"
#include "cuda/streams.cu"
#include "cuda/cell_order.cu"
#include "cuda/permute.cu"
#include "cuda/sort.cu"
#include "cuda/neighbour_lists.cu"
#include "cuda/moved_cells.cu"
#include "cuda/wall_contacts.cu"
#include "cuda/wall_votes.cu"
#include "cuda/row_order.cu"
#include "cuda/links.cu"
#include "cuda/stage_launch.cu"
#include "cuda/stage_queue.cu"
#include "cuda/stage_kernels.cu"

#include "cuda/device.cu"
