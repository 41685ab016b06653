import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { readLocalNumber, readLocalTime } from '@penstock/expressions/local'
import * as typed from '../packages/connectors/src/databases/typed-values.ts'
import { rowErrorOf } from '../packages/connectors/src/mysql/errors.ts'
import { doubtFor } from '../packages/connectors/src/mysql/exact-values.ts'
import type { MysqlColumn } from '../packages/connectors/src/mysql/table.ts'
import { reasonOf } from '../packages/connectors/src/postgresql/errors.ts'
import { problemFor } from '../packages/connectors/src/postgresql/exact-values.ts'
import { faultOf, keyOfFault } from '../packages/console/src/screens/transfer/rejects/fault.ts'

/**
 * The reasons for which the mapping, the types of columns and destinations reject a value. One fault for a person is one
 * group in the console, whatever found it and whichever form it expects.
 */

const field = 'total'
const sources = join(import.meta.dirname, '../packages')

const typedReason = (read: typed.ReadCell, cell: Cell): string => {
  const found = read(cell)
  return 'reason' in found ? found.reason : assert.fail(`${cell} is valid`)
}
const exact = (oid: number, fullType: string, text: string): string =>
  problemFor(oid, { name: field, fullType })?.(text) ?? assert.fail(`${text} is valid`)
const doubt = (type: string, text: string): string =>
  doubtFor({ name: field, type, precision: 0 } as MysqlColumn)(text) ?? assert.fail(`${text} is valid`)
const refused = (errno: number): string =>
  rowErrorOf({ errno, sqlState: '', message: `Incorrect value for column '${field}' at row 1` }, [{ name: field }])
    ?.reason ?? assert.fail(`${errno} is no reason`)
/** A message of the mapping, which follows the name of the field. */
const mapped = (read: { readonly wrong?: string }): string => `${field} ${read.wrong ?? assert.fail('it is valid')}`

const { readDay, readTime, readDecimal, readFloat, readWholeNumber, readTruth, readJsonText, readText } = typed
/** Reasons by fault. A column of one type rejects all values of one fault. */
const faults: Readonly<Record<string, readonly string[]>> = {
  'is no date': [
    mapped(readLocalTime('31.02.1989', { dates: 'DMY' }, false) as { wrong: string }),
    typedReason(readDay(), '1989-02-31'),
    exact(1082, 'date', '1989-02-31'),
    exact(1082, 'date', 'soon'),
    reasonOf('22007', { field }),
    reasonOf('22008'),
    doubt('date', 'soon'),
    refused(1292),
    refused(1411),
    '"31.02.1989" is not a valid date.',
    '"soon" is not a valid date. Expected the form YYYY-MM-DD.',
    `${field} is not a date, or is ambiguous: write it as YYYY-MM-DD`,
  ],
  'is no time': [
    mapped(readLocalTime('31.02.1989 10:00', { dates: 'DMY' }, false) as { wrong: string }),
    mapped(readLocalTime('28.02.1989 25:00', { dates: 'DMY' }, false) as { wrong: string }),
    typedReason(readTime(6), 'soon'),
    ...[1114, 1184].map((oid) => exact(oid, 'timestamp', 'soon')),
    exact(1114, 'timestamp', '1989-02-31 10:00:00'),
    exact(1184, 'timestamptz', '1989-02-31 10:00:00+01'),
    reasonOf('22007', { field }),
    doubt('datetime', 'soon'),
    refused(1292),
    `${field} has no value: row["Total"] is not a time in ISO 8601: write time(…), at character 6`,
    'The value must be a time such as 2026-01-31T12:00:00Z.',
  ],
  'is no number': [
    mapped(readLocalNumber('k.A.', 'comma') as { wrong: string }),
    ...[readFloat, readDecimal(10, 2), readWholeNumber(0n, 9n)].map((read) => typedReason(read, 'none')),
    ...[[23, 'integer'] as const, [1700, 'numeric(12,2)'] as const, [701, 'float8'] as const].map(([oid, type]) =>
      exact(oid, type, 'none'),
    ),
    reasonOf('22P02', { field }),
    refused(1366),
    `${field} has no value: row["Total"] is not a number with a decimal comma, at character 1`,
    'The value must be a number with a point: 12.50.',
    'The value must be a whole number.',
    '"k.A." is not a number.',
  ],
  'is too large': [
    typedReason(readWholeNumber(0n, 9n), '10'),
    exact(1700, 'numeric(4,2)', '100'),
    exact(21, 'smallint', '99999'),
    reasonOf('22003', { field }),
    refused(1264),
    refused(1690),
    'The number is too large.',
  ],
  'has too many decimal places': [
    typedReason(readDecimal(10, 2), '1.234'),
    typedReason(readWholeNumber(0n, 9n), '1.5'),
    exact(1700, 'numeric(12,2)', '1.234'),
    doubt('int', '1.5'),
  ],
  'is neither true nor false': [
    typedReason(readTruth, 'maybe'),
    exact(16, 'boolean', 'maybe'),
    reasonOf('22P02', { field }),
  ],
  'is no JSON': [typedReason(readJsonText, '{'), reasonOf('22032', { field }), refused(3140), 'The value is not JSON.'],
  'is too long': [
    typedReason(readText(2), 'long'),
    exact(1043, 'varchar(2)', 'long'),
    reasonOf('22001', { field }),
    refused(1406),
    'The value has more than 40 characters.',
  ],
  'is missing': [`${field} is missing`, reasonOf('23502', { field }), refused(1048), refused(1364)],
  'is there already': [reasonOf('23505', { constraint: 'orders_pkey' }), refused(1062), refused(1586)],
}

