import { acceptDestination, acceptSource } from '../src/acceptance/index.ts'
import type { Batch, Chunk, Json, Row } from '../src/index.ts'
import { ConnectorError, defineConnector, definePlatform, secret } from '../src/index.ts'

/**
 * Runs the acceptance suite with a connector to a list in memory. The environment names its defect. It is a separate test file
 * that the tests of the suite run.
 */
const defect = process.env.DEFECT ?? ''
const has = (name: string) => defect === name

const columns = ['id', 'name']
const rows: Row[] = Array.from({ length: 20 }, (_, index) => [`${index}`, `name of ${index}`])
const kept = new Map<string, Row[]>()
let busy = false

const assertSignedIn = (token: unknown) => {
  if (token === 'canary-token') return
  if (has('throws what is no connector error')) throw new Error('bad token')
  const cause = has('leaks a secret in a cause') ? { config: { headers: { token } } } : undefined
  const leaked = has('leaks a secret in a message') ? ` ${token}` : ''
  const code = has('takes bad credentials for a transient error') ? 'platform_error' : 'invalid_credentials'
  throw new ConnectorError(code, `The token${leaked} is wrong.`, { cause })
}

const connector = defineConnector({
  slug: 'list',
  name: 'List',
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'A list.',
  platform: definePlatform({ slug: 'list', name: 'List', type: 'Data Provider' }),
  secrets: { token: secret({ label: 'Token', description: 'A token' }) },
  source: {
    open: async ({ secrets, signal }) => ({
      async *read(after) {
        assertSignedIn(secrets.token)
        let at = Number(after ?? 0)
        if (has('resumes one row too late') && after !== undefined) at += 1
        for (; at < rows.length; at += 5) {
          signal.throwIfAborted()
          const names = has('changes its columns') && at > 5 ? ['id', 'other'] : columns
          yield { columns: names, rows: rows.slice(at, at + 5), bytes: 10, checkpoint: at + 5 } satisfies Chunk
        }
      },
      async close() {
        if (has('throws at closing')) throw new Error('closed already')
      },
    }),
  },
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 100, bytesMax: 1000 }),
      open: async ({ secrets }) => {
        assertSignedIn(secrets.token)
        const deliver = async ({ key, rows: sent }: Batch) => {
          if (busy && !has('says that it delivered what it did not')) {
            throw new ConnectorError('rate_limited', 'The list is busy.', {
              afterMs: has('forgets how long to wait') ? 0 : 7000,
            })
          }
          if (busy) return { bytes: 10 }
          const bad = sent.flatMap((row, index) => (row[1] === 'bad-value' ? [index] : []))
          const good = sent.filter((_, index) => !bad.includes(index))
          kept.set(has('keeps a batch twice') ? `${kept.size}` : key, has('loses a row') ? good.slice(1) : good)
          const reason = has('quotes a value in a reason') ? 'bad-value is bad' : 'The name is bad.'
          const shift = has('names the wrong row') ? 1 : 0
          const rejected = has('does not report rejected rows') ? [] : bad
          return {
            bytes: 10,
            deliveryState: key as Json,
            rejected: rejected.map((index) => ({ index: index + shift, reason })),
          }
        }
        return { deliver, flush: async () => undefined, async finish() {}, async abort() {}, async close() {} }
      },
    },
  },
  check: async ({ secrets }) => {
    const ok = has('lets anyone pass the check') || secrets.token === 'canary-token'
    return [{ name: 'authentication', ok, message: ok ? 'Signed in.' : 'The token is wrong.' }]
  },
})

const acceptance = {
  connector,
  testServer: 'a list in memory',
  settings: {},
  columns,
  rows,
  secrets: { token: 'canary-token' },
  wrongSecrets: { token: 'canary-wrong' },
}
acceptSource(acceptance)
acceptDestination({
  ...acceptance,
  badRows: [{ row: ['bad', 'bad-value'], reason: /is bad/ }],
  readBack: async () => [...kept.values()].flat(),
  reset: () => kept.clear(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    {
      name: 'is busy',
      action: 'retry',
      code: 'rate_limited',
      afterMs: 7000,
      start: () => {
        busy = true
      },
      stop: () => {
        busy = false
      },
    },
  ],
})
