import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRejected } from '../../test/assert-rejected.ts'
import { csvOf, tableOf } from './csv.ts'
import { myDomainOrigin } from './hosts.ts'
import { haveContent, recordErrorOf, SentRecords } from './results.ts'
import { mergeRows, readRows, rulesOf } from './rows.ts'
import { limited, readQuery } from './soql.ts'

describe('the rules of Salesforce', () => {
  test('knows the hosts of a My Domain, and nothing that only looks like one', () => {
    for (const host of [
      'acme',
      'acme--test.sandbox',
      'acme-dev-ed.develop',
      'a.scratch',
      'x--y.demo',
      'abc.trailblaze',
    ]) {
      assert.equal(myDomainOrigin(` https://${host}.MY.salesforce.com/ `), `https://${host}.my.salesforce.com`)
    }
    for (const host of [
      'my.salesforce.com',
      'login.salesforce.com',
      'acme.lightning.force.com',
      'acme.my.salesforce.com.evil.example',
      'evil.example/acme.my.salesforce.com',
      'acme.my.salesforce.com@evil.example',
      'acme.my.salesforce.com:8443',
      'http://acme.my.salesforce.com',
      'a.b.my.salesforce.com',
      'x.sandbox.sandbox.my.salesforce.com',
      '-acme.my.salesforce.com',
      'acmé.my.salesforce.com',
      'acme.my.salesforce.com/services',
      `${'a'.repeat(64)}.my.salesforce.com`,
    ]) {
      assert.equal(myDomainOrigin(host), undefined, host)
    }
  })

  test('writes what it reads', () => {
    const rows = [
      ['a', 'b,"c"', 'two\nlines'],
      ['', ' space ', 'Zoë'],
      ['1', '', ''],
    ]
    assert.deepEqual(tableOf(csvOf(['x', 'y', 'z'], rows)), { columns: ['x', 'y', 'z'], rows })
    assert.equal(csvOf(['x', 'y'], [['a', '']]), 'x,y\na,\n')
    assert.deepEqual(tableOf(''), { columns: [], rows: [] })
    assert.throws(() => tableOf('"x","y"\n"a"\n'), { code: 'malformed_response' })
  })

  test('rejects rows without a key, and rows that would mean something else', () => {
    const columns = ['id', 'Name']
    const batch = {
      key: '',
      firstRow: 1,
      columns,
      rows: [
        ['003000000000001', 'a'],
        ['003000000000001AAA', '#N/A'],
        [null, 'b'],
        ['1', 'c'],
        ['003000000000002AAA', ''],
        [null, null],
        ['003000000000003AAA', 'x'.repeat(400_000)],
      ],
    }
    const { records, rejected } = readRows(rulesOf({ operation: 'Update', emptyCells: 'Clear' }), batch)
    assertRejected(rejected, [
      [1, 'Name'],
      [2, 'id'],
      [3, 'id'],
      [5, 'id'],
      [6, undefined],
    ])
    assert.deepEqual(
      records.map(({ cells }) => cells),
      [
        ['003000000000001', 'a'],
        ['003000000000002AAA', '#N/A'],
      ],
    )
    assert.throws(() => rulesOf({ operation: 'Upsert' }), { code: 'invalid_setting' })
  })

  test('finds records in results of any order, each once', () => {
    const records = mergeRows(
      [
        { index: 0, cells: ['a', '1'] },
        { index: 1, cells: ['b', ''] },
        { index: 2, cells: ['A', ''] },
      ],
      0,
      (key) => key.toLowerCase(),
    )
    assert.deepEqual(records, [
      { rows: [0, 2], cells: ['A', '1'] },
      { rows: [1], cells: ['b', ''] },
    ])
    const sent = new SentRecords(['Key', 'Value'], records, 0, (key) => key.toLowerCase())
    const table = {
      columns: ['sf__Id', 'VALUE', 'KEY'],
      rows: [
        ['1', '', 'B'],
        ['2', '', 'b'],
        ['3', '', 'c'],
      ],
    }
    assert.deepEqual(sent.take(table), [records[1], undefined, undefined])
    assert.deepEqual(sent.rest, [records[0]])
    const whole = {
      columns: ['key', 'value'],
      rows: [
        ['b', ''],
        ['A', '1 '],
      ],
    }
    assert.equal(haveContent([whole], ['Key', 'Value'], records), true)
    assert.equal(haveContent([whole, { ...whole, rows: [['c', '']] }], ['Key', 'Value'], records), false)
    assert.equal(haveContent([{ ...whole, rows: [['b', '']] }], ['Key', 'Value'], records), false)
  })

  test('says why a row failed without the words of Salesforce', () => {
    const said = 'STRING_TOO_LONG:Last Name: data value too large: jane@example.com (max length=80):LastName --'
    assert.deepEqual(recordErrorOf(said, ['Email', 'lastname']), {
      reason: 'Salesforce did not accept the row (STRING_TOO_LONG): a text is longer than the field.',
      field: 'lastname',
      locked: false,
    })
    assert.equal(recordErrorOf('UNABLE_TO_LOCK_ROW:unable:--', []).locked, true)
    for (const odd of ['', 'jane@example.com', 'constructor:x', '__proto__', 'A'.repeat(1_000_000)]) {
      assert.ok(!/jane|AAAA/.test(recordErrorOf(odd, ['Email']).reason))
    }
  })

  test('takes one SELECT and nothing else', () => {
    const { text, columns, object, changed } = readQuery(
      " select Id, Account.Name, toLabel(Status) state FROM Case c WHERE Name = 'DROP; {x}' OR Id IN (SELECT Id FROM A WHERE x LIMIT 5) with security_enforced ; ",
    )
    assert.deepEqual([columns, object], [['Id', 'Account.Name', 'state'], 'Case'])
    assert.ok(text.startsWith('select Id') && text.endsWith('security_enforced'))
    assert.equal(
      changed({ field: 'SystemModstamp', fromMs: 0 }).text,
      "SELECT Id, Account.Name, toLabel(Status) state FROM Case c WHERE SystemModstamp >= 1970-01-01T00:00:00.000Z AND (Name = 'DROP; {x}' OR Id IN (SELECT Id FROM A WHERE x LIMIT 5)) with security_enforced",
    )
    assert.throws(() => readQuery('SELECT Id FROM A LIMIT 1').changed({ field: 'x', fromMs: 0 }), {
      code: 'invalid_setting',
    })
    for (const text of [
      'x',
      'SELECT FROM Case',
      'SELECT Id',
      "SELECT 'a' FROM Case",
      'SELECT Id FROM Case; DELETE',
      'UPDATE Case',
    ]) {
      assert.throws(() => readQuery(text), { code: 'invalid_setting' }, text)
    }
    const query = (text: string) => limited({ text, columns: [] }, 5).text
    assert.equal(
      query("SELECT Id FROM Case WHERE Name = 'limit 3'"),
      "SELECT Id FROM Case WHERE Name = 'limit 3' LIMIT 5",
    )
    assert.equal(query('SELECT Id FROM Case LIMIT 3'), 'SELECT Id FROM Case LIMIT 3')
  })
})
