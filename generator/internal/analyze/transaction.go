package analyze

// transactional checks //idem:tx, and reports whether the method has it.
//
// In this mode the claim is a part of the transaction and ends with it, whatever
// becomes of the process. A lease says nothing then, and no execution is ever
// found interrupted: a directive about either promises what cannot happen.
func (c *checker) transactional(m *member, context int) bool {
	d, ok := m.Directives["tx"]
	if !ok {
		return false
	}
	if context < 0 {
		c.report(d.Pos, "//idem:tx hands %s its transaction in a context.Context, which it does not take: add the parameter ctx context.Context", m.fn.Name())
	}
	if lease, ok := m.Directives["lease"]; ok {
		c.report(lease.Pos, "//idem:lease has no meaning beside //idem:tx: a transaction ends with its process, so that nobody waits for a lease; leave //idem:lease out")
	}
	if policy, ok := m.Directives["recover"]; ok && policy.Args != "rerun" {
		c.report(policy.Arg, "//idem:tx leaves nothing of %s in the database after a crash, its claim included, so that nobody finds it interrupted: "+
			"leave //idem:recover out, and the next call runs", m.fn.Name())
	}
	return true
}
