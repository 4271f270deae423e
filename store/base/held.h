#ifndef STORE_BASE_HELD_H
#define STORE_BASE_HELD_H

/*
 * Which locks a function takes, gives back, or needs, in words that clang's
 * thread-safety analysis checks (make lint) and other compilers pass over. They
 * stand behind a function's parameters. SHARED is for reading, which who has it
 * for writing may do as well. A lock is an expression of the parameters, and
 * its type a struct that is a CAPABILITY. What is called by a pointer is not
 * followed: such a function tells by ASSERTS_SHARED what its caller has.
 */
#ifdef __clang__
#define HELD(x) __attribute__((x))
#else
#define HELD(x)
#endif

#define CAPABILITY(name) HELD(capability(name))
#define ACQUIRES(lock) HELD(acquire_capability(lock))
#define ACQUIRES_SHARED(lock) HELD(acquire_shared_capability(lock))
#define RELEASES(lock) HELD(release_capability(lock))
#define RELEASES_SHARED(lock) HELD(release_shared_capability(lock))
#define NEEDS(lock) HELD(requires_capability(lock))
#define NEEDS_SHARED(lock) HELD(requires_shared_capability(lock))
/* The caller must not have it, as the function takes it itself. */
#define EXCLUDES(lock) HELD(locks_excluded(lock))
#define ASSERTS_SHARED(lock) HELD(assert_shared_capability(lock))
/* For what takes and gives back the lock itself. */
#define UNCHECKED HELD(no_thread_safety_analysis)

#endif
