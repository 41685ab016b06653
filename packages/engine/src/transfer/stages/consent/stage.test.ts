import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell, Connector, Values } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import { loadConnector } from '@penstock/connectors/load'
import { consentUses } from '@penstock/wire/rules'
import type { ConsentPurpose } from '../../../consent-purpose.ts'
import { planRows } from '../../../map-rows.ts'
import { passStages, previewState } from '../../../preview-stages.ts'
import { skipCode } from '../../../skipped.ts'

const of = (slug: string): Connector => {
  const connector = connectors.find((one) => one.slug === slug)
  assert(connector, slug)
  return connector
}
const byValues = (name: string, column: string, uses: ConsentPurpose['uses'] = []): ConsentPurpose => ({
  name,
  signals: [{ kind: 'values', column, values: ['yes'] }],
  uses,
})
const purposes = [byValues('advertising', 'ads'), byValues('sale', 'sale', ['sale'])]

/** Passes rows as a preview does. */
async function pass(
  connector: Connector,
  settings: Values,
  source: { columns: readonly string[]; rows: Cell[][] },
  given: readonly ConsentPurpose[] | null = purposes,
) {
  const { columns, rows } = source
  const destination = { slug: connector.slug, secrets: {}, settings }
  const from = { slug: 'postgresql', secrets: {}, settings: {} }
  const bounds = { noAnswerMs: 1_000, inspectionMs: 1_000, deadlineMs: 1_000 }
  const job = {
    kind: 'preview',
    source: from,
    destination,
    unmapped: false,
    showing: 'masked',
    ...bounds,
  } as const
  const { mapping, fieldErrors } = await planRows(connector, columns, { settings, secrets: {}, purposes: given })
  assert(mapping, JSON.stringify(fieldErrors))
  const runtime = { loadConnector } as never
  const chunk = { columns, rows, bytes: 1, checkpoint: 1 }
  const state = previewState({ ...job, purposes: given }, settings)
  const { mapped, findings } = await passStages(state, runtime, AbortSignal.timeout(10_000), chunk, mapping)
  return {
    mapping,
    rows: mapped.rows,
    errors: [...mapped.errors.values()],
    skipped: [...(mapped.skipped ?? [])],
    findings: findings.map(({ message }) => message),
  }
}

describe('the consent that a connection requires', () => {
  const postgresql = of('postgresql')
  const table = { table: 'people', writeMode: 'Insert' }
  const source = {
    columns: ['id', 'ads', 'sale'],
    rows: [
      ['1', 'yes', 'yes'],
      ['2', 'no', 'yes'],
      ['3', 'yes', null],
    ],
  }
  const left = skipCode('noConsent')

  test('keeps the rows without it from the destination', async () => {
    assert.deepEqual((await pass(postgresql, { ...table, purposes: 'advertising' }, source)).skipped, [0, left, 0])
    assert.deepEqual((await pass(postgresql, { ...table, purposes: 'advertising, sale' }, source)).skipped, [
      0,
      left,
      left,
    ])
    for (const text of ['none', 'NONE']) {
      const { skipped, findings } = await pass(postgresql, { ...table, purposes: text }, source)
      assert.deepEqual([skipped, findings], [[], []])
    }
    const { skipped, findings } = await pass(postgresql, table, source, null)
    assert.deepEqual([skipped, findings], [[], []], 'the sub-account has no purposes')
  })

  test('must be stated, must exist, and must be in the source', async () => {
    const cases: [string | undefined, readonly ConsentPurpose[] | null, RegExp][] = [
      [undefined, purposes, /State in the setting “Required consent”.*advertising, sale.*or none/],
      ['ads', purposes, /names the purpose “ads”, which does not exist. The sub-account has advertising, sale/],
      ['ads', null, /The sub-account has no purposes/],
      [
        'gone',
        [byValues('gone', 'opt_in')],
        /no column that says whether a person agreed to the purpose “gone”: opt_in/,
      ],
    ]
    for (const [text, given, message] of cases) {
      const settings = { ...table, ...(text !== undefined && { purposes: text }) }
      assert.match((await pass(postgresql, settings, source, given)).findings.join('\n'), message)
    }
  })
})

describe('the consent field', () => {
  const fields = connectors.flatMap((connector) =>
    Object.entries(connector.destination?.records ?? {}).flatMap(([field, { consent }]) =>
      consent ? [{ connector, field, consent }] : [],
    ),
  )
  test('of all uses is known of some platforms', () => {
    assert.deepEqual([...new Set(fields.map(({ consent: { use } }) => use))].sort(), [...consentUses].sort())
  })

  for (const { connector, field, consent } of fields) {
    test(`${field} of ${connector.name} is filled, unless the mapping fills it`, async () => {
      const records = connector.destination?.records ?? {}
      // Every field has a column, except the one that is filled.
      const names = Object.keys(records).filter((name) => !records[name]?.consent)
      const value = (name: string, n: number): Cell => {
        const { values: [first] = [], normalise, reads } = records[name] ?? {}
        if (normalise === 'country') return 'US'
        return first ?? (reads ? 1_700_000_000 + n : `a${n}@example.com`)
      }
      const source = {
        columns: [...names, 'agreed'],
        rows: [
          [...names.map((name) => value(name, 1)), 'yes'],
          [...names.map((name) => value(name, 2)), 'no'],
        ],
      }
      const all = { purposes: 'none', mapping: JSON.stringify(Object.fromEntries(names.map((name) => [name, name]))) }
      const given = [byValues('all', 'agreed', [consent.use])]
      const { mapping, rows, findings, errors } = await pass(connector, all, source, given)
      assert.deepEqual(errors, [])
      const at = mapping.columns.indexOf(field)
      assert.deepEqual([mapping.consentFields.includes(field), findings], [true, []])
      assert(at >= 0)
      const { granted = null, denied = null } = consent
      const filled = rows.map((row) => row[at])
      assert.deepEqual(filled, [granted, denied])
      const own = {
        ...all,
        mapping: JSON.stringify({ ...JSON.parse(all.mapping), [field]: { value: granted ?? denied } }),
      }
      const mapped = await pass(connector, own, source, given)
      assert.equal(mapped.mapping.consentFields.includes(field), false)
    })
  }
})
