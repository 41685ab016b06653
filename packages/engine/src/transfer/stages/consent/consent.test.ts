import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GppModel } from '@iabgpp/cmpapi'
import { type Cell, ConnectorError } from '@penstock/connector'
import { type ConsentOptOut, consentOptOuts } from '@penstock/wire/rules'
import type { ConsentPurpose } from '../../../consent-purpose.ts'
import { skipCode } from '../../../skipped.ts'
import { readConsent, skipWithoutConsent } from './consent.ts'

type Signal = ConsentPurpose['signals'][number]

const purpose = (...signals: Signal[]): ConsentPurpose => ({ name: 'advertising', signals, uses: [] })

/** Whether a row with these values in the columns a, b, … agrees. */
async function says(signals: readonly Signal[], ...row: Cell[]): Promise<boolean | undefined> {
  const columns = row.map((_, at) => String.fromCharCode(97 + at))
  return (await readConsent([purpose(...signals)], columns)).get('advertising')?.(row)
}

/** A TCF string by the encoder of the other library. */
function tcf(purposes: number[], vendors: number[] = []): string {
  const model = new GppModel()
  const agreed = Array.from({ length: 24 }, (_, at) => purposes.includes(at + 1))
  const values = { CmpId: 10, CmpVersion: 1, VendorListVersion: 20, PurposeConsents: agreed, VendorConsents: vendors }
  for (const [field, value] of Object.entries(values)) model.setFieldValue('tcfeuv2', field, value)
  return model.encodeSection('tcfeuv2')
}

const bitsOf = (numbers: readonly (readonly [value: number, length: number])[]): string =>
  numbers.map(([value, length]) => value.toString(2).padStart(length, '0')).join('')

/** Bits as Base64URL, filled up to whole bytes. */
const textOf = (bits: string): string =>
  Buffer.from(
    (bits.padEnd(Math.ceil(bits.length / 8) * 8, '0').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)),
  ).toString('base64url')

