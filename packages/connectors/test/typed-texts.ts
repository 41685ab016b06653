import assert from 'node:assert/strict'
import type { Cell, Row } from '@penstock/connector'

/** Values that databases interpret, evaluate, round or cut. A column stores the same value of each, or rejects it. */

/** Values of files and of other databases, each of which goes to a column of each type. */
export const texts: readonly Cell[] = [
  ...[
    '1/2/26',
    '03/04/2026',
    '31.02.1989',
    '2026-02-30',
    '2026-02-28',
    '26-01-31',
    '20260131',
    '2026-1-5',
    'Jan 5 2026',
  ],
  ...['now', 'today', 'tomorrow', 'yesterday', 'epoch', 'infinity', '-infinity', 'allballs', 'now()', 'CURRENT_DATE'],
  ...['2026-01-31 10:00', '2026-01-31T10:00:00Z', '2026-01-31T10:00:00+02:00', '2026-01-31 10:00:00 Europe/Berlin'],
  ...[
    '2026-01-31T10:00:00.1234567Z',
    '2026-01-31 10:00:00.123',
    '2026-01-31 24:00:00',
    '2026-01-31 23:59:60',
    '2026-01-31T00:00:00Z',
  ],
  ...['true', 'f', 'y', 'yes', 'on', 'off', 'tr', '2', '1', '0', ' true'],
  ...[
    '1e400',
    ' 12 ',
    '0x1F',
    '0b11',
    '1_000',
    '1,5',
    '1,234.5',
    'NaN',
    'nan',
    'inf',
    '1.0',
    '1.5',
    '-0',
    '007',
    '1e3',
    '1.005',
    '2.50',
    '.5',
  ],
  ...[
    '99999',
    '40000',
    '3000000000',
    '9223372036854775808',
    '12345678.9',
    '0.1',
    '0.12345678901234567890',
    '16777217',
    '9007199254740993',
  ],
  ...[
    '$1.10',
    '€5',
    '(1)',
    '12:30',
    '12:30:15.1234567',
    '24:00',
    '12:30:60',
    '10 PM',
    '1:30',
    '1 2',
    '1.5 months',
    '@ 1 day',
    '1 day',
    'P1D',
  ],
  ...['abcd', 'abc ', 'ab ', 'abc', 'äöü', '\\x0g', '\\101', '\\x41', "B'101'", 'X1F', '101'],
  ...[
    '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}',
    'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
    'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11',
  ],
  ...[
    '10.1',
    '10.0.0.1',
    '10.0.0.1/8',
    '::1',
    '{"a":1,"a":2}',
    '{"a":1}',
    '[1, 2]',
    '{1/2/26}',
    '["1/2/26"]',
    '[1.5]',
    '[2026-01-01,now)',
  ],
  ...['happy', 'HAPPY', ''],
  ...[true, false, 1.5, 20260131, 1e21, -0, 3, 0.1, 40000],
]

const instantOf = (text: string): string | undefined => {
  const found = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:\.(\d+))?)?( ?(?:[Zz]|[+-]\d\d(?::?\d\d)?))?$/.exec(
    text,
  )
  if (!found) return undefined
  const [, day, minutes = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = found
  const at = Date.parse(`${day}T${minutes}${seconds}${zone.trim().replace(/^([+-]\d\d)$/, '$1:00')}`)
  // `Date` continues a month that has fewer days.
  if (Number.isNaN(at) || new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) !== day) return undefined
  return `${new Date(at).toISOString().slice(0, 19)}.${fraction.replace(/0+$/, '')}`
}

const numberOf = (text: string): string | undefined => {
  const found = /^\s*([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,3}))?\s*$/i.exec(text.replace(/^(-?)\$/, '$1'))
  if (!found || `${found[2]}${found[3]}` === '') return undefined
  const [, sign, whole = '', part = '', exponent = '0'] = found
  const digits = `${whole}${part}`.replace(/^0+/, '')
  const short = digits.replace(/0+$/, '')
  if (short === '') return '0'
  return `${sign === '-' ? '-' : ''}${short}e${Number(exponent) - part.length + digits.length - short.length}`
}

