package rfc5322

import "testing"

func TestDecodeWords(t *testing.T) {
	const same = "\x00same"
	for _, c := range []struct{ in, rfc, dovecot string }{
		{"plain", "plain", same},
		{" \t trimmed \r\n", "trimmed", same},
		{"a fold\r\n\t here", "a fold\t here", same},
		{"a = b ? c", "a = b ? c", same},
		{"=?utf-8?q?caf=C3=A9?=", "caf\u00e9", same},
		{"=?UTF-8?B?Y2Fmw6k=?= x", "caf\u00e9 x", same},
		{"see =?utf-8?q?caf=C3=A9?= now", "see caf\u00e9 now", same},
		{"=?utf-8?q?a?= =?utf-8?q?b?=", "ab", same},
		{"=?utf-8?q?a?=\r\n =?utf-8?q?b?=", "ab", same},
		{"=?utf-8?q?a_?= =?utf-8?q?_b?=", "a  b", same},
		{"=?utf-8?q?a?= x =?utf-8?q?b?=", "a x b", same},
		{"=?utf-8?q?a?==?utf-8?q?b?=", "ab", same},
		{"=?utf-8?q?a b?=", "a b", same},
		{"=?utf-8?q??= b", " b", same},
		{"=?iso-8859-1?q?caf=E9_=80?=", "caf\u00e9 \u0080", same},
		{"=?windows-1252?q?=80?=", "\u20ac", same},
		{"=?koi8-r?b?8NLJ18XU?=", "\u041f\u0440\u0438\u0432\u0435\u0442", same},
		{"=?gb2312?B?xOO6ww==?=", "\u4f60\u597d", same},
		{"=?euc-kr?B?vsiz5w==?=", "\uc548\ub155", same},
		{"=?shift_jis?b?gqA=?=", "\u3042", same},
		{"=?big5?b?p0E=?=", "\u4f60", same},
		{"=?ISO-2022-JP?B?GyRCRUU7UhsoQg==?= =?ISO-2022-JP?B?GyRCJWEhPCVrGyhC?=", "\u96fb\u5b50\u30e1\u30fc\u30eb", same},
		{"=?ISO-2022-JP?B?GyRCRUU=?= =?ISO-2022-JP?B?O1I=?=", "\u96fb;R", same},
		{"=?utf-8*en?q?caf=C3=A9?=", "caf\u00e9", same}, // RFC 2231 section 5
		{"=??q?abc?=", "abc", same},

		// What is broken inside a word.
		{"=?utf-8?q?a=?=", "a=", same},
		{"=?utf-8?q?a=4?=", "a=4", same},
		{"=?utf-8?q?a=zz_b?=", "a=zz b", same},
		{"=?utf-8?b?YQ?=", "a", same},
		{"=?utf-8?b?YW Jj?=", "abc", same},
		{"=?utf-8?b?YW!Jj?=", "a", same},
		{"=?utf-8?b?YQ==YQ==?=", "a", same},
		{"=?utf-8?q?=ED=A0=80x?=", "\ufffdx", same},
		{"=?us-ascii?q?a=E9b?=", "a\ufffdb", same},

		// What is no word.
		{"=?utf-8?q?a", "=?utf-8?q?a", same},
		{"=?utf-8?q?a?b?=", "=?utf-8?q?a?b?=", same},
		{"=?utf-8?x?a?=", "=?utf-8?x?a?=", same},
		{"=?utf-8?q?=3D=3Futf-8=3Fq=3Fx=3F=3D?=", "=?utf-8?q?x?=", same},
		{"=?", "=?", same},

		// An unknown charset: as much as can be read.
		{"=?x-unknown?q?abc=E9?=", "abc\ufffd", same},
		{"=?unknown-8bit?q?caf=C3=A9?=", "caf\u00e9", same},

		// Raw bytes.
		{"caf\xc3\xa9", "caf\u00e9", same},
		{"caf\xe9 bar", "caf\ufffd bar", same},
		{"\xff\xfe", "\ufffd", same},
		{"=?utf-8?q?x?= \xe9", "x \ufffd", same},
		{"a\x00b", "a\x00b", "a\ufffdb"},

		// Where Dovecot differs from RFC 2047.
		{"x=?utf-8?q?a?=", "x=?utf-8?q?a?=", "xa"},
		{"=?utf-8?q?a?=x", "=?utf-8?q?a?=x", "ax"},
		{"(=?utf-8?q?a?=)", "(=?utf-8?q?a?=)", "(a)"},
		{"=?utf-8?q?=C3?= =?utf-8?q?=A9?=", "\u00e9", "\ufffd"},
		{"=?gb2312?B?xA==?= =?gb2312?B?47rD?=", "\u4f60\u597d", ""}, // iconv drops half characters
		{"=?utf-8?q?a?= =?bad", "a =?bad", "a=?bad"},
	} {
		if c.dovecot == same {
			c.dovecot = c.rfc
		}
		if got := string(DecodeWords(nil, []byte(c.in))); got != c.rfc {
			t.Errorf("%q: %q, want %q", c.in, got, c.rfc)
		}
		if c.dovecot == "" {
			continue
		}
		if got := string(DecodeWordsCompat([]byte("dst"), []byte(c.in), Dovecot)); got != "dst"+c.dovecot {
			t.Errorf("%q: as Dovecot %q, want %q", c.in, got, c.dovecot)
		}
	}
}
