import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { ConnectorError, type Row } from '@penstock/connector'
import { assertNoSecret, testContext } from '@penstock/connector/acceptance'
import {
  type RogueSftp,
  type RogueSftpScript,
  rogueDestinationSettings,
  rogueFingerprint,
  rogueSourceSettings,
  startRogueSftp,
} from '../../test/rogue-sftp.ts'
import { rogueSftpMutation, rogueSftpScripts } from '../../test/rogue-sftp-scripts.ts'
import { readAll, rowsOf } from '../../test/tables.ts'
import { sftpDestination } from './sftp-destination.ts'
import { sftpSource } from './sftp-source.ts'

const columns = ['id', 'name']
const rows: Row[] = [
  ['1', 'a'],
  ['2', 'b'],
]
const messageBytesMax = 2_000

/** The operations on a server. Each throws its error; a check throws the message of the failed step. */
const works: Readonly<Record<string, (rogue: RogueSftp) => Promise<unknown>>> = {
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

async function withRogue(script: RogueSftpScript, work: (rogue: RogueSftp) => Promise<void>): Promise<void> {
  const rogue = await startRogueSftp(script)
  try {
    await work(rogue)
  } finally {
    await rogue.close()
  }
}

/** The connector error of an operation, if it fails. An error of another kind or with a secret in it fails the test. */
async function comesTo(work: Promise<unknown>, { secrets }: RogueSftp): Promise<ConnectorError | undefined> {
  const [result] = await Promise.allSettled([work])
  if (result?.status !== 'rejected') return undefined
  const { reason } = result
  if (!(reason instanceof ConnectorError))
    throw new Error('It ended with something else than a connector error', { cause: reason })
  assert.ok(reason.message.length <= messageBytesMax, 'a message is short')
  assert.doesNotMatch(reason.message, /canary/)
  assertNoSecret(reason, { connector: sftpSource, secrets })
  return reason
}

// These wait for the servers, most of their time.
describe('SFTP against servers that break a protocol', { concurrency: 8 }, () => {
  test('an honest server of this kind is checked, read and written', async () => {
    await withRogue({ name: 'honest' }, async (rogue) => {
      for (const work of Object.values(works)) await work(rogue)
      assert.deepEqual(await works.read?.(rogue), rows)
    })
  })

  for (const script of rogueSftpScripts.filter((each) => !each.silent)) {
    test(script.name, { timeout: 60_000 }, async () => {
      await withRogue(script, async (rogue) => {
        for (const [name, work] of Object.entries(works)) {
          rogue.struck = false
          const connectorError = await comesTo(work(rogue), rogue)
          if (script.code === undefined) continue
          assert.equal(connectorError !== undefined, rogue.struck, `${name} fails where the server breaks the protocol`)
          if (connectorError && name !== 'check')
            assert.equal(connectorError.code, script.code, `${name}: ${connectorError.message}`)
        }
      })
    })
  }

  test('thirty conversations with one change each', { timeout: 120_000 }, async () => {
    let errors = 0
    for (let seed = 1; seed <= 30; seed += 1) {
      const script = rogueSftpMutation(seed)
      await withRogue(script, async (rogue) => {
        for (const [name, work] of Object.entries(works)) {
          const connectorError = await comesTo(work(rogue), rogue).catch((error: unknown) => {
            throw new Error(`${name}, ${script.name}`, { cause: error })
          })
          if (connectorError) errors += 1
        }
      })
    }
    assert.ok(errors > 15, 'most changes are noticed')
  })

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
    ...rogueSftpScripts.filter((each) => each.silent),
  ]
  for (const script of stalls) {
    test(`${script.name}, until a time limit ends it`, { timeout: 60_000 }, async () => {
      for (const [name, work] of Object.entries(works)) {
        await withRogue(script, async (rogue) => {
          mock.timers.enable({ apis: ['setTimeout'] })
          try {
            let over = false
            const ended = comesTo(work(rogue), rogue).finally(() => {
              over = true
            })
            while (!over) {
              if (script.raw) await new Promise(setImmediate)
              else await Promise.race([ended, rogue.hushed()])
              // Whichever limit counts here, it is over then.
              mock.timers.tick(700_000)
            }
            const connectorError = await ended
            assert.equal(connectorError !== undefined, rogue.struck || script.raw !== undefined)
            if (connectorError && name !== 'check') assert.equal(connectorError.code, script.code)
          } finally {
            mock.timers.reset()
          }
        })
      }
    })
  }
})
