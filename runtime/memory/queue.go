package memory

// A queue is a binary heap of records, the first to expire on top. Renewing or
// ending a lease leaves the queue alone, so a pending record may expire later
// than its entry is due, and then the sweeper moves the entry when it gets
// there. If the lease is ended after that, the record is swept late.
type queue []entry

type entry struct {
	due    instant
	record *record
}

// push adds r, which is in no queue. Records usually come in the order in
// which they expire, and then stay where they are put.
func (q *queue) push(r *record) {
	*q = append(*q, entry{r.keepEnd, r})
	q.up(len(*q) - 1)
}

// remove takes r out.
func (q *queue) remove(r *record) {
	i, last := int(r.place)-1, len(*q)-1
	moved := (*q)[last]
	(*q)[last] = entry{}
	*q = (*q)[:last]
	r.place = 0
	if i < last {
		(*q)[i] = moved
		q.down(i)
		q.up(i)
	}
}

// postpone moves the top entry to a later due time.
func (q *queue) postpone(due instant) {
	(*q)[0].due = due
	q.down(0)
}

// up moves entry i towards the top until its parent is due no later.
func (q queue) up(i int) {
	e := q[i]
	for i > 0 {
		parent := (i - 1) / 2
		if q[parent].due <= e.due {
			break
		}
		q.put(i, q[parent])
		i = parent
	}
	q.put(i, e)
}

// down moves entry i away from the top until its children are due no earlier.
func (q queue) down(i int) {
	e := q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if right := child + 1; right < len(q) && q[right].due < q[child].due {
			child = right
		}
		if e.due <= q[child].due {
			break
		}
		q.put(i, q[child])
		i = child
	}
	q.put(i, e)
}

// put stores e at i and tells its record.
func (q queue) put(i int, e entry) {
	q[i] = e
	e.record.place = int32(i + 1)
}
