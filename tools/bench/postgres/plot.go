package main

import (
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// plot draws first executions a second by callers.
func (r *results) plot(file string) error {
	p := plot.New()
	p.Title.Text = "First executions a second (claim and completion, 450 bytes)"
	p.X.Label.Text = "concurrent callers"
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks(r.ticks())
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	for i, name := range r.firstOrder {
		points := make(plotter.XYs, len(r.crowds))
		for j, callers := range r.crowds {
			points[j] = plotter.XY{X: float64(callers), Y: r.first[name][callers].rate}
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, dots.Color = plotutil.Color(i), plotutil.Color(i)
		line.Width = vg.Points(1.5)
		dots.Shape = plotutil.Shape(i)
		p.Add(line, dots)
		p.Legend.Add(name, line, dots)
	}
	return p.Save(16*vg.Centimeter, 9*vg.Centimeter, file)
}

func (r *results) ticks() []plot.Tick {
	var all []plot.Tick
	for _, callers := range r.crowds {
		all = append(all, plot.Tick{Value: float64(callers), Label: strconv.Itoa(callers)})
	}
	return all
}
