/* Folders. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_SESSION_OS_H
#define OOZE_IO_SESSION_OS_H

#include <stddef.h>

#include "ooze/ooze.h"

/* From the root of the file system; the path itself where that cannot be told. */
void oz_absolute_path(const char *path, char *out, size_t room);
/* neither it nor one above it is a file, or a link that leads nowhere */
ooze_result oz_folder_fits(const char *path, ooze_message *why);
ooze_result oz_make_folder(const char *path, ooze_message *why);   /* and those above it */
ooze_result oz_folder_is_own(const char *path, ooze_message *why); /* no link */
int oz_folder_exists(const char *path);

/* One holder at a time, among all processes and, where the disk's locks reach so far, machines. It
 * ends with the process, however that ends. A disk without locks: OK, *out NULL, *supported 0. */
typedef struct oz_lock oz_lock;
ooze_result oz_folder_lock(const char *folder, oz_lock **out, int *supported, ooze_message *why);
void oz_folder_unlock(oz_lock *lock);

#endif
