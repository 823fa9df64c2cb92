package source
import ("testing";"os";"runtime";"time";"slices";"cmp";"strings";"fmt";"mailbench/index")
func TestZZ(t *testing.T){
 for _,n := range []string{"real-500","real-12k","lkml-headers"} {
 t0:=time.Now()
 s,err:=Open("/work/shared/corpora/"+n+".mbox.zst",Options{TempDir:"/work/tmp/B"})
 if err!=nil{t.Fatal(err)}
 var l index.Listing
 t1:=time.Now()
 if err:=s.List(&l);err!=nil{t.Fatal(err)}
 var ms runtime.MemStats; runtime.ReadMemStats(&ms)
 st,_:=os.ReadFile("/proc/self/status"); 
 for _,x:=range strings.Split(string(st),"\n"){ if strings.HasPrefix(x,"VmHWM")||strings.HasPrefix(x,"Rss"){fmt.Println(x)}}
 fmt.Println(n,len(l.Entries),"open",t1.Sub(t0),"list",time.Since(t1),"heap",ms.HeapAlloc>>20, s.(*Mbox).Problems().Total)
 ids:=make([]int,len(l.Entries)); for i:=range ids{ids[i]=i}
 slices.SortStableFunc(ids,func(a,b int)int{return cmp.Compare(l.Entries[a].VSize,l.Entries[b].VSize)})
 var b strings.Builder; b.WriteString("* SORT"); for _,i:=range ids{fmt.Fprintf(&b," %d",i+1)}
 want,err:=os.ReadFile(map[bool]string{true:"/work/tmp/B/ss",false:"/work/shared/oracle/"+n+"/sort_size.txt"}[n=="lkml-headers"]); if err!=nil {fmt.Println(err)} else {
 fmt.Println("size same:",strings.TrimSpace(string(want))==b.String(), len(want), b.Len()) }
 slices.SortStableFunc(ids,func(a,b int)int{ if c:=cmp.Compare(l.Entries[a].MTime,l.Entries[b].MTime);c!=0{return c}; return a-b})
 b.Reset(); b.WriteString("* SORT"); for _,i:=range ids{fmt.Fprintf(&b," %d",i+1)}
 want,err=os.ReadFile(map[bool]string{true:"/work/tmp/B/sa",false:"/work/shared/oracle/"+n+"/sort_arrival.txt"}[n=="lkml-headers"]); if err==nil {
 fmt.Println("arrival same:",strings.TrimSpace(string(want))==b.String()) }
 dup:=map[string]int{}; for _,e:=range l.Entries{dup[e.Key]++}; fmt.Println("distinct keys",len(dup))
 d2:=0; for _,e:=range l.Entries{ if !strings.HasSuffix(e.Key,".1"){d2++}}; fmt.Println("dups",d2)
 s.Close()
 }}
