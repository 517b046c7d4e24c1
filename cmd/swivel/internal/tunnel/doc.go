// Package tunnel carries CONNECT: it opens a tunnel through a proxy of the
// pool, tells the client, and relays bytes both ways until both sides are
// done.
//
// A waiting tunnel costs two goroutines and no buffer; a busy one uses pooled
// buffers, a bulk one the kernel's splice. Half-close is passed on. The
// [Registry] knows the tunnels that are open and ends those that are idle for too
// long.
package tunnel
