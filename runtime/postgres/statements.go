package postgres

import "strings"

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
}

// Sources of requests. An array goes through a sub-select because a plan for
// arrays of known length looks cheaper than one for any length, so that the
// server would plan each statement anew.
const (
	claimRow = `(VALUES ($1::text, $2::bytea, $3::bytea, $4::int8, $5::int8, $6::int8, $7::int4, 1::int8))
	AS r(key, owner, fingerprint, lease, retention, replace, flags, n)`
	claimRows = `unnest((SELECT $1::text[]), (SELECT $2::bytea[]), (SELECT $3::bytea[]),
	(SELECT $4::int8[]), (SELECT $5::int8[]), (SELECT $6::int8[]), (SELECT $7::int4[]))
	WITH ORDINALITY AS r(key, owner, fingerprint, lease, retention, replace, flags, n)`

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

// claim reads each row, decides, and writes only where something is won or a
// waiter has to be noted: a replay takes no lock and writes no WAL. Each write
// happens only if the row is still as it was read. Where it is not, or where
// somebody else inserted the row first, the request gets no answer, because
// READ COMMITTED may show this statement neither that row nor its own; the
// request is then sent again.
const claim = `WITH d AS MATERIALIZED (
	SELECT r.n, r.key, r.owner, r.fingerprint, c.now,
		c.now + r.lease * interval '1 microsecond' AS lease_until,
		CASE WHEN r.retention >= 0 THEN
			c.now + r.lease * interval '1 microsecond' + r.retention * interval '1 microsecond'
		END AS expires_at,
		t.state AS seen_state, t.fence AS seen_fence, t.attempt AS seen_attempt,
		t.fingerprint AS seen_fingerprint, t.claimed_at AS seen_claimed,
		t.lease_until AS seen_lease, t.expires_at AS seen_expiry, t.result AS seen_result,
		CASE
		WHEN t.key IS NULL THEN CASE WHEN r.replace = 0 THEN {insert} ELSE {gone} END
		WHEN t.state NOT IN ('pending', 'completed', 'released') THEN {unknown}
		WHEN {expired} THEN CASE WHEN r.replace = 0 THEN {reset} ELSE {gone} END
		WHEN t.fence = r.replace THEN {replace}
		WHEN t.state = 'pending' AND t.owner = r.owner THEN {own}
		WHEN t.fingerprint <> r.fingerprint AND t.fingerprint <> '' AND r.fingerprint <> '' THEN {conflict}
		WHEN t.state = 'completed' THEN {completed}
		WHEN t.lease_until > c.now THEN
			CASE WHEN r.flags & {flagWaiting} = 0 OR t.waiting THEN {pending} ELSE {note} END
		WHEN r.flags & {flagTakeover} <> 0 AND r.replace = 0 THEN {takeover}
		ELSE {interrupted}
		END AS verdict
	FROM (SELECT clock_timestamp() AS now) AS c, {requests}
	LEFT JOIN LATERAL (SELECT * FROM {table} AS x WHERE x.key = r.key LIMIT 1) AS t ON true
), inserted AS (
	INSERT INTO {table} (key, state, fence, attempt, waiting, claimed_at, lease_until, expires_at, owner, fingerprint)
	SELECT key, 'pending', nextval({fence}), 1, false, now, lease_until, expires_at, owner, fingerprint
	FROM d WHERE CASE WHEN verdict = {insert} THEN {guard} END
	ON CONFLICT (key) DO NOTHING
	RETURNING key, owner, fence
), updated AS (
	UPDATE {table} AS t SET
		state = 'pending',
		fence = CASE WHEN d.verdict IN ({own}, {note}) THEN t.fence ELSE nextval({fence}) END,
		attempt = CASE WHEN d.verdict IN ({own}, {note}) THEN t.attempt WHEN d.verdict = {reset} THEN 1 ELSE t.attempt + 1 END,
		waiting = CASE d.verdict WHEN {note} THEN true WHEN {reset} THEN false ELSE t.waiting END,
		claimed_at = CASE WHEN d.verdict IN ({own}, {note}) THEN t.claimed_at ELSE d.now END,
		lease_until = CASE WHEN d.verdict = {note} THEN t.lease_until ELSE d.lease_until END,
		expires_at = CASE WHEN d.verdict IN ({own}, {note}) THEN t.expires_at ELSE d.expires_at END,
		owner = CASE WHEN d.verdict = {note} THEN t.owner ELSE d.owner END,
		fingerprint = CASE WHEN d.verdict = {reset} OR d.verdict = {takeover} AND t.fingerprint = ''
			THEN d.fingerprint ELSE t.fingerprint END,
		result = NULL
	FROM d
	WHERE CASE WHEN d.verdict IN ({reset}, {replace}, {own}, {takeover}, {note}) THEN {guard} END
		AND t.key = d.key AND t.state = d.seen_state AND t.fence = d.seen_fence AND t.lease_until = d.seen_lease
	RETURNING d.n, d.verdict, t.fence, t.attempt, t.fingerprint, d.now - t.claimed_at AS age, t.lease_until - d.now AS lease_left
)
SELECT n, verdict, NULL::text, NULL::bytea, seen_fence, seen_attempt, seen_fingerprint, seen_result,
	(date_part('epoch', now - seen_claimed) * 1e6)::int8,
	(date_part('epoch', seen_lease - now) * 1e6)::int8,
	(date_part('epoch', seen_expiry - now) * 1e6)::int8, seen_state
FROM d WHERE verdict NOT IN ({insert}, {reset}, {replace}, {own}, {takeover}, {note})
UNION ALL
SELECT NULL, {insert}, key, owner, fence, 1, NULL, NULL, 0, NULL, NULL, NULL FROM inserted
UNION ALL
SELECT n, verdict, NULL, NULL, fence, attempt, fingerprint, NULL,
	(date_part('epoch', age) * 1e6)::int8, (date_part('epoch', lease_left) * 1e6)::int8, NULL, NULL
FROM updated`

// notify wakes other processes if somebody has said that he waits, and only
// then: a notification makes a commit wait for all others that notify.
const notify = `CASE WHEN t.waiting THEN pg_notify({channel}, t.key)::text END`

// complete leaves a record that is completed already as it is.
const complete = `UPDATE {table} AS t SET
	state = 'completed',
	result = CASE WHEN t.state = 'completed' THEN t.result ELSE r.result END,
	expires_at = CASE WHEN t.state = 'completed' THEN t.expires_at
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
	expires_at = {now} + {tombstone} * interval '1 microsecond'
FROM {requests}
WHERE {guard} AND t.key = r.key AND t.fence = r.fence AND NOT {expired}
RETURNING r.n, {notify}`

const extend = `UPDATE {table} AS t SET
	lease_until = CASE WHEN t.state = 'pending' THEN {now} + r.lease * interval '1 microsecond' ELSE t.lease_until END
FROM {requests}
WHERE {guard} AND t.key = r.key AND t.fence = r.fence AND t.state IN ('pending', 'completed') AND NOT {expired}
RETURNING r.n, CASE WHEN r.lease = 0 THEN {notify} END`

const lookup = `SELECT r.n, t.state, t.fence, t.attempt, t.fingerprint, t.result,
	(date_part('epoch', c.now - t.claimed_at) * 1e6)::int8,
	(date_part('epoch', t.lease_until - c.now) * 1e6)::int8,
	(date_part('epoch', t.expires_at - c.now) * 1e6)::int8
FROM (SELECT clock_timestamp() AS now) AS c, {requests}
CROSS JOIN LATERAL (SELECT * FROM {table} AS x WHERE x.key = r.key LIMIT 1) AS t
WHERE NOT {expired}`

// sweep locks what it has found and then asks again: DELETE alone would look
// at the row that it found, not at the one that was claimed meanwhile. The
// clock is a sub-select because a volatile function cannot use the index.
const sweep = `WITH deleted AS (
	DELETE FROM {table} AS t WHERE t.key = ANY (ARRAY(
		SELECT t.key FROM {table} AS t
		WHERE t.expires_at <= {now} AND {expired}
		ORDER BY t.expires_at LIMIT $1::int8
		FOR UPDATE SKIP LOCKED
	)) AND t.expires_at <= {now} AND {expired}
	RETURNING 1
)
SELECT count(*) FROM deleted`

// tombstone is how long a released row is kept, in microseconds: longer than
// any claim statement can take.
const tombstone = "60000000"

// newStatements fills in the names. If guarded, statements that write give up
// after lockTimeout when somebody holds a lock for long; the setting ends with
// the statement's own transaction, so it is not for a transaction of a caller.
func newStatements(n names, guarded bool) statements {
	guard := "true"
	if guarded {
		guard = "(SELECT set_config('lock_timeout', '" + lockTimeoutMillis + "', true)) IS NOT NULL"
	}
	fill := func(text, requests, now string) string {
		text = strings.ReplaceAll(text, "{notify}", notify)
		text = strings.ReplaceAll(text, "{expired}", expired)
		return strings.NewReplacer(append(verdictNames(),
			"{requests}", requests,
			"{now}", now,
			"{guard}", guard,
			"{table}", n.qualified(""),
			"{fence}", literal(n.qualified("_fence")),
			"{channel}", literal(n.channel()),
			"{tombstone}", tombstone,
		)...).Replace(text)
	}
	const clock, once, column = "clock_timestamp()", "(SELECT clock_timestamp())", "c.now"
	return statements{
		claimOne:     fill(claim, claimRow, column),
		claimMany:    fill(claim, claimRows, column),
		completeOne:  fill(complete, completeRow, clock),
		completeMany: fill(complete, completeRows, clock),
		releaseOne:   fill(release, releaseRow, clock),
		releaseMany:  fill(release, releaseRows, clock),
		lookupOne:    fill(lookup, lookupRow, column),
		lookupMany:   fill(lookup, lookupRows, column),
		extend:       fill(extend, extendRows, clock),
		sweep:        fill(sweep, "", once),
	}
}
