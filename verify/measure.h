/* Measurements of a simulation: plain functions of arrays. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_VERIFY_MEASURE_H
#define OOZE_VERIFY_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#define MEASURE_PI 3.14159265358979323846

typedef const float (*measure_points)[3];

/* Root mean square distance (m) of x from the rigid motion of `reference` that fits it best (Horn
 * 1987). */
double measure_rigid_rms(measure_points x, measure_points reference, uint32_t count);

typedef struct measure_body {
  double centre[3]; /* m; equal masses */
  double low[3], high[3];
  double radius; /* m: furthest from the vertical line through the centre */
  /* m: mean of the outermost 2% of those distances, a front without single strays */
  double front;
  double top;       /* m: mean height of the highest 2% */
  double kinetic;   /* J/kg */
  double max_speed; /* m/s */
  double spin[3];   /* m^2/s: angular momentum over mass about the centre */
  double drift;     /* m/s: speed of the centre */
  double mean_compression,
      /* of particles less than 5% under the rest density; rarefaction counts as 0 */
      max_compression;
  int finite;
} measure_body;
/* compression may be NULL. */
void measure(measure_points x, measure_points v, const float *compression, uint32_t count,
             measure_body *out);

/* Mean of the `k` highest particles' heights. */
double measure_surface(measure_points x, uint32_t count, uint32_t k);

/* Size of the largest set of particles connected by distances below `reach`, over all that lie
 * above `floor`; 0 if there is none or no memory. */
double measure_largest_component(measure_points x, uint32_t count, double reach, double floor);
/* The same, and how many such sets have at least `least` particles, and the share of all particles
 * that is in those. */
double measure_pieces(measure_points x, uint32_t count, double reach, double floor, uint32_t least,
                      uint32_t *out_pieces, double *out_in_them);

/* A falling stream in slabs between two heights. */
enum { MEASURE_SLABS = 6 };
typedef struct measure_stream {
  double low, high;             /* m */
  double frames[MEASURE_SLABS]; /* frames in which the slab held something */
  double speed[MEASURE_SLABS];  /* sums over frames: mean downward speed, m/s */
  /* sums over frames: square of sqrt(2) rms distance from the local axis, across it */
  double radius2[MEASURE_SLABS];
  /* sums over frames: square of the radius that the particles fill at rest density */
  double full2[MEASURE_SLABS];
  /* m: largest vertical distance between two successive particles, over all frames */
  double gap;
} measure_stream;
void measure_stream_begin(measure_stream *s, double low, double high);
void measure_stream_add(measure_stream *s, measure_points x, measure_points v, uint32_t count,
                        double separation);
double measure_stream_height(const measure_stream *s, int slab);
double measure_stream_speed(const measure_stream *s, int slab);
double measure_stream_radius(const measure_stream *s, int slab);
double measure_stream_full(const measure_stream *s, int slab);

/* Where the stream meets its pile: the centroid of the lowest section that still falls.
 * Heights are searched from `top` down in slabs of two separations. Returns 0 if there is none. */
int measure_contact(measure_points x, measure_points v, uint32_t count, double separation,
                    double top, double radius, double out[3]);

/* Turns of an azimuth that is sampled one after another; samples nearer than `least` to the axis
 * are left out. */
typedef struct measure_turns {
  double least, last, net, total, radius; /* m, rad, rad, rad, sum of m */
  uint32_t samples;
} measure_turns;
void measure_turns_begin(measure_turns *t, double least);
void measure_turns_add(measure_turns *t, double x, double z);

/* Slender jet with both end speeds given (m/s): rho v v' = rho g + 3 mu v (v'/v)', along `length`
 * (m) downwards. Fills `speed[0..nodes-1]` at equal distances. Returns 0 if Newton's method failed.
 */
int measure_slender_jet(double density, double viscosity, double gravity, double length,
                        double first, double last, int nodes, double *speed);

double measure_percentile(double *values, size_t count, double fraction); /* sorts values */

#endif