const keyOf = (reason: string): string =>
  keyOfFault(
    faultOf({ field, reason, record: { Total: '31.02.1989', Other: 'soon', Last: 'k.A.' }, structural: false }),
  )

describe('reasons of rejected rows', () => {
  for (const [fault, reasons] of Object.entries(faults)) {
    test(`of a value that ${fault} are one fault`, () => {
      const byKey = Map.groupBy(reasons, keyOf)
      assert.equal(byKey.size, 1, JSON.stringify([...byKey], undefined, 1))
    })
  }

  test('of different faults stay apart', () => {
    const apart = [
      'is no date',
      'is too large',
      'has too many decimal places',
      'is too long',
      'is missing',
      'is there already',
    ]
    const keys = apart.map((name) => keyOf(faults[name]?.[0] ?? ''))
    assert.equal(new Set(keys).size, apart.length, keys.join(', '))
    assert.notEqual(
      keyOf('A value has a time of day, which a date does not keep.'),
      keyOf('A value is not a valid date.'),
    )
    assert.notEqual(keyOf('The row violates the check not_a_number of the table.'), keyOf('A value is not a number.'))
  })

  test('of all connectors are the same for every column, and with and without advice', () => {
    const files = globSync('{connectors,engine,connector,expressions}/src/**/*.ts', { cwd: sources })
    const found = files
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => {
        const text = readFileSync(join(sources, file), 'utf8')
        const literals = text.matchAll(
          /(['"`])((?:A (?:value|number|text|time)|The value) (?:for|is|has|must)\b(?:(?!\1).)*)\1/g,
        )
        return [...literals].map(([, , reason = '']) => reason)
      })
    assert(found.length > 80, `${found.length} reasons`)
    const ofName = '$' + '{name}'
    const isOfColumn = /\$\{(?:name|field|column|columns\[at\][^}]*)\}|@/g
    const split = found.filter((reason) => {
      const inColumn = (name: string) =>
        keyOfFault(
          faultOf({
            field: name,
            reason: reason.replace(isOfColumn, (place) => (place === ofName ? name : `the column ${name}`)),
            record: {},
            structural: false,
          }),
        )
      const key = inColumn(field)
      return key !== inColumn('born').replaceAll('born', field) || /Expected|; write|: write/.test(key)
    })
    assert.deepEqual(split, [])
  })
})
