/* Folders. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_SESSION_OS_H
#define OOZE_IO_SESSION_OS_H

#include <stddef.h>

#include "ooze/ooze.h"

/* From the root of the file system; the path itself where that cannot be told. */
void oz_absolute_path(const char *path, char *out, size_t room);
/* neither it nor one above it is a file */
ooze_result oz_folder_fits(const char *path, ooze_message *why);
ooze_result oz_make_folder(const char *path, ooze_message *why); /* and those above it */

#endif
