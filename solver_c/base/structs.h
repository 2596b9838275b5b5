/* Structs that begin with their size: an older client's are shorter, a newer client's longer, than
 * what we know. */
#ifndef OZ_BASE_STRUCTS_H
#define OZ_BASE_STRUCTS_H

#include "base/result.h"

/* into holds the defaults and is `known` bytes long; what the client has of it is copied over them.
 */
ooze_result oz_struct_read(void *into, const void *from, size_t known, const char *what,
                           ooze_message *why);
/* Writes as much of `from` as the client's struct has room for; its size stays what it said. */
ooze_result oz_struct_write(void *out, const void *from, size_t known, const char *what,
                            ooze_message *why);

#endif
