/* The library's version; a build may set another. */
#ifndef TT_BASE_VERSION_H
#define TT_BASE_VERSION_H

#ifndef TUTTI_VERSION
#define TUTTI_VERSION "0.1.0"
#endif

#endif
