/* Threads, mutexes and conditions: POSIX's, or Windows' own. SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_BASE_THREADS_H
#define OZ_BASE_THREADS_H

#include <stdint.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

typedef SRWLOCK oz_mutex;
typedef CONDITION_VARIABLE oz_condition;
typedef HANDLE oz_thread;
#define OZ_THREAD_FN(name) static DWORD WINAPI name(LPVOID arg)
typedef DWORD(WINAPI *oz_thread_fn)(LPVOID arg);

static inline int oz_mutex_open(oz_mutex *m) {
  InitializeSRWLock(m);
  return 1;
}
static inline void oz_mutex_close(oz_mutex *m) { (void)m; }
static inline void oz_mutex_lock(oz_mutex *m) { AcquireSRWLockExclusive(m); }
static inline void oz_mutex_unlock(oz_mutex *m) { ReleaseSRWLockExclusive(m); }
static inline int oz_condition_open(oz_condition *c) {
  InitializeConditionVariable(c);
  return 1;
}
static inline void oz_condition_close(oz_condition *c) { (void)c; }
static inline void oz_condition_wake(oz_condition *c) { WakeAllConditionVariable(c); }
static inline void oz_condition_wait(oz_condition *c, oz_mutex *m) {
  SleepConditionVariableSRW(c, m, INFINITE, 0);
}
static inline void oz_condition_wait_for(oz_condition *c, oz_mutex *m, unsigned ms) {
  SleepConditionVariableSRW(c, m, ms, 0);
}
static inline int oz_thread_start(oz_thread *t, oz_thread_fn fn, void *arg) {
  *t = CreateThread(NULL, 0, fn, arg, 0, NULL);
  return *t != NULL;
}
static inline void oz_thread_join(oz_thread t) {
  WaitForSingleObject(t, INFINITE);
  CloseHandle(t);
}

#else
#include <pthread.h>
#include <time.h>

typedef pthread_mutex_t oz_mutex;
typedef pthread_cond_t oz_condition;
typedef pthread_t oz_thread;
#define OZ_THREAD_FN(name) static void *name(void *arg)
typedef void *(*oz_thread_fn)(void *arg);

static inline int oz_mutex_open(oz_mutex *m) { return pthread_mutex_init(m, NULL) == 0; }
static inline void oz_mutex_close(oz_mutex *m) { pthread_mutex_destroy(m); }
static inline void oz_mutex_lock(oz_mutex *m) { pthread_mutex_lock(m); }
static inline void oz_mutex_unlock(oz_mutex *m) { pthread_mutex_unlock(m); }
static inline int oz_condition_open(oz_condition *c) { return pthread_cond_init(c, NULL) == 0; }
static inline void oz_condition_close(oz_condition *c) { pthread_cond_destroy(c); }
static inline void oz_condition_wake(oz_condition *c) { pthread_cond_broadcast(c); }
static inline void oz_condition_wait(oz_condition *c, oz_mutex *m) { pthread_cond_wait(c, m); }
/* Until it is woken, or for about so long: a clock that is set makes it longer or shorter. */
static inline void oz_condition_wait_for(oz_condition *c, oz_mutex *m, unsigned ms) {
  struct timespec until;
  timespec_get(&until, TIME_UTC);
  until.tv_sec += ms / 1000;
  until.tv_nsec += (long)(ms % 1000) * 1000000;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  pthread_cond_timedwait(c, m, &until);
}
static inline int oz_thread_start(oz_thread *t, oz_thread_fn fn, void *arg) {
  return pthread_create(t, NULL, fn, arg) == 0;
}
static inline void oz_thread_join(oz_thread t) { pthread_join(t, NULL); }
#endif

#endif
