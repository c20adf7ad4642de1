package postgres

import (
	"slices"
	"strings"
)

// statements are the texts that a backend sends, with its names filled in.
// Those for one request and for many differ only in where the requests come
// from. Time is clock_timestamp(): now() stands still in a transaction.
type statements struct {
	claimOne, claimMany       string
	completeOne, completeMany string
	releaseOne, releaseMany   string
	lookupOne, lookupMany     string
	extend                    string
	sweep                     string

	// In a transaction of the backend's, and of the caller's.
	claimTx, claimJoined string
	redraw, completeTx   string
}

// Sources of requests. An array goes through a sub-select because a plan for
// arrays of known length looks cheaper than one for any length, so that the
// server would plan each statement anew.
const (
	completeRow  = `(VALUES ($1::text, $2::int8, $3::bytea, $4::int8, 1::int8)) AS r(key, fence, result, ttl, n)`
	completeRows = `unnest((SELECT $1::text[]), (SELECT $2::int8[]), (SELECT $3::bytea[]), (SELECT $4::int8[]))
	WITH ORDINALITY AS r(key, fence, result, ttl, n)`

	releaseRow  = `(VALUES ($1::text, $2::int8, 1::int8)) AS r(key, fence, n)`
	releaseRows = `unnest((SELECT $1::text[]), (SELECT $2::int8[])) WITH ORDINALITY AS r(key, fence, n)`

	lookupRow  = `(VALUES ($1::text, 1::int8)) AS r(key, n)`
	lookupRows = `unnest((SELECT $1::text[])) WITH ORDINALITY AS r(key, n)`

	extendRows = `unnest((SELECT $1::text[]), (SELECT $2::int8[]), (SELECT $3::int8[]))
	WITH ORDINALITY AS r(key, fence, lease, n)`
)

// expired holds of a row t that counts as absent. A pending record is kept
// until its lease has ended, however long that is renewed.
const expired = `(t.state = 'released' OR t.expires_at IS NOT NULL AND t.expires_at <= {now}
	AND (t.state = 'completed' OR t.state = 'pending' AND t.lease_until <= {now}))`

// notify wakes other processes if somebody has said that he waits, and only
// then: a notification makes a commit wait for all others that notify.
const notify = `CASE WHEN t.waiting THEN pg_notify({channel}, t.key)::text END`

// complete leaves a record that is completed already as it is. It moves the
// time of the sweep, which is in an index, only where the one that the claim
// set would be too early, or late by more than an eighth of the TTL.
const complete = `UPDATE {table} AS t SET
	state = 'completed',
	result = CASE WHEN t.state = 'completed' THEN t.result ELSE r.result END,
	expires_at = CASE WHEN t.state = 'completed' THEN t.expires_at
		WHEN r.ttl >= 0 THEN {now} + r.ttl * interval '1 microsecond' END,
	sweep_at = CASE WHEN t.state = 'completed'
		OR t.sweep_at - {now} BETWEEN r.ttl * interval '1 microsecond' AND r.ttl * interval '1 microsecond' * 1.125 THEN t.sweep_at
		WHEN r.ttl >= 0 THEN {now} + r.ttl * interval '1 microsecond' END
FROM {requests}
WHERE {guard} AND t.key = r.key AND t.fence = r.fence AND t.state IN ('pending', 'completed') AND NOT {expired}
RETURNING r.n, {notify}`

// release keeps the row for a while, as if absent. A claim statement that read
// nothing, drew its fence, and was then held up for so long that another one
// claimed and released the key would otherwise insert the smaller fence later.
const release = `UPDATE {table} AS t SET
	state = 'released',
	result = NULL,
	fingerprint = '',
	sweep_at = {now} + {tombstone} * interval '1 microsecond'
FROM {requests}
WHERE {guard} AND t.key = r.key AND t.fence = r.fence AND NOT {expired}
RETURNING r.n, {notify}`

