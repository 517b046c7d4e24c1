package pool

import goruntime "runtime"

// Lists may be a hundred thousand lines long and come anew while clients are
// served. Nothing that is done for each line of one may therefore hold up others
// for long: not the processor, nor by large pieces of memory, which nothing can
// interrupt while they are moved.

// breathe lets others go first now and then, in a loop over the whole of a list:
// a time slice of the scheduler is ten milliseconds. i counts the rounds.
func breathe(i int) {
	if i%64 == 63 {
		goruntime.Gosched()
	}
}

// pieces are the specs of a list while it grows. The zero value is empty.
type pieces struct {
	all   [][]Spec // each but the last is full
	count int
}

// pieceSize is how many specs a piece holds: 112 KiB.
const pieceSize = 512

func (p *pieces) add(specs ...Spec) {
	for i := range specs {
		if p.count%pieceSize == 0 {
			p.all = append(p.all, make([]Spec, 0, pieceSize))
		}
		last := &p.all[len(p.all)-1]
		*last = append(*last, specs[i])
		p.count++
	}
}

// join returns all specs in one slice, and leaves nothing.
func (p *pieces) join() []Spec {
	all := make([]Spec, 0, p.count)
	for i, piece := range p.all {
		all = append(all, piece...)
		p.all[i] = nil
		goruntime.Gosched()
	}
	*p = pieces{}
	return all
}
