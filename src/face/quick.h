/*
 * Memory for SQLite in a program that is over in milliseconds.
 */
#ifndef ARBOR_FACE_QUICK_H
#define ARBOR_FACE_QUICK_H

/* From now on the thread that calls this gets it so, all others as ever. Before the first store is opened. */
void quick_memory(void);

#endif
