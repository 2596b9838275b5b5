/* libooze_full: ooze_core and ooze_io are linked in whole; a library needs one file of its own.
 * SPDX-License-Identifier: Apache-2.0 */
typedef int ooze_full;
