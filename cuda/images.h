/* The kernel of images by rows (mirror.h), beside the move, whose end waits for it: it should be
 * short, and take little room. Some blocks are for slots of the layer next to a wall, four threads
 * each; the others for those that have no images but their own, one thread each. It is a chain of
 * reads that wait for each other. So what is as old as lists and walls comes before the kernel
 * waits, and all that a thread asks for then is on the way at once. That is for one plane and a row
 * that is not too long; other slots, which are few, go one step after the other. Included by
 * stages.cu, inside its namespace. */
#ifndef OZ_CUDA_IMAGES_H
#define OZ_CUDA_IMAGES_H

/* A slot and its one plane: what is read before the kernel waits. */
struct image_slot {
  uint32_t i;
  float omega, x[3];
  oz_wall wall;   /* n and s of it */
  bool on, plain; /* it has images; and one plane alone */
  OZ_D void open(const stage_args &a, uint32_t slot) {
    const oz_frame *f = &a.f;
    const oz_wall *from = f->wall + (size_t)slot * f->slot_planes;
    const uint32_t planes = f->wall_planes[slot], dense = from->dense;
    oz_real v[4], w[4];
    static_assert(offsetof(oz_wall, n) == 0 && offsetof(oz_wall, s) == 12 &&
                      sizeof(oz_wall) % 16 == 0,
                  "read as one");
    oz_ld4(reinterpret_cast<const float *>(from), 0, 4, 0, w);
    i = f->wall_particle[slot];
    omega = f->omega[i];
    oz_ld4(f->x, i, 4, 0, v);
    for (int c = 0; c < 3; c++) x[c] = v[c], wall.n[c] = w[c];
    wall.s = w[3];
    on = f->wall_density && omega > 0.0f, plain = planes == 1 && dense;
  }
};

