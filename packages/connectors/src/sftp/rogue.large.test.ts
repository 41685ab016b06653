import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConnectorError, type Row } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import {
  type RogueSftp,
  type RogueSftpScript,
  rogueDestinationSettings,
  rogueFingerprint,
  rogueSourceSettings,
  startRogueSftp,
} from '../../test/rogue-sftp.ts'
import { rogueSftpMutation, rogueSftpScripts } from '../../test/rogue-sftp-scripts.ts'
import { type RogueWorks, rogueTests } from '../../test/rogue-works.ts'
import { readAll, rowsOf } from '../../test/tables.ts'
import { sftpDestination } from './sftp-destination.ts'
import { sftpSource } from './sftp-source.ts'

const columns = ['id', 'name']
const rows: Row[] = [
  ['1', 'a'],
  ['2', 'b'],
]

/** The operations on a server. Each throws its error; a check throws the message of the failed step. */
const works: RogueWorks<RogueSftp> = {
  async check({ secrets }) {
    const failed = (await sftpSource.check?.(testContext({ secrets })))?.find(({ ok }) => !ok)
    if (failed) throw new ConnectorError('unexpected_response', failed.message)
  },
  read: async ({ secrets }) => rowsOf(await readAll(sftpSource, { secrets, settings: rogueSourceSettings })),
  async write({ secrets }) {
    const context = testContext({ secrets, columns, settings: rogueDestinationSettings })
    const writer = await sftpDestination.destination?.deliver?.open(context)
    try {
      await writer?.deliver({ key: 'k', columns, rows, firstRow: 1 })
      await writer?.flush?.()
      await writer?.finish?.()
    } finally {
      await writer?.close?.()
    }
  },
}

const { withRogue, comesTo, testScripts, testMutations, testSilence } = rogueTests({
  connector: sftpSource,
  start: startRogueSftp,
  works,
})
const isSilent = ({ silent = false }: RogueSftpScript) => silent

// These wait for the servers, most of their time.
describe('SFTP against servers that break a protocol', { concurrency: 8 }, () => {
  test('an honest server of this kind is checked, read and written', async () => {
    await withRogue({ name: 'honest' }, async (rogue) => {
      for (const work of Object.values(works)) await work(rogue)
      assert.deepEqual(await works.read?.(rogue), rows)
    })
  })

  testScripts(
    rogueSftpScripts.filter((script) => !isSilent(script)),
    60_000,
  )
  testMutations('thirty conversations with one change each', 30, rogueSftpMutation, 15)

  test('a password is not given again and again, and one that has expired is said to be', async () => {
    const asks: RogueSftpScript = {
      name: 'asks without end',
      signIn(context) {
        if (context.method !== 'keyboard-interactive') context.reject(['keyboard-interactive'])
        else {
          const ask = () => context.prompt([{ prompt: 'Again: ', echo: false }], ask)
          ask()
        }
        return true
      },
    }
    const expired: RogueSftpScript = {
      name: 'wants a new password',
      signIn(context) {
        if (context.method === 'password') context.requestChange?.('canary', () => {})
        else context.reject(['password'])
        return true
      },
    }
    for (const [script, code] of [
      [asks, 'wrong_protocol'],
      [expired, 'expired_credentials'],
    ] as const) {
      await withRogue(script, async (rogue) => {
        const { sshPrivateKey: _, ...rest } = rogue.secrets
        const secrets = { ...rest, authentication: 'password', password: 'canary-password' }
        const read = readAll(sftpSource, { secrets, settings: rogueSourceSettings })
        assert.equal((await comesTo(read, { ...rogue, secrets }))?.code, code)
      })
    }
  })

  test('the fingerprint of these servers is the one that is set', async () => {
    await withRogue({ name: 'honest' }, async ({ secrets }) => {
      const [step] = (await sftpSource.check?.(testContext({ secrets }))) ?? []
      assert.ok(step?.message.includes(rogueFingerprint.replace(/=+$/, '')))
    })
  })
})

// The clock is shared, so one at a time.
describe('SFTP against servers that fall silent', () => {
  const silentBefore = (name: string, first: string): RogueSftpScript => ({
    name,
    code: 'timeout',
    silent: true,
    raw: (socket) => void socket.write(first),
  })
  const stalls = [
    silentBefore('never identifies itself', ''),
    silentBefore('never offers anything', 'SSH-2.0-rogue\r\n'),
    ...rogueSftpScripts.filter(isSilent),
  ]
  testSilence(stalls, 700_000, 60_000, ({ raw }) => raw !== undefined)
})
