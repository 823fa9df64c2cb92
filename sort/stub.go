package sort

func BaseSubject(dst, raw []byte) (base []byte, reply bool) { return RFC.BaseSubject(dst, raw) }
func (c Compat) BaseSubject(dst, raw []byte) (base []byte, reply bool) {
	return append(dst, raw...), false
}
func Casemap(dst, s []byte) []byte                 { return RFC.Casemap(dst, s) }
func (c Compat) Casemap(dst, s []byte) []byte      { return append(dst, s...) }
func AddressKey(dst, raw []byte) []byte            { return dst }
func DisplayKey(dst, raw []byte) []byte            { return dst }
func (c Compat) AddressKey(dst, raw []byte) []byte { return dst }
func (c Compat) DisplayKey(dst, raw []byte) []byte { return dst }
func SentDate(dateRaw []byte, internal int64) (unix int64, fromHeader bool) {
	return internal, false
}

// An Arena holds n strings: string i is Data[Off[i]:Off[i+1]], Off has n+1 entries.
type Arena struct {
	Data []byte
	Off  []uint32
}

// Scratch is working memory kept between calls; the zero value is ready.
type Scratch struct{}

func Ranks(dst []uint32, a *Arena, sc *Scratch) []uint32 { return dst }

func Order(dst []int32, n int, rows []int32, crit []Criterion, col func(Key) []uint64, sc *Scratch) []int32 {
	return dst
}

func AppendIMAP(dst []byte, uids []uint32) []byte { return dst }
