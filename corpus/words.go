package corpus

// The vocabulary. All of it is invented for this purpose; domains are those
// that RFC 2606 reserves. Changing any list changes every corpus: raise Version.

var subsystems = []string{
	"mm", "net", "sched", "block", "vfs", "ext9", "usbcore", "drm/aurora", "crypto", "kbuild", "docs", "selftests",
	"irqchip", "gpio", "i3c", "spi", "clk", "thermal", "tracing", "perf tools", "bpf", "overlay", "nfsq", "zram",
	"pci/hotplug", "acpi", "efi", "x99", "arm65", "riscw", "virtio-ring", "iommu", "hwmon", "rtc", "watchdog", "media: tuner",
	"staging: widget", "wifi: mesh", "tcp", "udp", "netfilter", "bridge", "audit", "keys", "lsm", "smackd", "fuse", "ceph-lite",
}

var verbs = []string{
	"fix", "add", "remove", "clean up", "simplify", "rework", "document", "export", "convert", "handle", "avoid", "check",
	"drop", "introduce", "use", "rename", "split", "merge", "move", "reduce", "limit", "guard", "replace", "unify",
	"restore", "enable", "disable", "annotate", "validate", "propagate", "cache", "defer", "batch", "retry", "initialise", "zero",
}

var adjectives = []string{
	"stale", "possible", "missing", "unused", "broken", "spurious", "early", "late", "nested", "shared", "private", "racy",
	"redundant", "implicit", "unbounded", "signed", "atomic", "partial", "deferred", "cached", "optional", "legacy", "generic", "remote",
}

var nouns = []string{
	"buffer", "reference", "lock", "page", "queue", "timer", "descriptor", "counter", "inode", "handler", "callback", "register",
	"overflow", "deadlock", "leak", "warning", "helper", "binding", "quirk", "clock", "regulator", "interrupt", "mapping", "bitmap",
	"iterator", "notifier", "workqueue", "mutex", "spinlock", "semaphore", "cursor", "extent", "journal", "snapshot", "quota", "mount",
	"socket", "packet", "header", "checksum", "option", "route", "neighbour", "bond", "tunnel", "filter", "rule", "set",
	"fence", "plane", "connector", "panel", "bridge", "encoder", "firmware", "mailbox", "channel", "endpoint", "request", "tag",
}

var prepositions = []string{"in", "for", "on", "during", "after", "before", "without", "of"}

// shortSubjects are the ones that unrelated threads share.
var shortSubjects = []string{
	"question", "help needed", "build failure", "weekly report", "test results", "hello", "unsubscribe", "status",
	"minutes of the meeting", "documentation", "release plan", "regression", "call for talks", "bug report", "request for comments", "ping",
}

// blobSubjects are subjects that are nothing but a blob: RFC 5256 section 2.1
// (5) removes a leading blob only if something is left.
var blobSubjects = []string{"[ANNOUNCE]", "[no subject]", "[RFC]"}

// intlSubject is a phrase with the charsets other than UTF-8 that can hold it.
type intlSubject struct {
	text     string
	charsets []string
}

var intlSubjects = []intlSubject{
	{"Änderung der Schnittstelle für große Blöcke", []string{"iso-8859-1", "iso-8859-15", "windows-1252"}},
	{"Réponse à la question précédente sur le noyau", []string{"iso-8859-1", "windows-1252"}},
	{"Configuración del tamaño máximo de página", []string{"iso-8859-1", "iso-8859-15"}},
	{"Příliš žluťoučký kůň úpěl ďábelské ódy", []string{"iso-8859-2"}},
	{"Zażółć gęślą jaźń w nagłówku", []string{"iso-8859-2"}},
	{"Проверка драйвера при загрузке системы", []string{"koi8-r", "windows-1251"}},
	{"ошибка при сборке модуля ядра", []string{"koi8-r", "windows-1251"}},
	{"カーネルのメモリ管理について", []string{"iso-2022-jp"}},
	{"ドライバの修正をお願いします", []string{"iso-2022-jp"}},
	{"关于内存分配的问题", []string{"gb2312"}},
	{"测试报告和补丁说明", []string{"gb2312"}},
	{"Ærlig talt: målinger på større køer", []string{"iso-8859-1", "iso-8859-15"}},
	{"Ångström och övriga enheter i räknaren", []string{"iso-8859-1"}},
	{"Ερώτηση για τον χρονοπρογραμματιστή", nil},
	{"שאלה על תיקון במנהל ההתקן", nil},
	{"Coût de la synchronisation, œuvre en cours", []string{"iso-8859-15", "windows-1252"}},
}

