import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { type Connector, ConnectorError, type Values } from '@penstock/connector'
import { assertNoSecret } from '@penstock/connector/acceptance'

/** A server that breaks its protocol as a script says. */
export type RogueServer = {
  readonly secrets: Values
  /** Whether it has broken the protocol. */
  struck: boolean
  /** Resolves once it falls silent. */
  hushed(): Promise<unknown>
  close(): Promise<unknown>
}

/** A way to break a protocol, and the code of the error, if it is always the same. */
export type RogueScriptFacts = { readonly name: string; readonly code?: string | undefined }

/** Works on a server. Each throws its error; a check throws the message of the failed step. */
export type RogueWorks<Rogue> = Readonly<Record<string, (rogue: Rogue) => Promise<unknown>>>

export type RogueTests<Rogue, Script> = {
  withRogue(script: Script, work: (rogue: Rogue) => Promise<void>): Promise<void>
  /** The connector error of a work, if it fails. An error of another kind, or with a secret in it, fails the test. */
  comesTo(work: Promise<unknown>, rogue: Pick<RogueServer, 'secrets'>): Promise<ConnectorError | undefined>
  /** Registers a test of each script. */
  testScripts(scripts: readonly Script[], timeoutMs: number): void
  /** Registers a test of scripts that a seed makes, of which so many must be noticed at least. */
  testMutations(title: string, count: number, mutation: (seed: number) => Script, noticedMin: number): void
  /**
   * Registers a test of each script of a server that falls silent, in which a time limit ends every work.
   * @param isSilent whether the server of a script is silent without having broken the protocol
   * @param stepMs time that passes in one step, longer than every limit
   */
  testSilence(
    scripts: readonly Script[],
    stepMs: number,
    timeoutMs: number,
    isSilent?: (script: Script) => boolean,
  ): void
}

const messageBytesMax = 2_000

/** The tests of a connector against servers that break a protocol. */
export function rogueTests<Rogue extends RogueServer, Script extends RogueScriptFacts>({
  connector,
  start,
  works,
}: {
  readonly connector: Connector
  readonly start: (script: Script) => Promise<Rogue>
  readonly works: RogueWorks<Rogue>
}): RogueTests<Rogue, Script> {
  async function withRogue(script: Script, work: (rogue: Rogue) => Promise<void>): Promise<void> {
    const rogue = await start(script)
    try {
      await work(rogue)
    } finally {
      await rogue.close()
    }
  }

  async function comesTo(work: Promise<unknown>, { secrets }: Pick<RogueServer, 'secrets'>) {
    const [result] = await Promise.allSettled([work])
    if (result?.status !== 'rejected') return undefined
    const { reason } = result
    if (!(reason instanceof ConnectorError)) {
      throw new Error('It ended with something else than a connector error', { cause: reason })
    }
    assert.ok(reason.message.length <= messageBytesMax, 'a message is short')
    assert.doesNotMatch(reason.message, /canary/)
    assertNoSecret(reason, { connector, secrets })
    return reason
  }

  return {
    withRogue,
    comesTo,

    testScripts(scripts, timeoutMs) {
      for (const script of scripts) {
        test(script.name, { timeout: timeoutMs }, async () => {
          await withRogue(script, async (rogue) => {
            for (const [name, work] of Object.entries(works)) {
              rogue.struck = false
              const error = await comesTo(work(rogue), rogue)
              if (script.code === undefined) continue
              assert.equal(error !== undefined, rogue.struck, `${name} fails where the server breaks the protocol`)
              if (error && name !== 'check') assert.equal(error.code, script.code, `${name}: ${error.message}`)
            }
          })
        })
      }
    },

    testMutations(title, count, mutation, noticedMin) {
      test(title, { timeout: 120_000 }, async () => {
        let errors = 0
        for (let seed = 1; seed <= count; seed += 1) {
          const script = mutation(seed)
          await withRogue(script, async (rogue) => {
            for (const [name, work] of Object.entries(works)) {
              const error = await comesTo(work(rogue), rogue).catch((cause: unknown) => {
                throw new Error(`${name}, ${script.name}`, { cause })
              })
              if (error) errors += 1
            }
          })
        }
        assert.ok(errors > noticedMin, 'most changes are noticed')
      })
    },

    testSilence(scripts, stepMs, timeoutMs, isSilent = () => false) {
      for (const script of scripts) {
        test(`${script.name}, until a time limit ends it`, { timeout: timeoutMs }, async () => {
          for (const [name, work] of Object.entries(works)) {
            await withRogue(script, async (rogue) => {
              mock.timers.enable({ apis: ['setTimeout'] })
              try {
                let over = false
                const ended = comesTo(work(rogue), rogue).finally(() => {
                  over = true
                })
                while (!over) {
                  if (isSilent(script)) await new Promise(setImmediate)
                  else await Promise.race([ended, rogue.hushed()])
                  // Whichever limit counts here, it is over then.
                  mock.timers.tick(stepMs)
                }
                const error = await ended
                assert.equal(error !== undefined, rogue.struck || isSilent(script))
                if (error && name !== 'check') assert.equal(error.code, script.code)
              } finally {
                mock.timers.reset()
              }
            })
          }
        })
      }
    },
  }
}
