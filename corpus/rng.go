package corpus

import "math/bits"

// rng is SplitMix64 (Steele, Lea, Flood 2014): four lines that no release of
// Go can change. Everything drawn from it uses integers only, because fused
// multiply-add makes floating point differ between machines.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}

// mix is the finalizer of SplitMix64: a bijection on 64 bits.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// mix2 hashes two numbers into one.
func mix2(a, b uint64) uint64 { return mix(mix(a+0x9e3779b97f4a7c15) ^ b*0xd6e8feb86659fd93) }

// intn returns a number in [0, n).
func (r *rng) intn(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// between returns a number in [lo, hi].
func (r *rng) between(lo, hi int) int { return lo + r.intn(hi-lo+1) }

// ppm is true p times in a million.
func (r *rng) ppm(p int) bool { return r.intn(1_000_000) < p }

// skewed returns a number in [0, n) with density falling from 0: the cube of
// a uniform number, which is close to who writes how much on a list.
func (r *rng) skewed(n int) int {
	u := r.next() >> 43 // 21 bits
	return int((u * u >> 21 * u >> 21) * uint64(n) >> 21)
}

// A point of a quantile curve: a share of p millionths is at most v.
type point struct{ p, v int }

// draw returns a value whose quantiles are those of the curve, linear between
// its points. The curve starts at p=0 and ends at p=1,000,000.
func (r *rng) draw(curve []point) int {
	u := r.intn(1_000_000)
	i := 1
	for curve[i].p <= u {
		i++
	}
	a, b := curve[i-1], curve[i]
	return a.v + (b.v-a.v)*(u-a.p)/(b.p-a.p)
}

// pick returns an index of weights with a chance in proportion to its weight.
func (r *rng) pick(weights []int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	u := r.intn(total)
	for i, w := range weights {
		if u -= w; u < 0 {
			return i
		}
	}
	return len(weights) - 1
}