var firstNames = []string{
	"Anna", "Bela", "Carlos", "Dagny", "Emil", "Farah", "Goran", "Hanna", "Igor", "Jonas", "Kaisa", "Lorenzo", "Mira", "Nils", "Olga", "Pablo",
	"Quentin", "Rosa", "Stefan", "Tove", "Ulla", "Viktor", "Wanda", "Xenia", "Yusuf", "Zora", "Arjun", "Bianca", "Cedric", "Daria", "Esther", "Felix",
	"Gita", "Hugo", "Ines", "Jana", "Kurt", "Lena", "Marek", "Noor", "Otto", "Petra", "Ravi", "Sonja", "Timo", "Uma", "Vera", "Wim",
}

var lastNames = []string{
	"Almqvist", "Brandt", "Castellan", "Dvorsky", "Eklund", "Farkasova", "Grunewald", "Hartog", "Ivarsson", "Jankovic", "Kowal", "Lindahl", "Moreau", "Novotny",
	"Okafor", "Pettersen", "Quist", "Rasmus", "Sandoval", "Takeda", "Ulrich", "Vasquez", "Winther", "Yilmaz", "Zeller", "Abramov", "Bergstrom", "Costa",
	"Dietrich", "Engel", "Fontaine", "Gallo", "Haugen", "Iyer", "Jensen", "Keller", "Larsen", "Marchetti", "Nakano", "Orlov", "Pereira", "Rossi",
	"Schreiber", "Tanaka", "Urban", "Visser", "Weiss", "Zhang",
}

// intlNames are written as encoded words by those whose programs know how.
var intlNames = []string{"Jürgen Müller", "Søren Kjær", "Łukasz Wójcik", "Zoë Brontë", "Åsa Öberg", "José Núñez", "Иван Петров", "Jiří Dvořák"}

var domains = []string{
	"kernelworks.example", "mail.example", "bits.example.org", "lab.example.edu", "corp.example.com", "devel.example.net", "storage.example.com", "silicon.example",
	"linux.example.org", "post.example", "widgets.example.com", "research.example.org", "arm.example.net", "cloud.example.com", "uni.example.edu", "home.example.net",
	"packets.example", "users.example.org", "team.example.com", "open.example",
}

var lists = []string{
	"linux-widgets", "linux-mm-talk", "netdev-lite", "fs-devel", "patches", "stable-queue", "tools-dev", "arm-ports",
	"crypto-users", "perf-talk", "docs-discuss", "drivers",
}

const listHost = "lists.example.org"

var agents = []string{
	"git-send-email 2.31.1", "Mutt/1.10.1 (2018-07-13)", "Mozilla/5.0 (X11; Linux x86_64; rv:78.0) Gecko/20100101 Thunderbird/78.9.0",
	"KMail/5.9.3", "Evolution 3.38.1", "Alpine 2.20 (LNX 67 2015-01-07)", "quilt/0.66", "Claws Mail 3.17.5", "NeoMutt/20180716", "b4 0.8.0",
}

var proseWords = []string{
	"the", "a", "of", "to", "in", "that", "is", "it", "this", "for", "not", "we", "with", "on", "as", "be", "are", "but", "if", "have",
	"can", "would", "patch", "code", "should", "when", "think", "there", "which", "so", "do", "no", "only", "from", "by", "at", "an", "or", "one", "will",
	"case", "driver", "kernel", "memory", "page", "lock", "device", "function", "call", "caller", "return", "value", "error", "path", "check", "same", "time",
	"problem", "change", "series", "version", "really", "because", "instead", "anyway", "maybe", "probably", "however", "already", "still", "also", "where",
	"allocation", "interrupt", "context", "register", "buffer", "queue", "request", "counter", "reference", "structure", "pointer", "field", "flag", "bit",
	"performance", "regression", "benchmark", "numbers", "machine", "boot", "config", "tree", "branch", "commit", "review", "comment", "below", "above",
}
