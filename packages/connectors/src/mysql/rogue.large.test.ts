import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, mock, test } from 'node:test'
import { ConnectorError, type Row } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import {
  type RogueMysql,
  type RogueMysqlScript,
  rogueDestinationSettings,
  rogueMysqlScripts,
  rogueSourceSettings,
  startRogueMysql,
} from '../../test/rogue-mysql.ts'
import { confirmation, frame } from '../../test/rogue-mysql-conversation.ts'
import { rogueMysqlMutation } from '../../test/rogue-mysql-mutation.ts'
import { type RogueWorks, rogueTests } from '../../test/rogue-works.ts'
import { batchOf, deliver, readAll, rowsOf } from '../../test/tables.ts'
import { bounds } from './bounds.ts'
import { mysql } from './mysql.ts'

const columns = ['id', 'name']
const rows: Row[] = [
  [1, 'a'],
  [2, 'b'],
]

/** The operations on a server. Each throws its error; a check throws the message of the failed step. */
const works: RogueWorks<RogueMysql> = {
  async check({ secrets }) {
    const steps = (await mysql.check?.(testContext({ secrets, settings: rogueDestinationSettings }))) ?? []
    const failed = steps.find(({ ok }) => !ok)
    if (failed) throw new ConnectorError('unexpected_response', failed.message)
  },
  async read({ secrets }) {
    const found = rowsOf(await readAll(mysql, { secrets, settings: rogueSourceSettings }))
    assert.ok(found.every((row) => row.length === 2))
  },
  write: ({ secrets }) => deliver(mysql, { secrets, settings: rogueDestinationSettings }, batchOf(columns, rows)),
}

const { withRogue, comesTo, testScripts, testMutations, testSilence } = rogueTests({
  connector: mysql,
  start: startRogueMysql,
  works,
})

describe('mysql against servers that break the protocol', () => {
  // The driver prints what it does not understand, once for each packet.
  const printed = [mock.method(console, 'error', () => {}), mock.method(console, 'trace', () => {})]

  test('an honest server of this kind is checked, read and written', async () => {
    const honest = { name: 'honest', act: () => undefined }
    await withRogue(honest, async (rogue) => {
      for (const work of Object.values(works)) await work(rogue)
      assert.deepEqual(rowsOf(await readAll(mysql, { secrets: rogue.secrets, settings: rogueSourceSettings })), [
        ['1', 'a'],
        ['2', 'b'],
      ])
    })
  })

  const isSilent = ({ silent = false }: RogueMysqlScript) => silent
  testScripts(
    rogueMysqlScripts.filter((script) => !isSilent(script)),
    180_000,
  )
  testSilence(rogueMysqlScripts.filter(isSilent), 2_000_000, 180_000)
  testMutations('a hundred conversations with one changed packet each', 100, rogueMysqlMutation, 100)

  test('no file of this machine is sent, whatever the server asks for', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'penstock-rogue-'))
    const path = join(directory, 'file')
    await writeFile(path, 'canary-in-a-file')
    const asks: RogueMysqlScript = {
      name: 'asks for that file',
      act: ({ stage, sequence, sql }) =>
        stage === 'file' || (stage === 'confirmation' && !sql.startsWith('load'))
          ? { bytes: frame(Buffer.concat([Buffer.from([0xfb]), Buffer.from(path)]), sequence), continues: true }
          : undefined,
    }
    const asksInstead: RogueMysqlScript = {
      ...asks,
      act: (packet) => (packet.stage === 'file' ? asks.act(packet) : undefined),
    }
    try {
      for (const script of [asks, asksInstead]) {
        await withRogue(script, async (rogue) => {
          for (const work of Object.values(works)) await comesTo(work(rogue), rogue)
          assert.ok(rogue.struck)
          assert.equal(rogue.received.includes('canary-in-a-file'), false)
        })
      }
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  test('rows that the server does not count are not accepted', async () => {
    const drops: RogueMysqlScript = {
      name: 'drops rows',
      act: ({ stage, sequence, sql }) =>
        stage === 'confirmation' && /^(load data|insert into `things`)/.test(sql)
          ? { bytes: frame(confirmation(0), sequence), continues: true }
          : undefined,
    }
    await withRogue(drops, async ({ secrets }) => {
      const { rejected } = await deliver(mysql, { secrets, settings: rogueDestinationSettings }, batchOf(columns, rows))
      assert.deepEqual(
        rejected?.map(({ index, reason }) => [index, /did not write the row/.test(reason)]),
        [
          [0, true],
          [1, true],
        ],
      )
    })
  })

  test('a row with bytes that are not text is named as broken, and the others are read', async () => {
    const spoils: RogueMysqlScript = {
      name: 'spoils a name',
      act: ({ stage, sequence, payload, sql }) =>
        stage === 'row' && sql.includes('order by') && payload[1] === 0x31
          ? { bytes: frame(Buffer.from([1, 0x31, 2, 0xc3, 0x28]), sequence), continues: true }
          : undefined,
    }
    await withRogue(spoils, async ({ secrets }) => {
      const [chunk] = await readAll(mysql, { secrets, settings: rogueSourceSettings })
      assert.deepEqual(chunk?.rows, [
        ['1', null],
        ['2', 'b'],
      ])
      assert.match(chunk?.errors?.get(0) ?? '', /column name contains bytes that are not text/)
      assert.equal(chunk?.errors?.size, 1)
    })
  })

  test('a connection that is closed ignores what comes late', async () => {
    const late: RogueMysqlScript = {
      name: 'keeps talking',
      act: ({ stage, sequence, payload, sql }) =>
        stage === 'rows-end' && sql.includes('order by')
          ? { bytes: Buffer.concat([frame(payload, sequence), frame(confirmation(1), 9)]), continues: true }
          : undefined,
    }
    await withRogue(late, async (rogue) => {
      for (let round = 0; round < 5; round += 1) {
        const connectorError = await comesTo(works.read?.(rogue) ?? Promise.resolve(), rogue)
        assert.ok(connectorError === undefined || connectorError.code === 'unexpected_response')
      }
    })
  })

  test('the driver printed nothing of all this, and the bounds are those of the documents', () => {
    for (const { mock: calls } of printed) assert.equal(calls.callCount(), 0)
    assert.deepEqual([bounds.rowBytes, bounds.columns], [64 * 1024 * 1024, 2_000])
    mock.restoreAll()
  })
})
