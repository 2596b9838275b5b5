/* The clock of all timings. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_SECONDS_H
#define OZ_BASE_SECONDS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Wall time in seconds from a fixed moment; it never goes back. */
double oz_seconds(void);

#ifdef __cplusplus
}
#endif
#endif
