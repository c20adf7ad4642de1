CREATE TABLE stock (
	item text PRIMARY KEY,
	quantity bigint NOT NULL CHECK (quantity >= 0)
);

-- Nothing here keeps an order from being written twice: that is what the
-- idempotency record is for.
CREATE TABLE orders (
	number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	customer_id text NOT NULL,
	request_id text NOT NULL,
	item text NOT NULL REFERENCES stock,
	quantity bigint NOT NULL
);

CREATE TABLE outbox (
	position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	message_id text NOT NULL,
	recipient text NOT NULL,
	text text NOT NULL,
	sent_at timestamptz
);

CREATE INDEX outbox_unsent ON outbox (position) WHERE sent_at IS NULL;
