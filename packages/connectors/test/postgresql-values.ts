import fc from '../../../test/harness/property.ts'

/** Texts of values of the types of PostgreSQL, for tests. They need the type `crm.mood`, and the domain `crm.code`. */

export const madeTypes = `create type crm.mood as enum ('', 'happy', 'so so'); create domain crm.code as bytea`

const digits = (max: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: max })
export const word = fc
  .string({ unit: 'binary', maxLength: 12 })
  .filter((text) => !text.includes('\0') && text.isWellFormed())
const numeric = fc.oneof(
  fc.tuple(fc.constantFrom('', '-'), digits(30), digits(12)).map(([sign, whole, part]) => `${sign}${whole}.${part}`),
  fc.constantFrom('0.00', '-0.10', '1.10', 'NaN', 'Infinity', '-Infinity', '123456789012345678901234567890'),
)
const bigint = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String)
const double = fc.oneof(
  fc.double().map((value) => (Object.is(value, -0) ? '-0' : String(value))),
  fc.constantFrom('-0'),
)
const day = fc.oneof(
  fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((at) => at.toISOString().slice(0, 10)),
  fc.constantFrom('infinity', '-infinity', '0044-03-15 BC', '12026-01-31', '4713-01-01 BC'),
)
const timestamp = fc.oneof(
  fc
    .tuple(
      day.filter((text) => /^\d{4}-/.test(text) && !text.includes('BC')),
      fc.nat(86_399),
      fc.nat(999_999),
    )
    .map(([date, second, micro]) => {
      const time = new Date(second * 1000).toISOString().slice(11, 19)
      return `${date} ${time}.${String(micro).padStart(6, '0')}`
    }),
  fc.constantFrom('infinity', '-infinity', '0044-03-15 12:00:00 BC', '12026-01-31 00:00:00'),
)
const hexadecimal = fc.uint8Array({ maxLength: 20 }).map((bytes) => `\\x${Buffer.from(bytes).toString('hex')}`)
const bits = fc.string({ unit: fc.constantFrom('0', '1'), maxLength: 20 })

/** Texts of values, as PostgreSQL reads them, by type; without arrays. */
export const scalarTexts: Readonly<Record<string, fc.Arbitrary<string>>> = {
  bigint,
  integer: fc.integer().map(String),
  smallint: fc.integer({ min: -32_768, max: 32_767 }).map(String),
  oid: fc.nat().map(String),
  numeric,
  'numeric(30, 4)': fc.tuple(digits(20), digits(4)).map((parts) => parts.join('.')),
  'double precision': double,
  real: fc.float().map((value) => (Object.is(value, -0) ? '-0' : String(value))),
  boolean: fc.constantFrom('true', 'false'),
  text: word,
  'character varying(20)': word.filter((text) => [...text].length <= 20),
  '"char"': fc.constantFrom('', 'a', '~', '\\351'),
  name: word,
  bytea: hexadecimal,
  'crm.code': hexadecimal,
  'bit varying': bits,
  'bit(3)': fc.constantFrom('000', '101'),
  'crm.mood': fc.constantFrom('', 'happy', 'so so'),
  tsvector: fc.constantFrom('', "'a':1A 'b':2"),
  date: day,
  timestamp: timestamp,
  timestamptz: timestamp,
  time: fc.constantFrom('00:00:00', '24:00:00', '12:34:56.000001'),
  timetz: fc.constantFrom('12:00:00+05:30', '00:00:00-12'),
  interval: fc.constantFrom('1 day 2 hours', '-1 day +02:03:00', '-3 mons 2 days -00:00:00.5', '0'),
  uuid: fc.uuid(),
  json: fc.json().filter((text) => !text.includes('\\u0000')),
  jsonb: fc.json().filter((text) => !/\\u(0000|[dD])/.test(text)),
  inet: fc.ipV4(),
  int4range: fc.constantFrom('empty', '[1,5)', '(,)', '[3,)'),
  point: fc.constantFrom('(1.5,-2)', '(0.1,1e+300)'),
  money: fc.constantFrom('$1.10', '-$92,233,720,368,547,758.08'),
}

/** Arrays of some of them, also of two dimensions and with other indexes. */
const arrays = ['bigint', 'numeric', 'double precision', 'boolean', 'text', 'bytea', 'date', 'timestamp', 'timestamptz']
const elements = ['uuid', 'interval', 'jsonb', 'json', 'crm.mood', 'bit varying', 'int4range', '"char"']

const literal = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
const arrayOf = (element: fc.Arbitrary<string>): fc.Arbitrary<string> => {
  const one = fc.option(element.map(literal), { nil: 'NULL' })
  return fc.oneof(
    fc.array(one, { maxLength: 5 }).map((parts) => `{${parts.join(',')}}`),
    fc
      .array(fc.tuple(one, one), { minLength: 1, maxLength: 3 })
      .map((rows) => `{${rows.map((row) => `{${row.join(',')}}`).join(',')}}`),
    fc.tuple(one, one).map((row) => `[2:3]={${row.join(',')}}`),
  )
}

export const valueTexts: Readonly<Record<string, fc.Arbitrary<string>>> = {
  ...scalarTexts,
  ...Object.fromEntries([...arrays, ...elements].map((type) => [`${type}[]`, arrayOf(scalarTexts[type] ?? word)])),
}
