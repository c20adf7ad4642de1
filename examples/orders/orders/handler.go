package orders

import (
	"encoding/json"
	"errors"
	"net/http"

	idem "github.com/idemgen/idem/runtime"
)

// OutcomeHeader says in an answer what became of the request: executed,
// replayed, joined, …
const OutcomeHeader = "Idempotency-Outcome"

// Handler serves POST /orders. Status 503 says that the same request may be
// made again, 409 that it was refused, for good.
func Handler(service Orders) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var req Request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx, outcome := idem.WithOutcome(r.Context())
		order, err := service.Place(ctx, req)
		w.Header().Set(OutcomeHeader, outcome().Kind.String())
		if err != nil {
			http.Error(w, err.Error(), statusOf(err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// A client that has gone asks again.
		_ = json.NewEncoder(w).Encode(order)
	})
	return mux
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, ErrSoldOut):
		return http.StatusConflict
	case idem.Advise(err) == idem.RetrySameKey:
		return http.StatusServiceUnavailable
	case idem.Advise(err) == idem.UseAnotherKey:
		return http.StatusUnprocessableEntity
	default:
		return http.StatusInternalServerError
	}
}