const timeOf = (text: string): string | undefined => {
  const [, hour = '', minute, second = '00', fraction = ''] =
    /^(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$/.exec(text) ?? []
  return minute && `${hour.padStart(2, '0')}:${minute}:${second}.${fraction.replace(/0+$/, '')}`
}

/** The forms in which two texts can be the same value. */
function formsOf(cell: Cell, type: string): readonly (string | undefined)[] {
  const text = Object.is(cell, -0) ? '-0' : String(cell)
  const truths: Readonly<Record<string, string>> = { t: 'true', '1': 'true', f: 'false', '0': 'false' }
  if (/bool/.test(type)) return [truths[text.toLowerCase()] ?? text.toLowerCase()]
  if (/^(date|time|datetime)/.test(type) && /-/.test(text))
    return [instantOf(text), /^-?infinity$/.test(text) ? text : undefined]
  if (/^time/.test(type)) return [timeOf(text), text]
  if (/^interval/.test(type)) return [{ P1D: '1 day', '0': '00:00:00' }[text] ?? text]
  if (type === 'money') return [numberOf(text.replaceAll(',', ''))]
  // A zero with a sign is written with or without it.
  if (/^(char|bpchar)/.test(type)) return [text, String(cell)].map((form) => form.replace(/ +$/, ''))
  if (/uuid/.test(type)) return [text.toLowerCase()]
  if (/json/.test(type)) {
    try {
      return [JSON.stringify(JSON.parse(text))]
    } catch {
      return [text]
    }
  }
  if (/^inet|^cidr/.test(type)) return [text.replace(/\/(32|128)$/, '')]
  if (/\[\]|range/.test(type)) return [text.replace(/[{}[\]" ]/g, '')]
  if (/bytea|blob|binary/.test(type)) {
    // Columns of MySQL accept Base64 as well.
    const bytes = Buffer.from(text, type === 'bytea' ? 'utf8' : 'base64')
    return [/^\\x[0-9a-f]*$/i.test(text) ? text : `\\x${bytes.toString('hex')}`]
  }
  return [numberOf(text), text]
}

/** Whether what a column shows is the value that was sent. */
export function isSame(sent: Cell, stored: string, type: string): boolean {
  // MySQL has no booleans: they are the numbers 1 and 0, and a column for them takes their words too.
  if (type === 'tinyint(1)' && (sent === 'true' || sent === 'false')) return stored === (sent === 'true' ? '1' : '0')
  if (typeof sent === 'boolean' && /int|^(decimal|float|double|bit)\b/.test(type))
    return numberOf(stored) === numberOf(String(Number(sent)))
  const forms = formsOf(stored, type).filter((form) => form !== undefined)
  return formsOf(sent, type).some((form) => form !== undefined && forms.includes(form))
}

export const rows: readonly Row[] = texts.map((cell, id) => [id, cell])

/** Asserts that each value was stored as it was sent, or rejected, which both the transfer and its preview did. */
export function assertExact(
  type: string,
  stored: ReadonlyMap<number, string | null>,
  rejected: ReadonlySet<number>,
  tried: ReadonlySet<number>,
): void {
  assert.deepEqual([...tried].sort(), [...rejected].sort(), `a preview of ${type} rejects what a transfer rejects`)
  for (const [id, sent] of texts.entries()) {
    if (rejected.has(id)) {
      assert.ok(!stored.has(id))
      continue
    }
    assert.ok(stored.has(id), `${JSON.stringify(sent)} as ${type} is stored or rejected`)
    const value = stored.get(id) ?? null
    if (value === null) assert.equal(sent, '', `${JSON.stringify(sent)} as ${type} became nothing`)
    else assert.ok(isSame(sent, value, type), `${JSON.stringify(sent)} as ${type} became ${JSON.stringify(value)}`)
  }
}