/* One of the four threads of a row. */
struct image_team {
  /* entries of a thread: that it knows beforehand (rows next to a wall have some 30 in all); that
   * are on the way at once; and when half of them are done, the next */
  enum { T = image_row::T, AHEAD = 12, AT_ONCE = 6, HALF = 3 };
  struct shelf {                  /* in shared memory: what registers have no room for */
    float4 x[BLOCK], wall[BLOCK]; /* of the particle; n and s */
    uint2 here[BLOCK], place[AHEAD][BLOCK];
    uint32_t later[AHEAD - AT_ONCE][BLOCK];
  };
  uint32_t i, length, j[AT_ONCE];
  /* Whether it has images, from one plane, and a row that is not too long. */
  OZ_D bool open(const stage_args &a, uint32_t slot, shelf &kept) {
    const oz_frame *f = &a.f;
    const oz_wall *wall = f->wall + (size_t)slot * f->slot_planes;
    const uint32_t lane = threadIdx.x % T, planes = f->wall_planes[slot], dense = wall->dense;
    static_assert(offsetof(oz_wall, n) == 0 && offsetof(oz_wall, s) == 12 &&
                      sizeof(oz_wall) % 16 == 0,
                  "read as one");
    copy_in<16>(near_address_of(&kept.wall[threadIdx.x]), wall);
    i = f->wall_particle[slot];
    copy_in<16>(near_address_of(&kept.x[threadIdx.x]), f->x + 4 * (size_t)i);
    copy_in<8>(near_address_of(&kept.here[threadIdx.x]), a.place + 2 * (size_t)i);
    const float omega = f->omega[i];
    image_row row;
    uint32_t who[AHEAD];
    row.open(a, i);
    length = row.length;
    for (uint32_t m = 0; m < AHEAD; m++) who[m] = row.neighbour(lane + T * m);
    for (uint32_t m = 0; m < AHEAD; m++) {
      copy_in<8>(near_address_of(&kept.place[m][threadIdx.x]), a.place + 2 * (size_t)who[m]);
      if (m < AT_ONCE)
        j[m] = who[m];
      else
        kept.later[m - AT_ONCE][threadIdx.x] = who[m];
    }
    return f->wall_density && omega > 0.0f && planes == 1 && dense && length <= T * AHEAD;
  }
  static OZ_D float of_lane(const float v[3]) {
    return threadIdx.x % T == 0 ? v[0] : threadIdx.x % T == 1 ? v[1] : v[2];
  }
  /* For a whole warp; there: this thread has a row. */
  OZ_D void make(const stage_args &a, uint32_t slot, const shelf &kept, bool there) const {
    const oz_frame *f = &a.f;
    /* the first three threads take an axis each */
    const uint32_t lane = threadIdx.x % T, axis = lane < 3 ? lane : 2;
    const size_t plane = (size_t)slot * f->slot_planes;
    oz_real own[4] = {0.0f, 0.0f, 0.0f, 0.0f}, d[AT_ONCE][4], sum[OZ_MIRROR_SUMS];
    float y = 0.0f, impulse = 0.0f, press = 0.0f, omega = 0.0f, move = 0.0f;
    for (uint32_t m = 0; m < AT_ONCE; m++)
      for (int c = 0; c < 4; c++) d[m][c] = 0.0f;
    if (there) {
      oz_ld4(f->dx, i, 4, 0, own);
      for (uint32_t m = 0; m < AT_ONCE; m++) oz_ld4(f->dx, j[m], 4, 0, d[m]);
      y = f->y[4 * (size_t)i + axis], impulse = f->wall_impulse[3 * plane + axis],
      press = __ldcg(&f->wall[plane].press), omega = f->omega[i];
    }
    __syncwarp(); /* nothing of this is put off until it is used; likewise below */
    const float4 x4 = kept.x[threadIdx.x], w4 = kept.wall[threadIdx.x];
    const float x[3] = {x4.x, x4.y, x4.z};
    const oz_place here = oz_place_ld(&kept.here[threadIdx.x].x, 0);
    oz_wall wall;
    oz_mirror m, seen;
    wall.n[0] = w4.x, wall.n[1] = w4.y, wall.n[2] = w4.z, wall.s = w4.w;
    mirror_begin(own, x, &m, &seen);
    const int others = mirror_turn(f, x, &wall, &m, &seen);
    for (int c = 0; c < OZ_MIRROR_SUMS; c++) sum[c] = 0.0f;
    /* whether any row of this warp has so many; the others go along with the particle itself */
    bool on[AHEAD / HALF];
#pragma unroll
    for (uint32_t e = 0; e < AHEAD; e += HALF) {
      if (e >= AT_ONCE && !on[e / HALF]) break;
      for (uint32_t u = e; u < e + HALF; u++)
        image_row::add(a, here, oz_place_ld(&kept.place[u][threadIdx.x].x, 0), d[u % AT_ONCE],
                       &seen, sum);
      if (e + AT_ONCE < AHEAD) {
        on[(e + AT_ONCE) / HALF] = __any_sync(0xffffffffu, there && T * (e + AT_ONCE) < length);
        if (there && on[(e + AT_ONCE) / HALF])
          for (uint32_t u = e; u < e + HALF; u++)
            oz_ld4(f->dx, kept.later[u][threadIdx.x], 4, 0, d[u % AT_ONCE]);
        __syncwarp();
      }
    }
    for (int c = 0; c < OZ_MIRROR_SUMS; c++)
      for (int e = T / 2; e; e >>= 1) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], e);
    oz_mirror_axis(f, oz_mirror_push(f, &m, press, others, sum), of_lane(m.n), others,
                   of_lane(sum + 2), &impulse, &move);
    if (!there || lane == 3) return;
    f->wall_impulse[3 * plane + axis] = impulse;
    f->y[4 * (size_t)i + axis] = oz_mirror_moved(f, omega, y, move);
  }
};
/* One thread for its slot. Returns whether there is more to it than its own image: then nothing is
 * done. */