function gpp(sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string {
  const model = new GppModel()
  for (const [section, values] of Object.entries(sections)) {
    for (const [field, value] of Object.entries(values)) model.setFieldValue(section, field, value)
  }
  return model.encode()
}

describe('the consent of a person', () => {
  test('is one of the given values, in any case', async () => {
    const signals: Signal[] = [{ kind: 'values', column: 'a', values: ['Yes', '1', 'true'] }]
    for (const value of ['yes', ' YES ', 1, '1', true]) assert.equal(await says(signals, value), true, String(value))
    for (const value of ['no', 0, false, null, '', ' ', 'yes please', '11']) {
      assert.equal(await says(signals, value), false, String(value))
    }
  })

  test('is in a TCF string: all purposes, and the vendor', async () => {
    const all: Signal[] = [{ kind: 'tcf', column: 'a', purposes: [1, 3, 4], vendor: 755 }]
    assert.equal(await says(all, tcf([1, 2, 3, 4], [10, 755])), true)
    assert.equal(await says(all, tcf([1, 3], [755])), false, 'a purpose is missing')
    assert.equal(await says(all, tcf([1, 3, 4], [754])), false, 'the vendor is missing')
    assert.equal(await says([{ kind: 'tcf', column: 'a', purposes: [7] }], tcf([7])), true)
  })

  test('is in the TCF section of a GPP string', async () => {
    const model = new GppModel()
    model.decodeSection('tcfeuv2', tcf([1, 3]))
    const signals: Signal[] = [{ kind: 'tcf', column: 'a', purposes: [1, 3] }]
    assert.equal(await says(signals, model.encode()), true)
    assert.equal(await says([{ kind: 'tcf', column: 'a', purposes: [1, 4] }], model.encode()), false)
    assert.equal(await says(signals, gpp({ usnat: { SaleOptOut: 2 } })), false, 'there is no section of the TCF')
  })

  test('is in a GPP string whose US sections have no opt-out', async () => {
    const signals = (optOuts?: ConsentOptOut[]): Signal[] => [{ kind: 'gpp', column: 'a', ...(optOuts && { optOuts }) }]
    const states =
      'usnat usca usva usco usut usct usfl usmt usor ustx usde usia usne usnh usnj ustn usmn usmd usin usky usri'
    for (const section of states.split(' ')) {
      assert.equal(await says(signals(), gpp({ [section]: { SaleOptOut: 2 } })), true, section)
      assert.equal(await says(signals(), gpp({ [section]: { SaleOptOut: 1 } })), false, section)
    }
    const targeted = gpp({ usnat: { SaleOptOut: 2, TargetedAdvertisingOptOut: 1 } })
    assert.equal(await says(signals(['sale', 'sharing']), targeted), true)
    assert.equal(await says(signals(['targetedAdvertising']), targeted), false)
    assert.equal(await says(signals([...consentOptOuts]), gpp({ usnat: { SharingOptOut: 1 } })), false)
    assert.equal(await says(signals(), gpp({ usnat: { SaleOptOut: 2 }, usca: { SaleOptOut: 1 } })), false)
    assert.equal(await says(signals(['sharing']), gpp({ usca: { Gpc: true } })), false, 'Global Privacy Control')
    assert.equal(await says(signals(), gpp({ uspv1: { Notice: 'Y', OptOutSale: 'N' } })), true)
    assert.equal(await says(signals(), gpp({ uspv1: { Notice: 'Y', OptOutSale: 'Y' } })), false)
    const model = new GppModel()
    model.decodeSection('tcfeuv2', tcf([1]))
    assert.equal(await says(signals(), model.encode()), false, 'no section says anything of the US')
  })

  test('is in a US Privacy string', async () => {
    const signals: Signal[] = [{ kind: 'usPrivacy', column: 'a' }]
    for (const text of ['1YNN', '1---', '1NNY', '1ynn']) assert.equal(await says(signals, text), true, text)
    for (const text of ['1YYN', '1NYY', '2YNN', '1YN', '1YNNN', 'YNN', 'x']) {
      assert.equal(await says(signals, text), false, text)
    }
  })

  test('needs one column that says yes, and none that says no', async () => {
    const signals: Signal[] = [
      { kind: 'values', column: 'a', values: ['yes'] },
      { kind: 'usPrivacy', column: 'b' },
    ]
    assert.equal(await says(signals, 'yes', '1YNN'), true)
    assert.equal(await says(signals, 'yes', null), true)
    assert.equal(await says(signals, '', '1YNN'), true)
    assert.equal(await says(signals, 'yes', '1YYN'), false)
    assert.equal(await says(signals, null, ''), false)
    assert.equal(await says(signals, 'yes'), true, 'this source has no other column')
  })

  test('is missing in text that cannot be read', async () => {
    const hostile = [
      'C',
      'D',
      'DBA',
      'DB~',
      'DBAA~~~',
      'CPXx!!',
      '💥',
      'C'.repeat(9_000),
      `DBABMA~${'A'.repeat(5_000)}`,
      'DBACNYA~1YNN',
    ]
    for (const kind of ['tcf', 'gpp', 'usPrivacy'] as const) {
      const signals: Signal[] = [{ kind, column: 'a', ...(kind === 'tcf' && { purposes: [1] }) }]
      for (const text of [...hostile, ...hostile.map((one) => `${one}.`)])
        assert.equal(await says(signals, text), false)
    }
  })

  test('is read quickly from strings that name billions of vendors and sections', async () => {
    const vendors = bitsOf([
      [2, 6],
      [0, 146],
      [0xffffff, 24],
      [0, 24],
      [0, 13],
      [65_535, 16],
      [1, 1],
      [1_400, 12],
    ])
    const ranges = Array.from({ length: 1_400 }, () =>
      bitsOf([
        [1, 1],
        [1, 16],
        [65_535, 16],
      ]),
    ).join('')
    const tcfRanges = textOf(vendors + ranges)
    const read = (text: string, vendor: number) => says([{ kind: 'tcf', column: 'a', purposes: [1], vendor }], text)
    assert.equal(await read(tcfRanges, 65_535), true)
    assert.equal(
      await read(
        textOf(
          bitsOf([
            [2, 6],
            [0, 146],
            [0xffffff, 24],
            [0, 24],
            [0, 13],
            [9, 16],
            [1, 1],
            [2, 12],
            [1, 1],
            [3, 16],
            [5, 16],
            [0, 1],
            [8, 16],
          ]),
        ),
        8,
      ),
      true,
    )
    assert.equal(
      await read(
        textOf(
          bitsOf([
            [2, 6],
            [0, 146],
            [0xffffff, 24],
            [0, 24],
            [0, 13],
            [9, 16],
            [1, 1],
            [2, 12],
            [1, 1],
            [3, 16],
            [5, 16],
            [0, 1],
            [8, 16],
          ]),
        ),
        6,
      ),
      false,
    )
    // A range of sections in Fibonacci coding. Its end is a number with 60 digits in that coding.
    const header = textOf(
      `${bitsOf([
        [3, 6],
        [1, 6],
        [1, 12],
        [1, 1],
      ])}11${'0'.repeat(59)}11`,
    )
    assert.equal(await says([{ kind: 'gpp', column: 'a' }], `${header}~1YNN`), false)
  })

  test('cannot be read if the source has none of the columns', async () => {
    await assert.rejects(
      readConsent([purpose({ kind: 'values', column: 'opt_in', values: ['yes'] })], ['id']),
      (error) => error instanceof ConnectorError && error.code === 'invalid_setting' && /opt_in/.test(error.message),
    )
  })
})

test('rows without consent are skipped, but not those that remove a person, are rejected, or are skipped already', async () => {
  const rows: Cell[][] = [
    ['a', 'yes', 'add'],
    ['b', 'no', 'add'],
    ['c', 'no', 'remove'],
    ['d', 'no', 'add'],
    ['e', 'no', 'add'],
    ['f', 'no', 'add'],
    ['g', 'no', 'add'],
  ]
  const mapped = {
    rows,
    errors: new Map([[3, { reason: 'it is invalid' }]]),
    skipped: new Uint8Array([0, 0, 0, 0, 1, 0, 0]),
  }
  const source = { rows, errors: new Map([[5, 'broken']]), removed: new Set([6]) }
  const { skipped } = await skipWithoutConsent(
    [([, flag]) => flag === 'yes'],
    mapped,
    source,
    ([, , a]) => a === 'remove',
  )
  assert.deepEqual([...(skipped ?? [])], [0, skipCode('noConsent'), 0, 0, 1, 0, 0])
  assert.deepEqual([...mapped.skipped], [0, 0, 0, 0, 1, 0, 0], 'the given codes stay')
})
