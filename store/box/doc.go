// Package box puts a store and an index design together: one mailbox that many
// clients append to, change and ask at once, as a server's process or processes
// would, with a policy for when the disk is waited for.
package box