const extend = `UPDATE {table} AS t SET
	lease_until = CASE WHEN t.state = 'pending' THEN {now} + r.lease * interval '1 microsecond' ELSE t.lease_until END
FROM {requests}
WHERE {guard} AND t.key = r.key AND t.fence = r.fence AND t.state IN ('pending', 'completed') AND NOT {expired}
RETURNING r.n, CASE WHEN r.lease = 0 THEN {notify} END`

const lookup = `SELECT r.n, t.state, t.fence, t.attempt, t.fingerprint, t.result, c.now, t.claimed_at, t.lease_until, t.expires_at
FROM (SELECT clock_timestamp() AS now) AS c, {requests}
CROSS JOIN LATERAL (SELECT * FROM {table} AS x WHERE x.key = r.key LIMIT 1) AS t
WHERE NOT {expired}`

// sweep locks what it has found and then asks again: DELETE alone would look
// at the row that it found, not at the one that was claimed meanwhile. The
// clock is a sub-select because a volatile function cannot use the index.
const sweep = `WITH deleted AS (
	DELETE FROM {table} AS t WHERE t.key = ANY (ARRAY(
		SELECT t.key FROM {table} AS t
		WHERE t.sweep_at <= {now} AND {expired}
		ORDER BY t.sweep_at LIMIT $1::int8
		FOR UPDATE SKIP LOCKED
	)) AND t.sweep_at <= {now} AND {expired}
	RETURNING 1
)
SELECT count(*) FROM deleted`

// tombstone is how long a released row is kept, in microseconds: longer than
// any claim statement can take.
const tombstone = "60000000"

// redraw takes a new fence for a row that the transaction has written.
const redraw = `UPDATE {table} SET fence = nextval({fence}) WHERE key = $1::text AND fence = $2::int8 RETURNING fence`

// Statements that write give up after lockTimeoutMillis when somebody holds a
// lock for long. The setting ends with the statement's own transaction.
const impatient = "(SELECT set_config('lock_timeout', '" + lockTimeoutMillis + "', true)) IS NOT NULL"

// newStatements fills in the names.
func newStatements(n names) statements {
	fill := func(text, guard, now string, parts ...string) string {
		text = strings.NewReplacer("{expired}", expired, "{notify}", notify).Replace(text)
		text = strings.NewReplacer(claimParts...).Replace(text)
		text = strings.NewReplacer(append(parts, "{now}", now, "{guard}", guard)...).Replace(text)
		return strings.NewReplacer(append(verdictNames(),
			"{table}", n.qualified(""),
			"{fence}", literal(n.qualified("_fence")),
			"{channel}", literal(n.channel()),
			"{tombstone}", tombstone,
		)...).Replace(text)
	}
	const clock, once, column = "clock_timestamp()", "(SELECT clock_timestamp())", "c.now"
	return statements{
		claimOne:     fill(claim, impatient, column, slices.Concat(oneClaim, committing)...),
		claimMany:    fill(claim, impatient, column, slices.Concat(manyClaims, committing)...),
		completeOne:  fill(complete, impatient, clock, "{requests}", completeRow),
		completeMany: fill(complete, impatient, clock, "{requests}", completeRows),
		releaseOne:   fill(release, impatient, clock, "{requests}", releaseRow),
		releaseMany:  fill(release, impatient, clock, "{requests}", releaseRows),
		lookupOne:    fill(lookup, "", column, "{requests}", lookupRow),
		lookupMany:   fill(lookup, "", column, "{requests}", lookupRows),
		extend:       fill(extend, impatient, clock, "{requests}", extendRows),
		sweep:        fill(sweep, "", once),

		claimTx:     fill(claim, tryLock, column, slices.Concat(oneClaim, beginner)...),
		claimJoined: fill(claim, "true", column, slices.Concat(oneClaim, joiner)...),
		redraw:      fill(redraw, "", ""),
		completeTx:  fill(complete, "true", clock, "{requests}", completeRow),
	}
}
