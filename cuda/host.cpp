/* The whole backend as plain C++ on one thread: the same kernels and host code, for machines
 * without a GPU. */
#define OZ_CUDA_HOST 1
#include "cuda/gpu.cu"

#include "cuda/arrays.cu"
#include "cuda/census.cu"
#include "cuda/calm.cu"
#include "cuda/cells.cu"
#include "cuda/ahead.cu"
#include "cuda/order.cu"
#include "cuda/search.cu"
#include "cuda/stirred.cu"
#include "cuda/slots.cu"
#include "cuda/spread.cu"
#include "cuda/links.cu"
#include "cuda/queue.cu"
#include "cuda/stages.cu"

#include "cuda/open.cu"