__device__ __forceinline__ bool image_alone(const stage_args &a, uint32_t slot,
                                            const image_slot &at, bool there) {
  const oz_frame *f = &a.f;
  const size_t plane = (size_t)slot * f->slot_planes;
  oz_real own[4] = {0.0f, 0.0f, 0.0f, 0.0f}, y[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  float impulse[3] = {0.0f, 0.0f, 0.0f}, move[3] = {0.0f, 0.0f, 0.0f}, press = 0.0f;
  if (there) {
    oz_ld4(f->dx, at.i, 4, 0, own), oz_ld4(f->y, at.i, 4, 0, y);
    for (int c = 0; c < 3; c++) impulse[c] = f->wall_impulse[3 * plane + c];
    press = __ldcg(&f->wall[plane].press);
  }
  __syncwarp(); /* all of it is on the way */
  oz_mirror m, seen;
  mirror_begin(own, at.x, &m, &seen);
  if (mirror_turn(f, at.x, &at.wall, &m, &seen)) return there;
  const float push = oz_mirror_push(f, &m, press, 0, nullptr);
  for (int c = 0; c < 3; c++) oz_mirror_axis(f, push, m.n[c], 0, 0.0f, impulse + c, move + c);
  for (int c = 0; there && c < 3; c++)
    f->wall_impulse[3 * plane + c] = impulse[c], f->y[4 * (size_t)at.i + c] =
                                                     oz_mirror_moved(f, at.omega, y[c], move[c]);
  return false;
}

__device__ __forceinline__ void images_wait(const stage_args &a) {
  if (!a.beside) let_the_next_come();
  await_the_last();
  /* so it finds done what came before this one, and need not wait for that */
  if (a.beside) let_the_next_come();
}
/* Warps that have nothing to do leave at once; but the first keeps the next kernel from coming
 * before the last one is done. */
__device__ __forceinline__ bool images_none() { return blockIdx.x || threadIdx.x >= 32; }
/* Whoever writes walls, how many there are and which have others near lets nobody come early. */
__device__ __forceinline__ void images_of_teams(const stage_args &a, uint32_t blocks) {
  __shared__ image_team::shelf kept;
  constexpr uint32_t EACH = BLOCK / image_team::T;
  const oz_frame *f = &a.f;
  const uint32_t many = *f->wall_near, begin = blockIdx.x * EACH + threadIdx.x / image_team::T;
  bool waits = true, more = false;
  for (uint32_t k = begin;; k += blocks * EACH) {
    /* that of the warp's first. There is room for so many slots: how many there are need not be
     * known yet */
    const uint32_t slot = k < f->wall_count ? f->wall_near[1 + k] : 0u, first = k & ~7u;
    bool there = k < many;
    image_team team;
    if (first >= many && (!waits || images_none())) break;
    if (there) {
      there = team.open(a, slot, kept);
      more |= !there;
    }
    copies_are_there();
    if (waits) images_wait(a);
    waits = false;
    team.make(a, slot, kept, there);
  }
  for (uint32_t k = begin; more && k < many; k += blocks * EACH) {
    const uint32_t slot = f->wall_near[1 + k];
    if (f->wall_planes[slot] != 1 || !f->wall[(size_t)slot * f->slot_planes].dense ||
        f->len_c[f->wall_particle[slot]] > image_team::T * image_team::AHEAD)
      mirror_row<true>(a, slot, threadIdx.x % image_team::T);
  }
}
__device__ __forceinline__ void images_alone(const stage_args &a, uint32_t block, uint32_t blocks) {
  const uint32_t many = *a.wall_count;
  bool waits = true;
  for (uint32_t slot = block * BLOCK + threadIdx.x;; slot += blocks * BLOCK) {
    bool there = slot < many;
    image_slot at;
    if ((slot & ~31u) >= many && (!waits || images_none())) break;
    if (there) {
      at.open(a, slot);
      there = at.on && !next_to_wall(&a.f, slot, a.f.wall_planes[slot]);
    }
    if (waits) images_wait(a);
    waits = false;
    const bool more = image_alone(a, slot, at, there && at.plain);
    if (more || (there && !at.plain)) mirror_row<false>(a, slot, 0);
  }
}
template <class S>
__global__ void __launch_bounds__(BLOCK, 8)
    images_kernel(const __grid_constant__ stage_args a, uint32_t teams) {
  if (blockIdx.x < teams)
    images_of_teams(a, teams);
  else
    images_alone(a, blockIdx.x - teams, gridDim.x - teams);
}
#endif
