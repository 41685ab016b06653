import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { rowsOf } from '../platform-api/rows/batch-rows.ts'
import { membershipLines, namesOf } from './membership-lines.ts'

describe('files for Lotame', () => {
  const read = (cells: Record<string, Cell>) => {
    const [row] = rowsOf({ columns: Object.keys(cells), rows: [Object.values(cells)] })
    assert.ok(row)
    const found = membershipLines(row)
    return 'read' in found ? found.read.split('\n').map((line) => JSON.parse(line)) : found.field
  }

  test('have the names of the day', () => {
    assert.deepEqual(namesOf(Date.parse('2026-01-31T23:59:59Z')), {
      file: '20260131/segmentmembership.json.gz',
      checksum: '20260131/segmentmembership.json.gz.md5',
      done: '20260131/20260131.done',
    })
  })

  test('have a line for each identifier, with segments, sightings and consent', () => {
    const ips = '[{"ip":"192.0.2.7","timestamps":["1533149952",1533150020]}]'
    const sighting = [{ ip: '192.0.2.7', timestamps: ['1533149952', '1533150020'] }]
    assert.equal(read({ userId: 'u1', idType: 'x', consent: true }), 'idType')
    assert.deepEqual(
      read({ userId: 'u1', idType: 'rida', IDFA: 'I-1', audienceSegments: 'a, b,,a', consent: 'TRUE' }),
      [
        { userid: 'I-1', idtype: 'IDFA', segments: [{ name: 'a' }, { name: 'b' }], consent: true },
        { userid: 'u1', idtype: 'RIDA', segments: [{ name: 'a' }, { name: 'b' }], consent: true },
      ],
    )
    assert.deepEqual(
      read({ GAID: 'g', audienceSegments: '["a,b",{"name":"c","timestamp":1533149952}]', ips, tcfConsent: 'CP' }),
      [
        {
          userid: 'g',
          idtype: 'GAID',
          segments: [{ name: 'a,b' }, { name: 'c', timestamp: 1533149952 }],
          ips: sighting,
          tcfconsent: 'CP',
        },
      ],
    )
    assert.deepEqual(read({ PANO: 'p', ips, consent: 'yes' }), [
      { userid: 'p', idtype: 'PANO', ips: sighting, consent: true },
    ])
  })

  test('have no row that Lotame would skip', () => {
    const good = { PANO: 'p', audienceSegments: 'a', consent: 'true' }
    for (const [change, field] of [
      [{ PANO: null }, 'userId'],
      [{ PANO: 'two words' }, 'PANO'],
      [{ userId: 'u1' }, 'idType'],
      [{ userId: 'u\u00001', idType: 'UUID' }, 'userId'],
      [{ audienceSegments: null }, 'audienceSegments'],
      [{ audienceSegments: '[1' }, 'audienceSegments'],
      [{ audienceSegments: '[{"id":1}]' }, 'audienceSegments'],
      [{ ips: '192.0.2.7' }, 'ips'],
      [{ ips: '[{"ip":"192.0.2.7","timestamps":[]}]' }, 'ips'],
      [{ ips: '[{"ip":"::1","timestamps":["1533149952"]}]' }, 'ips'],
      [{ consent: 'false' }, 'consent'],
      [{ consent: null }, 'consent'],
    ] as const) {
      assert.equal(read({ ...good, ...change }), field, JSON.stringify(change))
    }
  })
})
