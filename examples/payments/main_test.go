package main

func Example() {
	main()
	// Output:
	// A first call runs.
	//   order-1: receipt ch_1 for 49.90 EUR (executed)
	//   the processor so far: requests 1, charges 1
	//
	// Its retry gets the same receipt.
	//   order-1: receipt ch_1 for 49.90 EUR (replayed)
	//   the processor so far: requests 1, charges 1
	//
	// Of 100 concurrent callers one runs, and all get its receipt.
	//   order-2: 100 equal receipts, 99 of them joined or replayed
	//   the processor so far: requests 2, charges 2
	//
	// The same key with another amount is refused: the caller made a mistake.
	//   | level=WARN msg="idem: conflicted" key=payments.Charge/cus_9/order-1 attempt=1
	//   payments.Charge/cus_9/order-1: the key was used before with other arguments
	//   advice to the caller: use another key
	//
	// A failure is not recorded: the retry runs again.
	//   order-3: charge order-3: the card processor is unavailable
	//   advice to the caller: retry with the same key
	//   order-3: receipt ch_3 for 7.00 EUR (executed)
	//   the processor so far: requests 4, charges 3
	//
	// A process charges and is killed before it can say so. Once its lease ended, the next caller takes over.
	//   | level=WARN msg="idem: taken over" key=payments.Charge/cus_9/order-4 attempt=2
	//   order-4: receipt ch_4 for 3.00 EUR (executed)
	//   the processor was asked again, recognised the execution's child key, and charged once
	//   the processor so far: requests 6, charges 4
	//
	// After a crash in a method that says `recover refuse`, a person decides.
	//   | level=ERROR msg="idem: interrupted" key=payments.Refund/ch_1 attempt=1
	//   payments.Refund/ch_1: an earlier execution was interrupted and its outcome is unknown
	//   advice to the caller: do not retry
	//   the operator looks it up: pending, attempt 1, lease lapsed: true
	//   the processor's books say that the money went back, so the operator records that
	//   refund of ch_1: done (replayed); refunds that this process asked for: 0
	//
	// An operator can free a key: the next call runs again.
	//   order-1: receipt ch_1 for 49.90 EUR (executed)
	//   the processor so far: requests 7, charges 4
}
