/* Folders. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_IO_SESSION_OS_H
#define OOZE_IO_SESSION_OS_H

#include "ooze/ooze.h"

ooze_result oz_make_folder(const char *path, ooze_message *why); /* and those above it */

#endif
