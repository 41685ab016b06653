/** Rubbish by kind: what is wrong with it, and the value itself. */

/** Part of values that must not be repeated in refusals. */
export const canary = 'canary-3fd1'

const nested = (open: string, close: string, levels: number, inside = '') =>
  open.repeat(levels) + inside + close.repeat(levels)

/** JSON values, as text, that no field means. */
export const values: Readonly<Record<string, string>> = {
  null: 'null',
  true: 'true',
  zero: '0',
  'minus zero': '-0',
  'minus one': '-1',
  fraction: '1.5',
  'too large for a double': '1e400',
  '2^53 + 1': '9007199254740993',
  'thirty digits': '123456789012345678901234567890',
  'empty text': '""',
  blanks: '"  \\t "',
  'NUL in text': `"${canary}\\u0000"`,
  'lone high surrogate': `"${canary}\\ud800"`,
  'lone low surrogate': `"\\udc00${canary}"`,
  'line break': `"${canary}\\nb"`,
  'text beyond every bound': `"${canary}${'x'.repeat(70_000)}"`,
  'many wide characters': `"${'\\ud83d\\ude00'.repeat(200)}"`,
  'text of SQL': `"${canary}'; drop table accounts; --"`,
  'number as text': '"1"',
  'mask of a secret': '"********"',
  'empty array': '[]',
  'array of everything': `[null, 1, "${canary}", {}, []]`,
  'array beyond every bound': `[${'"",'.repeat(2_000)}""]`,
  'empty object': '{}',
  object: `{"a": {"b": ["${canary}"]}}`,
  'object with __proto__': '{"__proto__": {"admin": true}}',
  'object with constructor': '{"constructor": {"prototype": {"admin": true}}}',
  'a thousand levels': nested('[', ']', 1_000),
}

/** Keys, as JSON text, that no object has. */
export const keys: Readonly<Record<string, string>> = {
  __proto__: '"__proto__"',
  constructor: '"constructor"',
  toString: '"toString"',
  empty: '""',
  NUL: '"\\u0000"',
  'lone surrogate': '"\\ud800"',
  'with dots and slashes': '"a.b/c~d[0]"',
  'of a hundred thousand characters': `"${'k'.repeat(100_000)}"`,
}

/** Whole bodies that are no request of anything. */
export const bodies: Readonly<Record<string, Buffer>> = {
  empty: Buffer.alloc(0),
  blank: Buffer.from(' \n'),
  'cut off': Buffer.from('{"name": "a'),
  'two values': Buffer.from('{} {}'),
  'trailing comma': Buffer.from('{"name": "a",}'),
  'single quotes': Buffer.from(`{'name': 'a'}`),
  'not a number': Buffer.from('{"name": NaN}'),
  'NUL bytes': Buffer.from('{"name": "a\0b"}'),
  'BOM alone': Buffer.from([0xef, 0xbb, 0xbf]),
  'UTF-16': Buffer.from('\ufeff{"name": "a"}', 'utf16le'),
  'invalid UTF-8': Buffer.from([0x22, 0xc3, 0x28, 0xff, 0x22]),
  'surrogate in UTF-8': Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  'overlong UTF-8': Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
  'gzip bytes': Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
  form: Buffer.from('name=a&enabled=true'),
  'deep arrays': Buffer.from(nested('[', ']', 100_000)),
  'deep objects': Buffer.from(nested('{"a":', '}', 100_000, '1')),
  'deep and cut off': Buffer.from('['.repeat(100_000)),
  'many keys': Buffer.from(`{${Array.from({ length: 5_000 }, (_, i) => `"${canary}${i}":1`).join(',')}}`),
  'larger than a body may be': Buffer.from(`{"name": "${'x'.repeat(1_048_576)}"}`),
  ...Object.fromEntries(
    ['null', 'true', '1', '1e400', '"text"', '[]', '[{}]', '{}'].map((text) => [`just ${text}`, Buffer.from(text)]),
  ),
}

/** Values in a query, as they travel. */
export const queryValues: Readonly<Record<string, string>> = {
  empty: '',
  negative: '-1',
  fraction: '1.5',
  'too large for a double': '1e400',
  'thirty digits': '123456789012345678901234567890',
  'a word': canary,
  'another letter case': 'TRUE',
  'percent sign': '%',
  'no percent encoding': '%zz',
  NUL: '%00',
  'invalid UTF-8': '%ff',
  'half a sequence': '%E0%A4',
  'lone surrogate': '%ed%a0%80',
  wildcards: '%25_%5C',
  quotes: `%27%22${canary}`,
  long: canary.repeat(300),
  __proto__: '__proto__',
  'high bytes': '\xe9\xff',
}

/** Names of query parameters, as they travel. */
export const queryNames: Readonly<Record<string, string>> = {
  __proto__: '__proto__',
  constructor: 'constructor',
  NUL: '%00',
  'no percent encoding': '%zz',
  'invalid UTF-8': '%ff',
  empty: '',
  brackets: 'size[a][b]',
}

/** Texts in a path instead of an identifier. */
export const ids: readonly string[] = [
  '%zz',
  '%00',
  '%ff',
  '%',
  '%E0%A4%A',
  '%2e%2e',
  '..%2f..%2fhealthz',
  '\xff\xfe',
  'ABCDEF0123456789',
  '0123456789abcde',
  '0123456789abcdef0',
  '0123456789abcdef%00',
  '0123456789abcdef%0a',
  '__proto__',
  ':id',
  '*',
  `${canary}'`,
  'x'.repeat(150),
  'x'.repeat(5_000),
  '',
]

/** Values of headers. Undefined if the header is omitted. Header values are latin1. */
export const headers: Readonly<Record<string, readonly (string | undefined)[]>> = {
  'content-type': [
    undefined,
    '',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; charset="',
    'application/json, text/plain',
    'APPLICATION/JSON',
    'application/json;',
    '*/*',
    ';',
    '\xff',
  ],
  'content-encoding': ['gzip', 'br', 'identity, gzip', '\xff', ''],
  authorization: [
    undefined,
    '',
    'Bearer',
    `Bearer ${canary}`,
    'Basic YTpi',
    'Bearer a b',
    `Bearer ${canary.repeat(800)}`,
    'Bearer \xff\xfe',
    '\xff',
  ],
  'if-match': ['', '*', ',', '"', `"${canary}"`, 'W/"1"', '\xff', `"${canary.repeat(800)}"`],
  'if-none-match': ['*', '"', '\xff'],
  'idempotency-key': ['', ' ', `${canary}\xff`, 'k'.repeat(255), 'k'.repeat(256), 'k'.repeat(9_000), '"', '__proto__'],
  accept: ['text/html', '\xff', ''],
  host: ['', '\xff', 'a b', 'penstock.test:99999999'],
  'x-forwarded-for': ['rubbish', '\xff'],
  'x-http-method-override': ['DELETE'],
  'accept-encoding': ['gzip', '*;q=0', '\xff'],
  range: ['bytes=0-1'],
  cookie: [canary.repeat(1_000)],
  'x-long': ['x'.repeat(15_000), 'x'.repeat(20_000)],
}
