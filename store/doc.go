// Package store is where mail is kept: one interface over the formats that mail
// servers use, so that they can be compared under the same appends, deliveries
// and mixed work, and so that each of them can feed every index design.
//
// A Format is one way to keep a mailbox (store/maildir, mbox, cydir, sdbox,
// mdbox, sql). A Store is one opened mailbox of that format. It is a scratch
// mailbox of the benchmarks' own: mail that users have is opened by package
// corpus/source, which never writes.
//
// # Invariants that every Store holds (store/storetest)
//
// S1. Append acknowledges by returning: unless Config.NoSync, the messages,
// their names and flags then survive a killed process, a crashed kernel and a
// power cut. With NoSync they survive a killed process.
//
// S2. A message is there whole or not at all, also after a crash.
//
// S3. A message is read back as it was appended, byte for byte.
//
// S4. Keys are never used twice in a Store's directory, and Source.Order puts
// them in the order in which they were appended.
//
// S5. A call that fails changes nothing that is seen afterwards, or what it
// changed is whole messages (Append of several, with the keys that made it).
//
// # One Store a directory
//
// A Store has its directory for itself: what another one changed it does not see,
// and would overwrite. So Open locks it (flock, where the system has it; over
// network file systems as far as they keep locks between machines), and refuses
// the second. Store sql, whose engine locks, may share one. Other programs are
// not kept out.
package store
