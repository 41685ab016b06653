/** Texts that cost more than their length where a parser, a pattern or a transformation is careless. */

const repeated = (part: string) => (length: number) => part.repeat(Math.ceil(length / part.length)).slice(0, length)
const between = (begin: string, part: string, end: string) => (length: number) =>
  begin + repeated(part)(Math.max(0, length - begin.length - end.length)) + end
const numbered =
  (write: (n: string) => string, begin = '', end = '') =>
  (length: number) => {
    let text = begin
    for (let n = 0; text.length + end.length + 12 < length; n++) text += write(n.toString(36))
    return text + end
  }
const nested = (open: string, close: string) => (length: number) =>
  open.repeat(Math.floor(length / (open.length + close.length))) +
  close.repeat(Math.floor(length / (open.length + close.length)))

/** A text of each kind, of at most a number of UTF-16 units. */
export const hostileTexts: Readonly<Record<string, (length: number) => string>> = {
  'letters without an end that fits': between('', 'a', '!'),
  'marks out of order': between('a', '\u0315\u0300', ''),
  'marks of letters and half-width signs': between('a', '\uff9e\u0301', ''),
  'vowels that join': repeated('\u{16d67}\u{16d68}'),
  'sigmas behind marks': repeated("Σ'\u0301"),
  'joined by U+200D': repeated('👩\u200d'),
  'right to left': repeated('\u202e\u2067א'),
  'capital I with a dot': repeated('İ'),
  spaces: between('a', ' ', '!'),
  'tabs and spaces': between('', '\t ', 'a'),
  'line breaks': repeated('\n'),
  'line breaks and spaces': repeated(' \n'),
  digits: repeated('9'),
  'digits and an end that does not fit': between('1', '0', 'x'),
  exponent: between('1e', '9', ''),
  commas: repeated(','),
  'commas and spaces': between('a', ' ,', 'b'),
  quotes: repeated('"'),
  'escaped quotes': repeated('\\"'),
  apostrophes: repeated("'"),
  brackets: repeated('('),
  'nested lists': nested('[', ']'),
  'nested objects': nested('{"a":', '}'),
  'lists in a row': repeated('[]'),
  'many keys': numbered((n) => `${n}: 1\n`),
  'many keys of JSON': numbered((n) => `"${n}":1,`, '{', '"":1}'),
  'many fields of a mapping': numbered((n) => `"${n}":"a",`, '{', '"":"a"}'),
  'one key again and again': between('{', '"a":1,', '"a":1}'),
  'anchors and aliases': numbered((n) => `a${n}: &a${n} [*a${n}, *a${n}]\n`),
  'items of YAML': repeated('- '),
  'items in lines': repeated('-\n'),
  'blank lines and a list': between('', '\n', '- a'),
  tags: repeated('!!a '),
  'braces of a template': repeated('{{'),
  templates: repeated('{{ a }}'),
  points: repeated('a.'),
  slashes: repeated('/'),
  'per cent signs': between('https://a.example/', '%', ''),
  'address of many labels': between('https://', 'a.', 'example'),
  'address without a host': between('https://', ':@', ''),
  'e-mail address': between('', 'a.', '@example.com'),
  'at signs': repeated('@'),
  'e-mail address of hyphens': between('a@', 'a-', '.'),
  'plus signs': between('', '+', 'a'),
  'telephone number': between('+', '1 ', 'x'),
  'fields of cron': repeated('0-59/1,'),
  'stars and spaces': repeated('* '),
  'sum of an expression': between('1', '+1', ''),
  'signs of an expression': repeated('!-'),
  'choices of an expression': between('', 'a?b:', 'c'),
  'entities of XML': between('', '<!ENTITY a "&a;&a;">', '<a>&a;'),
  'open tags': repeated('<a '),
  'comparisons of SCIM': between('userName eq "a"', ' and userName eq "a"', ''),
  'words of a search': repeated('a% _\\'),
  base64: between('data:image/png;base64,', 'A', '!'),
  'signs for JWT': repeated('e30.'),
  NUL: repeated('\0'),
  'unpaired surrogates': repeated('\ud800'),
  'surrogates in the wrong order': repeated('\udc00\ud800'),
}
