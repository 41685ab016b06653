/** Names as callers can send them, and the name that a module must store (`docs/api-decisions.md`, section 1). */

export const goodNames: readonly { sent: string; kept: string; why: string }[] = [
  { sent: 'x', kept: 'x', why: 'one character' },
  { sent: '  spaced out  ', kept: 'spaced out', why: 'trimmed' },
  { sent: '\u00a0\u2003em\u3000', kept: 'em', why: 'trimmed of any white space' },
  { sent: 'a  b', kept: 'a  b', why: 'inside as it is' },
  { sent: 'n'.repeat(200), kept: 'n'.repeat(200), why: 'as long as can be' },
  { sent: ` ${'n'.repeat(200)} `, kept: 'n'.repeat(200), why: 'as long as can be once trimmed' },
  { sent: '€'.repeat(200), kept: '€'.repeat(200), why: '200 characters of three bytes' },
  { sent: '😀'.repeat(200), kept: '😀'.repeat(200), why: '200 characters of two code units' },
  { sent: '<b>"Müller" & Söhne\\</b>', kept: '<b>"Müller" & Söhne\\</b>', why: 'nothing is markup' },
  { sent: "'; drop table accounts --", kept: "'; drop table accounts --", why: 'nothing is SQL' },
]

export const badNames: readonly { sent: unknown; why: string }[] = [
  { sent: '', why: 'empty' },
  { sent: ' \u00a0\t', why: 'blank' },
  { sent: 'n'.repeat(201), why: 'too long' },
  { sent: '😀'.repeat(201), why: 'too long in characters' },
  { sent: 'a\u0000b', why: 'NUL' },
  { sent: 'a\nb', why: 'a line break inside' },
  { sent: 'a\u007fb', why: 'a control character' },
  { sent: 'a\u0085b', why: 'a control character of another block' },
  { sent: 'a\ud800b', why: 'half of a surrogate pair' },
  { sent: 7, why: 'a number' },
  { sent: null, why: 'null' },
  { sent: ['x'], why: 'a list' },
  { sent: { name: 'x' }, why: 'an object' },
]

/**
 * Names for the filter q, with the expected results of each text: it matches a part of the name in any letter case, and nothing
 * else.
 */
export const filteredNames = ['100% sure', '100 percent', 'snake_case', 'snakeXcase', 'back\\slash', 'ÄPFEL', 'Straße']
export const filters: readonly { q: string; finds: readonly string[] }[] = [
  { q: '100', finds: ['100 percent', '100% sure'] },
  { q: '100%', finds: ['100% sure'] },
  { q: '%', finds: ['100% sure'] },
  { q: '_', finds: ['snake_case'] },
  { q: 'E_C', finds: ['snake_case'] },
  { q: '\\', finds: ['back\\slash'] },
  { q: 'K\\S', finds: ['back\\slash'] },
  { q: 'SNAKE', finds: ['snakeXcase', 'snake_case'] },
  { q: 'äpfel', finds: ['ÄPFEL'] },
  { q: 'STRASSE', finds: [] },
  { q: ' ', finds: ['100 percent', '100% sure'] },
  { q: 'nobody', finds: [] },
  { q: '', finds: filteredNames.toSorted() },
]
