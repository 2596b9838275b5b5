/* The validation page: every row of a run with its verdict, and its curves, as one HTML file that
 * needs nothing else. SPDX-License-Identifier: Apache-2.0 */
#ifndef OOZE_VERIFY_REPORT_H
#define OOZE_VERIFY_REPORT_H

#include "verify.h"

/* Writes index.html into `folder`, which is made if it is not there. `command` is shown as its
 * origin. */
ooze_result verify_report_write(const char *folder, const char *command, const verify_desc *desc,
                                const verify_result *result, ooze_message *why);

#endif
